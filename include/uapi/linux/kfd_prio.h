/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * kfdprio: process priorities for the queues of amdkfd, the wire format.
 *
 * These ioctls are on /dev/kfd beside KFD's own (mainline uses the numbers
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
 *	pidfd of the same process (pidfd_open(2), flags 0).  The driver finds the
 *	process by the PID.  The pidfd proves that the PID does not belong to a
 *	later process: the call fails with ESRCH if both do not name the same
 *	process.  Instead of a pidfd, a caller may give the time at which the
 *	process began, as a record of KFD_PRIO_IOC_NOTIFY reports it: no two
 *	processes with one PID began in the same nanosecond (since 1.5).
 *
 * What a priority is
 *	A number KFD_PRIO_MIN..KFD_PRIO_MAX (0..15).  15 is the MOST important,
 *	unlike nice values.  The scale is that of KFD's queue priorities, which KFD
 *	maps to three pipe priorities: 0-6 low, 7-10 medium, 11-15 high.  ROCr
 *	gives its queues 0, 7 or 11 and reserves 15 for itself (release 5.2.3 has
 *	15 where later ones have 11); these ioctls accept 15.
 *	A process has no priority (KFD_PRIO_UNSET) until one is set: each of its
 *	queues then keeps the value that it was created with, as on a stock KFD.
 *	A priority belongs to the process (thread group) and not to a file: it is
 *	kept over execve(2), children inherit it at fork(2), and it ends with the
 *	process.  It applies to all present and future queues of the process on
 *	all GPUs.
 *
 * What a process is
 *	KFD makes a process for an mm, and ends it with the mm or with its last
 *	descriptor.  The interface calls the thread group that opened /dev/kfd, the
 *	lead group, the process for as long as a thread of that group has the mm.  A
 *	KFD process whose lead group has lost the mm is an orphan from then on: the
 *	lead group has ended or executed another program, and other thread groups share
 *	the mm (CLONE_VM without CLONE_THREAD), or no group has it and an open
 *	descriptor keeps the queues (0.2 s after the mm has lost its last user;
 *	Linux before 6.15).  A priority of the lead group does not apply to
 *	the orphan.  An orphan does not preempt, ranks lowest, and its queues have the
 *	priority KFD_PRIO_MIN, until a priority is set for the orphan itself, by its
 *	serial.  Each KFD process has a serial, which is not used again (since 1.6).
 *
 * Permission
 *	- Changing a process of another user (neither the real nor the effective UID
 *	  of the target is the caller's effective UID) needs CAP_SYS_NICE in the
 *	  target's user namespace.
 *	- Raising a priority above the present one, or above KFD_PRIO_NORMAL if none
 *	  is set, needs CAP_SYS_NICE in the initial user namespace.  Taking away a
 *	  priority below KFD_PRIO_MAX raises it, because the queues then have the
 *	  priorities that they ask for.
 *	- Any other change needs no capability.
 *	An orphan without a set priority counts as KFD_PRIO_MIN.  The caller needs the
 *	permission over one of the thread groups that share its mm.  If there is none,
 *	the caller needs CAP_SYS_NICE in the initial user namespace.
 *	Reading needs no permission beyond that of opening /dev/kfd.
 *
 * Extension
 *	Every struct is padded to 64 bits and may grow at its end; the size is
 *	part of the ioctl's number, as usual.  The kernel accepts a shorter
 *	struct, down to the size of version 1.0, and takes missing fields as 0.
 *	It accepts a longer struct if the part that it does not know is 0, and
 *	returns E2BIG otherwise.  It returns EINVAL for unknown flags and nonzero
 *	pads.
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
 *	1.7	KFD_PRIO_FEATURE_SHARES: KFD_PRIO_IOC_SHARE, _SHARES; KFD_PRIO_LIST_THROTTLED, and
 *		share, cgroup_share, throttled_count and throttled_ns of kfd_prio_list_entry
 */
#ifndef _UAPI_LINUX_KFD_PRIO_H
#define _UAPI_LINUX_KFD_PRIO_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define KFD_PRIO_VERSION_MAJOR	1
#define KFD_PRIO_VERSION_MINOR	7

#define KFD_PRIO_MIN	0	/* least important */
#define KFD_PRIO_MAX	15	/* most important; KFD_MAX_QUEUE_PRIORITY */
#define KFD_PRIO_UNSET	(-1)	/* none set: queues keep those that their owner asked for */

/* The values that ROCr gives its queues (HSA_QUEUE_PRIORITY_LOW, MEDIUM, HIGH) */
#define KFD_PRIO_LOW	0
#define KFD_PRIO_NORMAL	7
#define KFD_PRIO_HIGH	11

/**
 * struct kfd_prio_version_args - KFD_PRIO_IOC_VERSION
 * @major: out: KFD_PRIO_VERSION_MAJOR of the driver; a change of it is incompatible
 * @minor: out: KFD_PRIO_VERSION_MINOR of the driver; see "Minor versions"
 * @features: out: bit mask of KFD_PRIO_FEATURE_*
 * @pad: out: 0
 *
 * A program calls this first. A stock KFD returns ENOTTY.
 */
struct kfd_prio_version_args {
	__u32 major;
	__u32 minor;
	__u32 features;
	__u32 pad;
};

/* Children inherit a priority at fork. Without this feature KFD_PRIO_IOC_SET returns EOPNOTSUPP */
#define KFD_PRIO_FEATURE_INHERIT	(1U << 0)

/*
 * Processes are preempted while a process of higher priority has work (unless the module parameter
 * kfd_preempt is 0), and KFD_PRIO_IOC_LIST reports it
 */
#define KFD_PRIO_FEATURE_PREEMPT	(1U << 1)

/*
 * A rules service is supported: KFD_PRIO_IOC_NOTIFY and KFD_PRIO_SET_RULE exist, and
 * KFD_PRIO_IOC_GET and KFD_PRIO_IOC_LIST report how a priority was set (since 1.5)
 */
#define KFD_PRIO_FEATURE_RULES		(1U << 2)

/*
 * Groups of processes have a limit of GPU time and a weight: KFD_PRIO_IOC_SHARE and
 * KFD_PRIO_IOC_SHARES exist (since 1.7)
 */
#define KFD_PRIO_FEATURE_SHARES		(1U << 3)

/*
 * How a priority was set, or how a process was set never to be parked. A child inherits this value
 * with the priority (since 1.5)
 */
#define KFD_PRIO_BY_NOBODY	0	/* not set */
#define KFD_PRIO_BY_RULE	1	/* with KFD_PRIO_SET_RULE */
#define KFD_PRIO_BY_USER	2	/* by a caller without CAP_SYS_NICE: a rule may lower it */
#define KFD_PRIO_BY_ADMIN	3	/* by a caller with CAP_SYS_NICE: rules do not apply */

/**
 * struct kfd_prio_set_args - KFD_PRIO_IOC_SET
 * @pid: in: PID of the process in the caller's PID namespace, > 0
 * @pidfd: in: a pidfd of the same process
 * @priority: in: KFD_PRIO_MIN..KFD_PRIO_MAX, or KFD_PRIO_UNSET to take the priority away
 * @flags: in: bit mask of KFD_PRIO_SET_*
 * @old_priority: out: the priority that was set before, or KFD_PRIO_UNSET
 * @nr_queues: out: number of user queues of the process, which have the priority now
 * @start_ns: in: 0, or when the process began, ns of the caller's CLOCK_BOOTTIME, as in
 *	kfd_prio_notify_record: @pidfd is ignored then (since 1.5)
 * @serial: in: 0, or the serial of a KFD process that @pid has opened: @pidfd and @start_ns are
 *	ignored then, and the call fails with ESRCH unless that process still belongs to @pid.
 *	execve(2) keeps PID and start time, and changes the serial. For KFD_PRIO_SET_ORPHAN see
 *	there (since 1.6)
 *
 * Errors: EINVAL (@priority out of range, unknown @flags, or @pid is not positive, a thread that
 * leads no group, or a kernel thread), EBADF (@pidfd is not open), ESRCH (no such process, @pid and
 * @pidfd differ, the process began at another time, or @serial is not that of a process of @pid, or
 * of an orphan if that was asked for), EPERM (see Permission), EEXIST (with KFD_PRIO_SET_RULE: the
 * present setting stays, see there), ENOMEM, EOPNOTSUPP (without KFD_PRIO_FEATURE_INHERIT),
 * EFAULT, E2BIG, EIO or ETIME (a GPU is being reset, has no memory for a runlist, or does not
 * answer and is reset: the priority is set, and queues created afterwards have it). After all
 * errors but EIO and ETIME nothing has changed. EFAULT is an exception if only the result could not
 * be written: the priority is set then.
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
 * Whether the process may be parked, which means that it leaves the GPU while it has no work. The
 * setting is kept over execve(2), and children inherit it like a priority. Without either flag it
 * stays as it is. A caller that changes it needs only the permission to change the process (since
 * 1.4)
 */
#define KFD_PRIO_SET_PARK_NEVER		(1U << 0)	/* never parked */
#define KFD_PRIO_SET_PARK_AUTO		(1U << 1)	/* parked as idle_park_ms is set */
/* The priority stays as it is; @priority must be KFD_PRIO_UNSET (since 1.4) */
#define KFD_PRIO_SET_KEEP		(1U << 2)
/*
 * A rule and not a person is the reason for the call, which needs the same permission. A priority
 * that was set otherwise stays, and the call fails with EEXIST: always if a caller with
 * CAP_SYS_NICE has set it, and, if another caller has set it, unless the rule lowers it. The same
 * holds for KFD_PRIO_SET_PARK_NEVER, which a rule with KFD_PRIO_SET_PARK_AUTO lowers (since 1.5)
 */
#define KFD_PRIO_SET_RULE		(1U << 8)
/*
 * The call is for the orphan that @serial names; @pid, @pidfd and @start_ns are ignored. The call
 * fails with ESRCH if that process is no orphan. The setting belongs to the orphan and not to a
 * thread group, and is not inherited. A caller that raises an orphan because of the thread groups
 * that share its mm has to examine all of them: see nr_groups of kfd_prio_list_entry (since 1.6)
 */
#define KFD_PRIO_SET_ORPHAN		(1U << 9)

/**
 * struct kfd_prio_get_args - KFD_PRIO_IOC_GET
 * @pid: in: PID of the process in the caller's PID namespace, > 0
 * @pidfd: in: a pidfd of the same process
 * @flags: in: 0
 * @priority: out: the priority that is set, or KFD_PRIO_UNSET
 * @effective: out: the highest priority of its queues now, or KFD_PRIO_UNSET if it has no queue
 * @nr_queues: out: number of its user queues on all GPUs, 0 if it does not use KFD
 * @set_by: out: KFD_PRIO_BY_*, how @priority was set (since 1.5)
 * @never_parked_by: out: KFD_PRIO_BY_*, how the process was set never to be parked;
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
 * @gpu_id: as in /sys/class/kfd/kfd/topology/nodes/<n>/gpu_id; 0 if the process has opened /dev/kfd
 *	and is bound to no GPU
 * @priority: the priority that is set for the process, or KFD_PRIO_UNSET
 * @effective: highest priority of its queues on this GPU, or KFD_PRIO_UNSET
 * @nr_queues: number of its user queues on this GPU
 * @nr_active: number of these that are active (in the runlist, or added to MES)
 * @flags: bit mask of KFD_PRIO_LIST_*
 * @pad: 0
 * @preempted_count: how often the process was preempted on this GPU (since 1.1)
 * @preempting_count: how many preemptions of others the process has begun there (since 1.1)
 * @preempted_ns: total time for which the process was preempted, ns, until now (since 1.1)
 * @saved_count: number of its preemptions for which the GPU's firmware has measured the save of its
 *	waves (CWSR) (since 1.3)
 * @saved_ns: sum of the longest save of each of these, ns (since 1.3)
 * @saved_max_ns: the longest save, ns (since 1.3)
 * @parked_count: how often the process was parked on this GPU (since 1.4)
 * @parked_ns: total time for which the process was parked, ns, until now (since 1.4)
 * @set_by: KFD_PRIO_BY_*, how @priority was set (since 1.5)
 * @never_parked_by: KFD_PRIO_BY_*, how KFD_PRIO_LIST_PARK_NEVER was set (since 1.5)
 * @serial: serial of the KFD process; all contexts of one process have the same (since 1.6)
 * @euid: effective UID of the thread group @pid, in the caller's user namespace; (__u32)-1 if that
 *	group has ended (since 1.6)
 * @nr_groups: for an orphan: number of thread groups that share its mm, including those that are
 *	not visible in the caller's PID namespace; 0: no thread group has the mm, and @pid is the
 *	PID that its lead group had. For another process: 0 (since 1.6)
 * @share: number of the group that the process was put in or has inherited, see
 *	kfd_prio_share_args; 0: none (since 1.7)
 * @cgroup_share: number of the group of its cgroup; 0: none (since 1.7)
 * @throttled_count: how often the process was throttled on this GPU (since 1.7)
 * @throttled_ns: total time for which it was throttled, ns, until now (since 1.7)
 *
 * An orphan has the entries of a process for each thread group that shares its mm. These entries
 * differ in @pid and @euid only. At most 16 groups are listed, whatever @nr_groups is, and only
 * those that are visible. If no thread group has the mm, the orphan has its entries once.
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
	__u64 share;
	__u64 cgroup_share;
	__u64 throttled_count;
	__u64 throttled_ns;
};

/* KFD has evicted the process from the GPU, for memory management, suspend or a debugger */
#define KFD_PRIO_LIST_EVICTED		(1U << 0)
/*
 * The process is off the GPU, because a process of higher priority has work, or because processes
 * that the process had preempted get their share of the second (since 1.1)
 */
#define KFD_PRIO_LIST_PREEMPTED		(1U << 1)
/* The work of the process is the reason for which other processes are preempted now (since 1.1) */
#define KFD_PRIO_LIST_PREEMPTING	(1U << 2)
/*
 * The circuit breaker of this GPU is open, and no process is preempted on it: preemption may have
 * caused a reset.  The breaker closes after some time, or when the module parameter kfd_preempt is
 * written (since 1.2)
 */
#define KFD_PRIO_LIST_PREEMPT_OFF	(1U << 3)
/* The process is parked: it is off the GPU without work, and returns when it rings (since 1.4) */
#define KFD_PRIO_LIST_PARKED		(1U << 4)
/* The process is never parked: KFD_PRIO_SET_PARK_NEVER (since 1.4) */
#define KFD_PRIO_LIST_PARK_NEVER	(1U << 5)
/*
 * The process is an orphan: the thread group that opened /dev/kfd does not have its mm any more
 * (since 1.6)
 */
#define KFD_PRIO_LIST_ORPHAN		(1U << 6)
/*
 * The process has work and is off the GPU, because its group has used up its limit, or another
 * group has its turn (since 1.7)
 */
#define KFD_PRIO_LIST_THROTTLED		(1U << 7)

/**
 * struct kfd_prio_list_args - KFD_PRIO_IOC_LIST
 * @entries: in: user address of an array of @nr_entries entries of @entry_size bytes
 * @entry_size: in: sizeof(struct kfd_prio_list_entry) as the caller knows it, at least that of
 *	version 1.0, a multiple of 8; out: bytes written per entry
 * @nr_entries: in: number of entries that fit in @entries, may be 0; out: number of entries that
 *	there are. If that is more, the caller calls again with more room
 * @flags: in: 0
 * @pad: in: 0
 *
 * Lists the processes that have /dev/kfd open and are visible in the caller's PID namespace, in
 * order of PID and GPU. Older drivers list no orphan. Errors: EINVAL (@flags, @pad, @entry_size),
 * EFAULT, ENOMEM, E2BIG.
 */
struct kfd_prio_list_args {
	__u64 entries;
	__u32 entry_size;
	__u32 nr_entries;
	__u32 flags;
	__u32 pad;
};

/* A process that leaves KFD makes no record and wakes no reader */
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
 * them. read(2) returns whole records, as many as fit, and waits for one unless O_NONBLOCK was set
 * with fcntl(2); poll(2) works. A service opens the descriptor first and then calls
 * KFD_PRIO_IOC_LIST for the processes that opened KFD before. A process that opens KFD between the
 * two calls may be in both.
 *
 * The driver keeps KFD_PRIO_NOTIFY_ROOM records. Further records are counted and lost, until the
 * caller has read these records and then a record KFD_PRIO_NOTIFY_OVERFLOW. The caller then calls
 * KFD_PRIO_IOC_LIST again.
 *
 * The descriptor reports the processes of all users when they open KFD, and uses kernel memory. The
 * call therefore needs CAP_SYS_NICE in the initial user namespace, as setting the priorities of
 * these processes does. Processes that are not visible in the caller's PID namespace are not
 * reported.
 *
 * Errors: EPERM, EINVAL (@flags, @pad, @record_size), EMFILE, ENFILE, ENOMEM, EFAULT, E2BIG.
 */
struct kfd_prio_notify_args {
	__u32 flags;
	__u32 record_size;
	__s32 fd;
	__u32 pad;
};

/*
 * A process has opened KFD. Reported once until KFD_PRIO_NOTIFY_GONE, however many files it opens
 */
#define KFD_PRIO_NOTIFY_OPENED		1
/* A process that had opened KFD ends, or calls execve(2), after which it may open KFD again */
#define KFD_PRIO_NOTIFY_GONE		2
/* Records after the previous one were lost: call KFD_PRIO_IOC_LIST */
#define KFD_PRIO_NOTIFY_OVERFLOW	3

#define KFD_PRIO_NOTIFY_ROOM		1024	/* records that wait for a reader */

/**
 * struct kfd_prio_notify_record - a record that read(2) returns from such a descriptor
 * @type: KFD_PRIO_NOTIFY_*; a reader skips types that it does not know
 * @pid: PID of the process in the PID namespace of the caller of KFD_PRIO_IOC_NOTIFY; 0 for
 *	KFD_PRIO_NOTIFY_OVERFLOW
 * @start_ns: when the process began, ns of that caller's CLOCK_BOOTTIME: the field starttime of
 *	/proc/PID/stat in ns. Another process with the same PID began later. A service passes the
 *	value to KFD_PRIO_IOC_SET, or opens a pidfd and then compares it
 * @lost: KFD_PRIO_NOTIFY_OVERFLOW: number of records that were lost; else 0
 * @euid: KFD_PRIO_NOTIFY_OPENED: effective UID of the process at that time, in the initial user
 *	namespace; else 0
 * @pad: 0
 * @serial: serial of the KFD process, to be passed to KFD_PRIO_IOC_SET, which then fails if the PID
 *	belongs to another KFD process by then; 0 for KFD_PRIO_NOTIFY_OVERFLOW (since 1.6)
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
 * struct kfd_prio_gpu_entry - totals of a GPU since amdgpu was loaded (since 1.5)
 * @gpu_id: as in /sys/class/kfd/kfd/topology/nodes/<n>/gpu_id
 * @flags: bit mask of KFD_PRIO_GPU_*
 * @nr_processes: number of processes that have a queue on the GPU
 * @nr_queues: number of their queues
 * @nr_preempted: number of processes that are preempted now
 * @nr_parked: number of processes that are parked now
 * @preemption_count: how often preemption has begun
 * @preempted_count: how often a process was preempted; one preemption may be of many processes
 * @preempted_ns: total time for which processes were preempted, ns, until now
 * @parked_count: how often a process was parked
 * @parked_ns: total time for which processes were parked, ns, until now
 * @saved_count: number of preemptions of a process for which the GPU's firmware has measured the
 *	save of its waves (CWSR)
 * @saved_ns: sum of the longest save of each of these, ns
 * @saved_max_ns: the longest save, ns
 * @update_ns: total time of the updates for preemption and parking, ns: the unmap with the save of
 *	waves, and the next runlist. The restore of waves follows, and its time is not included
 * @throttled_count: how often a process was throttled: off with work because of its group (since
 *	1.7)
 * @throttled_ns: total time for which processes were throttled, ns, until now (since 1.7)
 *
 * Unlike the counts of a process, the totals stay when a process ends.
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
	__u64 throttled_count;
	__u64 throttled_ns;
};

/**
 * struct kfd_prio_gpus_args - KFD_PRIO_IOC_GPUS (since 1.5)
 * @entries: in: user address of an array of @nr_entries entries of @entry_size bytes
 * @entry_size: in: sizeof(struct kfd_prio_gpu_entry) as the caller knows it, at least that of
 *	version 1.5, a multiple of 8; out: bytes written per entry
 * @nr_entries: in: number of entries that fit in @entries, may be 0; out: number of GPUs. If that
 *	is more, the caller calls again with more room
 * @flags: in: 0
 * @pad: in: 0
 *
 * Lists the GPUs that KFD drives, in the order in which they were added. The totals are those of
 * the host: a PID namespace or a device cgroup of the caller does not limit them. They name no
 * process. Errors: EINVAL (@flags, @pad, @entry_size), EFAULT, ENOMEM, E2BIG.
 */
struct kfd_prio_gpus_args {
	__u64 entries;
	__u32 entry_size;
	__u32 nr_entries;
	__u32 flags;
	__u32 pad;
};

/* A limit: hundredths of a percent of GPU time. KFD_PRIO_MAX_NONE: no limit */
#define KFD_PRIO_MAX_NONE	10000

/* A weight. 0: none of its own; processes without one share GPU time as one group of weight 100 */
#define KFD_PRIO_WEIGHT_NONE	0
#define KFD_PRIO_WEIGHT_MIN	1
#define KFD_PRIO_WEIGHT_MAX	10000
#define KFD_PRIO_WEIGHT_DEFAULT	100

/**
 * struct kfd_prio_share_args - KFD_PRIO_IOC_SHARE (since 1.7)
 * @group: in: number of the group that is changed; 0: the group of the process or of the cgroup
 *	that is named, or a new one if it has none; out: the number
 * @flags: in: bit mask of KFD_PRIO_SHARE_*
 * @pid: in: with KFD_PRIO_SHARE_PROCESS, the process, which joins the group; else 0
 * @pidfd: in: a pidfd of that process, as for KFD_PRIO_IOC_SET
 * @cgroup: in: with KFD_PRIO_SHARE_CGROUP, a descriptor of the directory of a cgroup (v2)
 * @max: in: with KFD_PRIO_SHARE_MAX, the limit, 1..KFD_PRIO_MAX_NONE; else 0; out: the limit
 * @weight: in: with KFD_PRIO_SHARE_WEIGHT, the weight, KFD_PRIO_WEIGHT_NONE..KFD_PRIO_WEIGHT_MAX;
 *	else 0; out: the weight
 * @start_ns: in: as in kfd_prio_set_args
 *
 * A group is a set of KFD processes for which GPU time is counted and given. A process is in the
 * group that it was put in, or that its parent was in when it was forked, and in the group of the
 * nearest cgroup above it that has one. Both hold. The first kind survives execve(2) and ends with
 * its last process; the second is kept until its cgroup is removed, or until it has neither limit
 * nor weight. Joining applies to the process and its later children, and not to children that it
 * has already.
 *
 * Permission: the caller needs permission over the process, as for KFD_PRIO_IOC_SET. Without
 * CAP_SYS_NICE in the initial user namespace a caller
 * - may put a process into a new group if the process is in no group of the first kind, or into a
 *   group that a caller with the same effective UID has made without that capability;
 * - may set or lower the limit of such a group;
 * - may lower the weight of such a group, and not set one where there is none;
 * - may have KFD_PRIO_SHARE_USER_MAX groups.
 * Everything else needs the capability: to raise, to take a process out of its group into another,
 * and each use of KFD_PRIO_SHARE_CGROUP.
 *
 * Errors: EINVAL (unknown @flags, a value out of range or without its flag, neither @group nor a
 * process nor a cgroup, or @cgroup is not a cgroup v2 directory), EBADF, ESRCH (no such process, or
 * @pid and @pidfd differ), ENOENT (no such group), EPERM, EBUSY (with KFD_PRIO_SHARE_NEW: the
 * process is in a group of the first kind already), EDQUOT (the caller has too many groups), ENOSPC
 * (the node has KFD_PRIO_SHARE_ALL_MAX groups), ENOMEM, EOPNOTSUPP (the kernel cannot follow fork,
 * or has no cgroups), EFAULT, E2BIG. After an error nothing has changed, except as for
 * KFD_PRIO_IOC_SET with EFAULT.
 */
struct kfd_prio_share_args {
	__u64 group;
	__u32 flags;
	__s32 pid;
	__s32 pidfd;
	__s32 cgroup;
	__u32 max;
	__u32 weight;
	__u64 start_ns;
};

#define KFD_PRIO_SHARE_PROCESS		(1U << 0)	/* @pid joins the group */
#define KFD_PRIO_SHARE_CGROUP		(1U << 1)	/* the group of the cgroup @cgroup */
#define KFD_PRIO_SHARE_MAX		(1U << 2)	/* set the limit */
#define KFD_PRIO_SHARE_WEIGHT		(1U << 3)	/* set the weight */
/* With KFD_PRIO_SHARE_MAX: the limit holds only while a process outside the group has work */
#define KFD_PRIO_SHARE_SOFT		(1U << 4)
/* With KFD_PRIO_SHARE_PROCESS: make a new group, or fail with EBUSY */
#define KFD_PRIO_SHARE_NEW		(1U << 5)

#define KFD_PRIO_SHARE_USER_MAX		8	/* groups of a user without CAP_SYS_NICE */
/* Groups of a node. A caller without the capability makes none beyond half of them */
#define KFD_PRIO_SHARE_ALL_MAX		256

/**
 * struct kfd_prio_share_entry - a group (since 1.7)
 * @group: its number, not used again
 * @cgroup: number of its cgroup, the inode number of the directory; 0: it is not bound to one
 * @euid: effective UID of the caller that made it, in the caller's user namespace
 * @flags: bit mask of KFD_PRIO_SHARE_IS_*
 * @max: its limit, hundredths of a percent; KFD_PRIO_MAX_NONE: none
 * @weight: its weight; KFD_PRIO_WEIGHT_NONE: none
 * @nr_processes: number of its KFD processes that have queues, each counted once for each GPU
 * @nr_running: number of GPUs on which it is mapped with work now
 * @period_ns: the period in which the limit holds, ns; 0 without one
 * @ran_ns: total time for which the group was mapped with work on some GPU, ns, until now: what the
 *	limit limits
 * @shared_ns: total GPU time of the group, ns, if the time of each GPU is divided equally among the
 *	processes that were mapped there with work; over all GPUs
 * @throttled_ns: total time for which it was off some GPU with work, because of the limit or the
 *	turn of another group, ns, until now
 * @throttled_count: how often that began
 */
struct kfd_prio_share_entry {
	__u64 group;
	__u64 cgroup;
	__u32 euid;
	__u32 flags;
	__u32 max;
	__u32 weight;
	__u32 nr_processes;
	__u32 nr_running;
	__u64 period_ns;
	__u64 ran_ns;
	__u64 shared_ns;
	__u64 throttled_ns;
	__u64 throttled_count;
};

/* The limit holds only while a process outside the group has work: KFD_PRIO_SHARE_SOFT */
#define KFD_PRIO_SHARE_IS_SOFT		(1U << 0)
/* The group is off some GPU with work now */
#define KFD_PRIO_SHARE_IS_THROTTLED	(1U << 1)
/*
 * The group has processes on a GPU that enforces nothing: preemption is off there (kfd_preempt=0,
 * or its circuit breaker is open), or the GPU has no CWSR or no hardware scheduler
 */
#define KFD_PRIO_SHARE_IS_UNENFORCED	(1U << 2)

/**
 * struct kfd_prio_shares_args - KFD_PRIO_IOC_SHARES (since 1.7)
 * @entries: in: user address of an array of @nr_entries entries of @entry_size bytes
 * @entry_size: in: sizeof(struct kfd_prio_share_entry) as the caller knows it, at least that of
 *	version 1.7, a multiple of 8; out: bytes written per entry
 * @nr_entries: in: number of entries that fit in @entries, may be 0; out: number of groups. If that
 *	is more, the caller calls again with more room
 * @flags: in: 0
 * @pad: in: 0
 *
 * Lists the groups of the node, in the order in which they were made. It names no process. Errors:
 * EINVAL (@flags, @pad, @entry_size), EFAULT, ENOMEM, E2BIG.
 */
struct kfd_prio_shares_args {
	__u64 entries;
	__u32 entry_size;
	__u32 nr_entries;
	__u32 flags;
	__u32 pad;
};

#define KFD_PRIO_IOC_MAGIC	'K'
#define KFD_PRIO_IOC_FIRST	0xf0
#define KFD_PRIO_IOC_LAST	0xf7

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
#define KFD_PRIO_IOC_SHARE \
	_IOWR(KFD_PRIO_IOC_MAGIC, 0xf6, struct kfd_prio_share_args)
#define KFD_PRIO_IOC_SHARES \
	_IOWR(KFD_PRIO_IOC_MAGIC, 0xf7, struct kfd_prio_shares_args)

#endif /* _UAPI_LINUX_KFD_PRIO_H */
