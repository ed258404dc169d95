/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * kfdprio: process priorities for the queues of amdkfd, the wire format.
 *
 * These ioctls live on /dev/kfd beside KFD's own (mainline uses the numbers
 * 0x01-0x29 of type 'K', ROCm adds 0x80-0x8f; these start at 0xf0).  This
 * header needs nothing but <linux/types.h> and <linux/ioctl.h>.
 *
 * How to open /dev/kfd
 *	Any file descriptor of /dev/kfd will do.  A program that only sets or
 *	reads priorities should open it with access mode 3,
 *	open("/dev/kfd", O_ACCMODE | O_CLOEXEC): Linux reserves that mode for
 *	"ioctl only" (see open(2)), and KFD then creates no process, no PASID
 *	and no sysfs entry for the caller.  Such a descriptor answers the ioctls
 *	below and refuses every other one with EBADF.
 *
 * How a process is named
 *	A process is named by its PID in the caller's PID namespace *and* by a
 *	pidfd of the same process (pidfd_open(2), flags 0).  The number finds the
 *	process, the pidfd proves that it has not been replaced by another one
 *	meanwhile: the call fails with ESRCH when the two do not name the same
 *	process.  Instead of a pidfd, a caller may give the time at which the
 *	process began, as a record of KFD_PRIO_IOC_NOTIFY reports it: no two
 *	processes with one PID began in the same nanosecond (since 1.5).
 *
 * What a priority is
 *	KFD_PRIO_MIN..KFD_PRIO_MAX (0..15), 15 is the MOST important: the
 *	opposite of nice.  It is KFD's own scale of queue priorities.  KFD maps it
 *	to three pipe priorities: 0-6 low, 7-10 medium, 11-15 high.  ROCr gives
 *	its queues 0, 7 or 11 and reserves 15 for itself (release 5.2.3 has 15
 *	where later ones have 11); 15 is legal here.
 *	A process has no priority (KFD_PRIO_UNSET) until one is set: each of its
 *	queues then keeps the value that it was created with, as on a stock KFD.
 *	A priority belongs to the process (thread group), not to a file: it is
 *	kept over execve(2), inherited by children at fork(2), and dies with the
 *	process.  It applies to all its present and future queues on all GPUs.
 *
 * What a process is
 *	KFD makes a process for an mm, and ends it with the mm or with its last
 *	descriptor.  The interface calls the thread group that opened /dev/kfd, the
 *	lead group, the process for as long as a thread of that group has the mm.  A
 *	KFD process whose lead group has lost the mm is an orphan for good: the lead
 *	group has ended or executed another program, and other thread groups share the
 *	mm (CLONE_VM without CLONE_THREAD), or nobody has it and an open descriptor
 *	keeps the queues.  A priority of the lead group is not that of the orphan.  An
 *	orphan does not preempt, counts as the lowest and its queues have the priority
 *	KFD_PRIO_MIN, until a priority is set for the orphan itself, by its serial.
 *	Each KFD process has a serial, which is not used again (since 1.6).
 *
 * Permission (CAP_SYS_NICE is looked for in the initial user namespace when
 * raising, in the target's user namespace when the target is another user's)
 *	- a process of another user (neither the real nor the effective UID of
 *	  the target is the caller's effective UID): CAP_SYS_NICE;
 *	- raising above the present priority, or above KFD_PRIO_NORMAL when none is
 *	  set: CAP_SYS_NICE.  Taking away a priority below KFD_PRIO_NORMAL raises it;
 *	- anything else is free.
 *	For an orphan no priority counts as KFD_PRIO_MIN, the caller needs the permission
 *	over one of the thread groups that share its mm, and where there is none,
 *	CAP_SYS_NICE in the initial user namespace.
 *	Reading needs no permission beyond that of opening /dev/kfd.
 *
 * Extension
 *	Every struct is padded to 64 bits and may grow at its end; the size is
 *	part of the ioctl's number, as usual.  The kernel accepts a shorter
 *	struct, down to the size of version 1.0, and takes missing fields as 0.
 *	It accepts a longer struct if the part that it does not know is 0, and
 *	returns E2BIG otherwise.  Unknown flags and nonzero pads are EINVAL.
 *
 * Minor versions
 *	1.0	KFD_PRIO_IOC_VERSION, _SET, _GET, _LIST
 *	1.1	KFD_PRIO_FEATURE_PREEMPT; KFD_PRIO_LIST_PREEMPTED, _PREEMPTING, and
 *		preempted_count, preempting_count, preempted_ns of kfd_prio_list_entry
 *	1.2	KFD_PRIO_LIST_PREEMPT_OFF
 *	1.3	saved_count, saved_ns, saved_max_ns of kfd_prio_list_entry
 *	1.4	KFD_PRIO_SET_PARK_NEVER, _PARK_AUTO, _KEEP; KFD_PRIO_LIST_PARKED, _PARK_NEVER, and
 *		parked_count, parked_ns of kfd_prio_list_entry
 *	1.5	KFD_PRIO_FEATURE_RULES: KFD_PRIO_IOC_NOTIFY, KFD_PRIO_SET_RULE; set_by and
 *		never_parked_by of kfd_prio_get_args and kfd_prio_list_entry; start_ns of
 *		kfd_prio_set_args and kfd_prio_get_args; KFD_PRIO_IOC_GPUS
 *	1.6	orphans: KFD_PRIO_LIST_ORPHAN, KFD_PRIO_SET_ORPHAN; serial of kfd_prio_set_args,
 *		kfd_prio_list_entry and kfd_prio_notify_record; euid and nr_groups of
 *		kfd_prio_list_entry
 */
#ifndef _UAPI_LINUX_KFD_PRIO_H
#define _UAPI_LINUX_KFD_PRIO_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define KFD_PRIO_VERSION_MAJOR	1
#define KFD_PRIO_VERSION_MINOR	6

#define KFD_PRIO_MIN	0	/* least important */
#define KFD_PRIO_MAX	15	/* most important; KFD_MAX_QUEUE_PRIORITY */
#define KFD_PRIO_UNSET	(-1)	/* none set: queues keep their own */

/* The values ROCr gives its queues (HSA_QUEUE_PRIORITY_LOW, MEDIUM, HIGH) */
#define KFD_PRIO_LOW	0
#define KFD_PRIO_NORMAL	7
#define KFD_PRIO_HIGH	11

/**
 * struct kfd_prio_version_args - KFD_PRIO_IOC_VERSION
 * @major: out: KFD_PRIO_VERSION_MAJOR of the driver; a change is incompatible
 * @minor: out: KFD_PRIO_VERSION_MINOR of the driver; see "Minor versions"
 * @features: out: bit mask of KFD_PRIO_FEATURE_*
 * @pad: out: 0
 *
 * Ask for the version first.  A stock KFD answers ENOTTY.
 */
struct kfd_prio_version_args {
	__u32 major;
	__u32 minor;
	__u32 features;
	__u32 pad;
};

/* Children inherit a priority at fork: _SET answers EOPNOTSUPP without it */
#define KFD_PRIO_FEATURE_INHERIT	(1U << 0)

/*
 * Processes are preempted while one of higher priority has work (unless the module
 * parameter kfd_preempt is 0), and _LIST reports it
 */
#define KFD_PRIO_FEATURE_PREEMPT	(1U << 1)

/*
 * A rules service is supported: KFD_PRIO_IOC_NOTIFY, KFD_PRIO_SET_RULE, and _GET and _LIST report
 * how a priority was set (since 1.5)
 */
#define KFD_PRIO_FEATURE_RULES		(1U << 2)

/*
 * How a priority, or that a process is never parked, was set.  A child inherits this with the
 * priority (since 1.5)
 */
#define KFD_PRIO_BY_NOBODY	0	/* it is not set */
#define KFD_PRIO_BY_RULE	1	/* with KFD_PRIO_SET_RULE */
#define KFD_PRIO_BY_USER	2	/* by a caller without CAP_SYS_NICE: a rule may lower it */
#define KFD_PRIO_BY_ADMIN	3	/* by a caller with CAP_SYS_NICE: rules leave it alone */

/**
 * struct kfd_prio_set_args - KFD_PRIO_IOC_SET
 * @pid: in: PID of the process in the caller's PID namespace, > 0
 * @pidfd: in: a pidfd of the same process
 * @priority: in: KFD_PRIO_MIN..KFD_PRIO_MAX, or KFD_PRIO_UNSET to take it away
 * @flags: in: bit mask of KFD_PRIO_SET_*
 * @old_priority: out: what was set before, or KFD_PRIO_UNSET
 * @nr_queues: out: number of its user queues, which have the priority now
 * @start_ns: in: 0, or when the process began, ns of the caller's CLOCK_BOOTTIME, as in
 *	kfd_prio_notify_record: @pidfd is not looked at then (since 1.5)
 * @serial: in: 0, or that of a KFD process that @pid has opened: @pidfd and @start_ns are not
 *	looked at then, and the call fails with ESRCH unless that process still is @pid's.  PID and
 *	time stay over execve(2), and this does not.  With KFD_PRIO_SET_ORPHAN see there (since 1.6)
 *
 * Errors: EINVAL (@priority out of range, unknown @flags, @pid is not positive, a
 * thread that leads no group, or a kernel thread), EBADF (@pidfd is not open),
 * ESRCH (no such process, @pid and @pidfd differ, or it began at another time, or @serial is not
 * that of a process of @pid, or not of an orphan as asked for),
 * EPERM (see Permission), EEXIST (with KFD_PRIO_SET_RULE: the setting stays, see
 * there), ENOMEM, EOPNOTSUPP (this kernel offers no way to follow fork), EFAULT, E2BIG,
 * EIO or ETIME (a GPU is being reset, has no memory for a runlist, or does not answer
 * and is reset: the priority is set, and queues created afterwards have it).  All but EIO
 * and ETIME leave everything unchanged, and EFAULT when it is the result that
 * cannot be written: the priority is set then.
 */
struct kfd_prio_set_args {
	__s32 pid;
	__s32 pidfd;
	__s32 priority;
	__u32 flags;
	__s32 old_priority;
	__u32 nr_queues;
	__u64 start_ns;
	__u64 serial;
};

/*
 * Whether the process may be parked, which means that it leaves the GPU while it has no work.  Kept
 * over execve(2) and inherited by children like a priority; with neither flag it stays as it is.
 * Changing it needs the permission to touch the process, no other (since 1.4)
 */
#define KFD_PRIO_SET_PARK_NEVER		(1U << 0)	/* it is never parked */
#define KFD_PRIO_SET_PARK_AUTO		(1U << 1)	/* as idle_park_ms is set */
/* The priority stays as it is; @priority must be KFD_PRIO_UNSET (since 1.4) */
#define KFD_PRIO_SET_KEEP		(1U << 2)
/*
 * A rule is the reason for the call, not a person.  The call needs the same permission.  A priority
 * that was set otherwise stays and the call fails with EEXIST: always if a caller with CAP_SYS_NICE
 * has set it, and if another caller has set it unless the rule lowers it.  The same holds for
 * KFD_PRIO_SET_PARK_NEVER, which a rule with KFD_PRIO_SET_PARK_AUTO lowers (since 1.5)
 */
#define KFD_PRIO_SET_RULE		(1U << 8)
/*
 * The call is for the orphan that @serial names; @pid, @pidfd and @start_ns are not looked at.  It
 * fails with ESRCH if that process is none.  What is set belongs to the orphan, not to a thread
 * group, and is not inherited.  A caller that raises an orphan because of the thread groups that
 * share its mm has to look at all of them: see nr_groups of kfd_prio_list_entry (since 1.6)
 */
#define KFD_PRIO_SET_ORPHAN		(1U << 9)

/**
 * struct kfd_prio_get_args - KFD_PRIO_IOC_GET
 * @pid: in: PID of the process in the caller's PID namespace, > 0
 * @pidfd: in: a pidfd of the same process
 * @flags: in: 0
 * @priority: out: what is set, or KFD_PRIO_UNSET
 * @effective: out: the highest priority of its queues now, or KFD_PRIO_UNSET when
 *	it has no queue
 * @nr_queues: out: user queues it has on all GPUs, 0 when it does not use KFD
 * @set_by: out: KFD_PRIO_BY_*, how @priority was set (since 1.5)
 * @never_parked_by: out: KFD_PRIO_BY_*, how it was set that the process is never parked;
 *	KFD_PRIO_BY_NOBODY: it may be parked (since 1.5)
 * @start_ns: in: as in kfd_prio_set_args (since 1.5)
 *
 * Errors: EINVAL, EBADF, ESRCH, EFAULT, E2BIG, as for KFD_PRIO_IOC_SET.
 */
struct kfd_prio_get_args {
	__s32 pid;
	__s32 pidfd;
	__u32 flags;
	__s32 priority;
	__s32 effective;
	__u32 nr_queues;
	__u32 set_by;
	__u32 never_parked_by;
	__u64 start_ns;
};

/**
 * struct kfd_prio_list_entry - one KFD process on one GPU
 * @pid: PID in the caller's PID namespace
 * @gpu_id: as in /sys/class/kfd/kfd/topology/nodes/<n>/gpu_id; 0 if the process
 *	has opened /dev/kfd and is bound to no GPU
 * @priority: what is set for the process, or KFD_PRIO_UNSET
 * @effective: highest priority of its queues on this GPU, or KFD_PRIO_UNSET
 * @nr_queues: user queues on this GPU
 * @nr_active: those of them that are active (in the runlist, or added to MES)
 * @flags: bit mask of KFD_PRIO_LIST_*
 * @pad: 0
 * @preempted_count: how often the process was preempted on this GPU (since 1.1)
 * @preempting_count: how many preemptions of others it has begun there (since 1.1)
 * @preempted_ns: how long it has been preempted in all, ns, until now (since 1.1)
 * @saved_count: preemptions of it for which the GPU's firmware has measured how long the save of
 *	its waves (CWSR) took (since 1.3)
 * @saved_ns: the longest save of each of these, summed, ns (since 1.3)
 * @saved_max_ns: the longest of all, ns (since 1.3)
 * @parked_count: how often it was parked on this GPU (since 1.4)
 * @parked_ns: how long it has been parked in all, ns, until now (since 1.4)
 * @set_by: KFD_PRIO_BY_*, how @priority was set (since 1.5)
 * @never_parked_by: KFD_PRIO_BY_*, how KFD_PRIO_LIST_PARK_NEVER was set (since 1.5)
 * @serial: of the KFD process; several contexts of one process have one (since 1.6)
 * @euid: effective UID of the thread group @pid, in the caller's user namespace; (__u32)-1 where
 *	that group has ended (since 1.6)
 * @nr_groups: of an orphan: thread groups that share its mm, those too that are not visible in the
 *	caller's PID namespace; 0: nobody has it, and @pid is the PID that its lead group had; else
 *	0 (since 1.6)
 *
 * An orphan has the rows of a process for each thread group that shares its mm, which differ in
 * @pid and @euid alone: for 16 of them at most, whatever @nr_groups is, and for those that are
 * visible. If nobody has the mm, it has these rows once.
 */
struct kfd_prio_list_entry {
	__s32 pid;
	__u32 gpu_id;
	__s32 priority;
	__s32 effective;
	__u32 nr_queues;
	__u32 nr_active;
	__u32 flags;
	__u32 pad;
	__u64 preempted_count;
	__u64 preempting_count;
	__u64 preempted_ns;
	__u64 saved_count;
	__u64 saved_ns;
	__u64 saved_max_ns;
	__u64 parked_count;
	__u64 parked_ns;
	__u32 set_by;
	__u32 never_parked_by;
	__u64 serial;
	__u32 euid;
	__u32 nr_groups;
};

/* The queues are off the GPU: memory eviction, suspend, or a debugger */
#define KFD_PRIO_LIST_EVICTED		(1U << 0)
/*
 * The queues are off the GPU: a process of higher priority has work, or those that it
 * preempted get their share of the second (since 1.1)
 */
#define KFD_PRIO_LIST_PREEMPTED		(1U << 1)
/* Other processes are preempted for the work of this process now (since 1.1) */
#define KFD_PRIO_LIST_PREEMPTING	(1U << 2)
/*
 * The circuit breaker of this GPU is open, and no process is preempted on it: preemption may have
 * caused a reset.  The breaker closes after some time, or when the module parameter kfd_preempt is
 * written (since 1.2)
 */
#define KFD_PRIO_LIST_PREEMPT_OFF	(1U << 3)
/* The queues are off the GPU: it has no work, and returns when it rings (since 1.4) */
#define KFD_PRIO_LIST_PARKED		(1U << 4)
/* It is never parked: KFD_PRIO_SET_PARK_NEVER (since 1.4) */
#define KFD_PRIO_LIST_PARK_NEVER	(1U << 5)
/* It is an orphan: the thread group that opened /dev/kfd has its mm no longer (since 1.6) */
#define KFD_PRIO_LIST_ORPHAN		(1U << 6)

/**
 * struct kfd_prio_list_args - KFD_PRIO_IOC_LIST
 * @entries: in: user address of an array of @nr_entries entries of @entry_size bytes
 * @entry_size: in: sizeof(struct kfd_prio_list_entry) as the caller knows it, at
 *	least that of version 1.0, a multiple of 8; out: bytes written per entry
 * @nr_entries: in: room in @entries, may be 0; out: how many entries there are.
 *	More than there was room for: call again with more room
 * @flags: in: 0
 * @pad: in: 0
 *
 * Lists the processes that have /dev/kfd open and are visible in the caller's PID
 * namespace, in order of PID and GPU.  Older drivers list no orphan.
 * Errors: EINVAL (@flags, @pad, @entry_size), EFAULT, ENOMEM, E2BIG.
 */
struct kfd_prio_list_args {
	__u64 entries;
	__u32 entry_size;
	__u32 nr_entries;
	__u32 flags;
	__u32 pad;
};

/* Records of processes that leave KFD are left out, and wake no reader */
#define KFD_PRIO_NOTIFY_NO_GONE		(1U << 0)

/**
 * struct kfd_prio_notify_args - KFD_PRIO_IOC_NOTIFY (since 1.5)
 * @flags: in: bit mask of KFD_PRIO_NOTIFY_NO_GONE
 * @record_size: in: sizeof(struct kfd_prio_notify_record) as the caller knows it, at least that of
 *	version 1.5, a multiple of 8; out: bytes of a record
 * @fd: out: the descriptor, close-on-exec
 * @pad: in: 0
 *
 * The descriptor reports processes that open and leave KFD, so that a service need not poll for
 * them.  read(2) returns whole records, as many as fit, and waits for one unless O_NONBLOCK was
 * set with fcntl(2); poll(2) works.  Open it first and then ask KFD_PRIO_IOC_LIST for the processes
 * that were there before; one that comes in between may be in both.
 *
 * The driver keeps KFD_PRIO_NOTIFY_ROOM records.  Further records are lost and counted until
 * the caller has read these and then a record KFD_PRIO_NOTIFY_OVERFLOW.  The caller then asks
 * KFD_PRIO_IOC_LIST again.
 *
 * It reports the processes of all users at the moment that they open KFD, and holds kernel memory.
 * It therefore needs CAP_SYS_NICE in the initial user namespace, as setting their priorities does.
 * Processes that are not visible in the caller's PID namespace are left out.
 *
 * Errors: EPERM, EINVAL (@flags, @pad, @record_size), EMFILE, ENFILE, ENOMEM, EFAULT, E2BIG.
 */
struct kfd_prio_notify_args {
	__u32 flags;
	__u32 record_size;
	__s32 fd;
	__u32 pad;
};

/* A process has opened KFD: once, however many files it opens, until KFD_PRIO_NOTIFY_GONE */
#define KFD_PRIO_NOTIFY_OPENED		1
/* A process that had opened KFD ends, or calls execve(2), after which it may open it again */
#define KFD_PRIO_NOTIFY_GONE		2
/* Records were lost after the one before: ask KFD_PRIO_IOC_LIST */
#define KFD_PRIO_NOTIFY_OVERFLOW	3

#define KFD_PRIO_NOTIFY_ROOM		1024	/* records that wait for a reader */

/**
 * struct kfd_prio_notify_record - what read(2) returns of such a descriptor
 * @type: KFD_PRIO_NOTIFY_*; there may be more in the future: skip those that you do not know
 * @pid: of the process, in the PID namespace of the caller of KFD_PRIO_IOC_NOTIFY; 0 for
 *	KFD_PRIO_NOTIFY_OVERFLOW
 * @start_ns: when the process began, ns of that caller's CLOCK_BOOTTIME: the field starttime of
 *	/proc/PID/stat in ns.  Another process with the same PID began later: pass it on to
 *	KFD_PRIO_IOC_SET, or open a pidfd, then compare
 * @lost: KFD_PRIO_NOTIFY_OVERFLOW: records that were lost; else 0
 * @euid: KFD_PRIO_NOTIFY_OPENED: effective UID of the process then, in the initial user
 *	namespace; else 0
 * @pad: 0
 * @serial: of the KFD process; pass it on to KFD_PRIO_IOC_SET, which then refuses what the process
 *	has become since; 0 for KFD_PRIO_NOTIFY_OVERFLOW (since 1.6)
 */
struct kfd_prio_notify_record {
	__u32 type;
	__s32 pid;
	__u64 start_ns;
	__u64 lost;
	__u32 euid;
	__u32 pad;
	__u64 serial;
};

/* The circuit breaker is open, see KFD_PRIO_LIST_PREEMPT_OFF */
#define KFD_PRIO_GPU_PREEMPT_OFF	(1U << 0)

/**
 * struct kfd_prio_gpu_entry - a GPU, and what happened on it since amdgpu was loaded (since 1.5)
 * @gpu_id: as in /sys/class/kfd/kfd/topology/nodes/<n>/gpu_id
 * @flags: bit mask of KFD_PRIO_GPU_*
 * @nr_processes: processes that have a queue there
 * @nr_queues: their queues
 * @nr_preempted: processes that are preempted now
 * @nr_parked: processes that are parked now
 * @preemption_count: how often preemption has begun
 * @preempted_count: how often a process was preempted; one preemption may be of many
 * @preempted_ns: how long processes were preempted in all, ns, until now
 * @parked_count: how often a process was parked
 * @parked_ns: how long processes were parked in all, ns, until now
 * @saved_count: preemptions of a process for which the GPU's firmware has measured how long the
 *	save of its waves (CWSR) took
 * @saved_ns: the longest save of each of these, summed, ns
 * @saved_max_ns: the longest of all, ns
 * @update_ns: how long changes for preemption and parking took, ns: the unmap with the save of
 *	waves, and the next runlist.  Waves are restored after that: this time is not in it
 *
 * Unlike the figures of a process, the totals stay when a process ends.
 */
struct kfd_prio_gpu_entry {
	__u32 gpu_id;
	__u32 flags;
	__u32 nr_processes;
	__u32 nr_queues;
	__u32 nr_preempted;
	__u32 nr_parked;
	__u64 preemption_count;
	__u64 preempted_count;
	__u64 preempted_ns;
	__u64 parked_count;
	__u64 parked_ns;
	__u64 saved_count;
	__u64 saved_ns;
	__u64 saved_max_ns;
	__u64 update_ns;
};

/**
 * struct kfd_prio_gpus_args - KFD_PRIO_IOC_GPUS (since 1.5)
 * @entries: in: user address of an array of @nr_entries entries of @entry_size bytes
 * @entry_size: in: sizeof(struct kfd_prio_gpu_entry) as the caller knows it, at least that of
 *	version 1.5, a multiple of 8; out: bytes written per entry
 * @nr_entries: in: room in @entries, may be 0; out: how many GPUs there are.  More than there was
 *	room for: call again with more room
 * @flags: in: 0
 * @pad: in: 0
 *
 * Lists the GPUs that KFD drives, in the order in which they came.  The totals are those of the
 * host: a PID namespace or a device cgroup of the caller does not limit them.  They name no
 * process.
 * Errors: EINVAL (@flags, @pad, @entry_size), EFAULT, ENOMEM, E2BIG.
 */
struct kfd_prio_gpus_args {
	__u64 entries;
	__u32 entry_size;
	__u32 nr_entries;
	__u32 flags;
	__u32 pad;
};

#define KFD_PRIO_IOC_MAGIC	'K'
#define KFD_PRIO_IOC_FIRST	0xf0
#define KFD_PRIO_IOC_LAST	0xf5

#define KFD_PRIO_IOC_VERSION \
	_IOR(KFD_PRIO_IOC_MAGIC, 0xf0, struct kfd_prio_version_args)
#define KFD_PRIO_IOC_SET \
	_IOWR(KFD_PRIO_IOC_MAGIC, 0xf1, struct kfd_prio_set_args)
#define KFD_PRIO_IOC_GET \
	_IOWR(KFD_PRIO_IOC_MAGIC, 0xf2, struct kfd_prio_get_args)
#define KFD_PRIO_IOC_LIST \
	_IOWR(KFD_PRIO_IOC_MAGIC, 0xf3, struct kfd_prio_list_args)
#define KFD_PRIO_IOC_NOTIFY \
	_IOWR(KFD_PRIO_IOC_MAGIC, 0xf4, struct kfd_prio_notify_args)
#define KFD_PRIO_IOC_GPUS \
	_IOWR(KFD_PRIO_IOC_MAGIC, 0xf5, struct kfd_prio_gpus_args)

#endif /* _UAPI_LINUX_KFD_PRIO_H */
