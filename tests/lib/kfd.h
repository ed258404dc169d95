/* SPDX-License-Identifier: GPL-2.0 */
/* What several tests do with /dev/kfd: priorities, and children that have a queue. */
#ifndef TESTS_LIB_KFD_H
#define TESTS_LIB_KFD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/kfd_prio.h>

/**
 * kfd_set() - KFD_PRIO_IOC_SET
 * @pid: of the process
 * @prio: 0..15, or KFD_PRIO_UNSET
 * @out: the struct after the call; may be NULL
 *
 * Return: 0 or an errno
 */
int kfd_set(pid_t pid, int prio, struct kfd_prio_set_args *out);

/* May a process be parked from now on?  Its priority stays.  Return: 0 or an errno */
int kfd_may_park(pid_t pid, bool may);

/* KFD_PRIO_IOC_GET; ends the program if it fails */
struct kfd_prio_get_args kfd_get(pid_t pid);

/**
 * kfd_list() - what KFD_PRIO_IOC_LIST tells of one process
 * @pid: the process
 * @rows: filled in, a row for each of its GPUs
 * @max: room in @rows
 *
 * Return: how many it has, of which the first @max are in @rows; 0 if it is not listed. Ends the
 * program if the ioctl fails
 */
unsigned int kfd_list(pid_t pid, struct kfd_prio_list_entry *rows, unsigned int max);

/**
 * kfd_share() - KFD_PRIO_IOC_SHARE
 * @pid: with KFD_PRIO_SHARE_PROCESS, the process; else 0
 * @flags: KFD_PRIO_SHARE_*
 * @max: limit, hundredths of a percent; 0 without KFD_PRIO_SHARE_MAX
 * @weight: weight; 0 without KFD_PRIO_SHARE_WEIGHT
 * @group: in: the group, or 0; out: its number
 *
 * Return: 0 or an errno
 */
int kfd_share(pid_t pid, unsigned int flags, unsigned int max, unsigned int weight, uint64_t *group);

/* The same for the cgroup of a directory */
int kfd_share_cgroup(const char *dir, unsigned int flags, unsigned int max, unsigned int weight, uint64_t *group);

/* What KFD_PRIO_IOC_SHARES has of a group; false if it is not listed.  Ends the program if the ioctl fails */
bool kfd_share_get(uint64_t group, struct kfd_prio_share_entry *e);

/* How many groups there are */
unsigned int kfd_shares(void);

struct kfdc;

/* Levels of MES gangs, enum amdgpu_mes_priority_level of the kernel */
enum { MES_LOW, MES_NORMAL, MES_MEDIUM, MES_HIGH, MES_REALTIME };

/* Is the scheduler of an open GPU MES (GFX 11 and later)? Otherwise HWS; ends the program if unknown */
bool kfd_mes(struct kfdc *gpu);

/**
 * kfd_child() - a child with a queue of its own, that waits to be killed
 * @prio: what it asks for
 * @busy: its queue has work for a minute
 *
 * Return: its PID, when its queue is there; ends the program if that cannot be
 */
pid_t kfd_child(uint32_t prio, bool busy);

/**
 * kfd_child_set() - the same, with a priority
 * @prio: what its queue asks for
 * @set: what it sets for itself before it opens KFD; KFD_PRIO_UNSET: nothing
 * @dispatches: of a minute each, one after the other. Two are work also for a GPU that cannot tell
 *	whether waves are in flight: the second is not launched while the first runs
 */
pid_t kfd_child_set(uint32_t prio, int set, unsigned int dispatches);

/* Kill such a child */
void kfd_child_end(pid_t pid);

/* Wait until KFD, whose worker releases a process after its end, has removed its directory; ends the program after 10 s */
void kfd_wait_released(pid_t pid);

#endif
