/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for the command line tools: the device and its errors, priorities and
 * their names, /proc, the KFD topology, text that is safe to print.
 *
 * Nothing here prints or exits.  Functions return 0 or -errno; where a number
 * does not say enough they also write one line for the user into @why, a
 * buffer of KFDLIB_WHY bytes.
 */
#ifndef KFDLIB_H
#define KFDLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <linux/kfd_prio.h>

#define KFDLIB_WHY  512 /* bytes of a message that says why */
#define KFDLIB_NAME 64	/* bytes of a name read from /proc or sysfs */
#define KFDLIB_PATH 4096 /* bytes of a path */

#define KFDLIB_DEVICE "/dev/kfd"

/**
 * struct kfd_dev - an open /dev/kfd that is known to have our ioctls
 * @fd: opened with O_ACCMODE ("ioctl only") and close-on-exec
 * @version: what the driver said to KFD_PRIO_IOC_VERSION
 */
struct kfd_dev {
	int fd;
	struct kfd_prio_version_args version;
};

/* Of the interface, from which on the driver tells of serials and orphans */
#define KFDLIB_ORPHAN_MINOR 6

/* Why our driver does not answer. */
enum kfd_cause {
	KFD_CAUSE_NO_DRIVER,	/* amdgpu is not loaded, or has no KFD */
	KFD_CAUSE_NO_DEVICE,	/* KFD is there, /dev/kfd is not */
	KFD_CAUSE_OTHER_DEVICE, /* /dev/kfd is something else */
	KFD_CAUSE_NO_ACCESS,
	KFD_CAUSE_NO_OPEN,  /* another error of open(2) */
	KFD_CAUSE_STOCK,    /* the stock driver */
	KFD_CAUSE_NO_IOCTL, /* our ioctls are refused */
	KFD_CAUSE_VERSION,  /* our driver, of another major version */
};

#define KFDLIB_CAUSE (KFDLIB_WHY / 2 - 2) /* bytes of half a message */

/**
 * struct kfd_trouble - why our driver does not answer
 * @cause: for programs
 * @what: what is wrong
 * @todo: the next step
 */
struct kfd_trouble {
	enum kfd_cause cause;
	char what[KFDLIB_CAUSE], todo[KFDLIB_CAUSE];
};

/* kfd-cause.c */
void kfd_trouble_open(struct kfd_trouble *t, int err);
void kfd_trouble_version(struct kfd_trouble *t, int fd, int err);
void kfd_trouble_text(const struct kfd_trouble *t, char *why);

int kfd_dev_open(struct kfd_dev *dev, char *why);
int kfd_dev_try(struct kfd_dev *dev, struct kfd_trouble *t);
bool kfd_dev_missing(char *why);
void kfd_dev_close(struct kfd_dev *dev);
int kfd_dev_set(const struct kfd_dev *dev, struct kfd_prio_set_args *args);
int kfd_dev_get(const struct kfd_dev *dev, struct kfd_prio_get_args *args);
int kfd_dev_notify(const struct kfd_dev *dev, int *fd, char *why);
const char *set_by_name(unsigned int by);
int kfd_dev_list(const struct kfd_dev *dev, struct kfd_prio_list_entry **entries, size_t *nr);
bool kfd_entry_again(const struct kfd_prio_list_entry *entries, size_t at);
int kfd_dev_gpus(const struct kfd_dev *dev, struct kfd_prio_gpu_entry **entries, size_t *nr, char *why);

/* Wrong usage, of all tools */
#define EXIT_USAGE 2

/* Exit statuses of a tool that runs a COMMAND, beside those of the COMMAND; as env(1) has them */
#define EXIT_OWN	 125 /* the tool failed */
#define EXIT_EXEC_FAILED 126 /* the COMMAND was found and could not be executed */
#define EXIT_EXEC_ENOENT 127 /* the COMMAND was not found */

int prio_parse(const char *text, int *prio, char *why);
const char *prio_band(int prio);
int park_parse(const char *text, uint32_t *park);
const char *park_name(uint32_t park);
int pid_parse(const char *text, pid_t *pid, char *why);

/**
 * struct proc_info - a process as /proc shows it
 * @tgid: the process that this PID is a thread of; the PID itself when it is a process
 * @ruid: real UID
 * @euid: effective UID
 * @zombie: it has ended, its parent has not collected it yet
 * @kthread: it is a thread of the kernel
 * @comm: its name, raw bytes
 */
struct proc_info {
	pid_t tgid;
	uid_t ruid;
	uid_t euid;
	bool zombie;
	bool kthread;
	char comm[KFDLIB_NAME];
};

int proc_read(pid_t pid, struct proc_info *info);
int proc_open(pid_t pid, int *pidfd, char *why);
bool proc_outer_namespace(void);
bool user_name(uid_t uid, char *name, size_t size);
int user_find(const char *text, uid_t *uid, char *why);

/**
 * struct proc_task - a process, as far as it takes to tell it from others
 * @pid: in the caller's PID namespace
 * @parent: PID of its parent, 0 if that is in no such namespace
 * @start: when it began: in ticks since boot, as in /proc/PID/stat
 * @euid: effective UID
 * @kthread: it is a thread of the kernel
 * @ended: it is a zombie
 */
struct proc_task {
	pid_t pid, parent;
	unsigned long long start;
	uid_t euid;
	bool kthread, ended;
};

int proc_text_read(const char *path, char *text, size_t size);
int proc_stat_read(pid_t pid, struct proc_task *task);
int proc_task_read(pid_t pid, struct proc_task *task);
int proc_scan(struct proc_task **tasks, size_t *nr);

/**
 * struct kfd_gpu - a GPU node of the KFD topology
 * @gpu_id: KFD's number for it
 * @node: number of its directory under topology/nodes
 * @name: as the driver calls it, raw bytes, may be empty; "ip discovery" on newer ones
 * @gfx: its target, as compilers call it: gfx90a; empty if the kernel does not tell
 * @pci: domain:bus:device.function
 * @product: as it is sold, raw bytes; empty if the system does not tell
 * @hip_index: HIP's number for it, without *_VISIBLE_DEVICES
 * @smi_index: rocm-smi's number for it, -1 if it is not known
 */
struct kfd_gpu {
	unsigned int gpu_id;
	unsigned int node;
	char name[KFDLIB_NAME];
	char gfx[16];
	char pci[32];
	char product[KFDLIB_NAME];
	int hip_index, smi_index;
};

/**
 * struct kfd_topology - the GPU nodes
 * @gpus: array of @nr, in the order of sysfs
 * @nr: how many
 */
struct kfd_topology {
	struct kfd_gpu *gpus;
	size_t nr;
};

extern const char *kfd_system_root;

/* kfd-node.c */
extern const char *kfd_topology_path;
FILE *kfd_node_fopen(const char *node, const char *file);
bool kfd_topology_prop(const struct kfd_gpu *gpu, const char *name, uint64_t *value);

/* kfd-topology.c */
int kfd_topology_read(struct kfd_topology *topo);
void kfd_topology_free(struct kfd_topology *topo);
const struct kfd_gpu *kfd_topology_find(const struct kfd_topology *topo, unsigned int gpu_id);
const char *kfd_gpu_name(const struct kfd_gpu *gpu);
void kfd_names_read(struct kfd_topology *topo);

/* The scheduler of the queues of a GPU. */
enum kfd_scheduler {
	KFD_SCHEDULER_NONE, /* the kernel itself: no process is preempted */
	KFD_SCHEDULER_HWS,
	KFD_SCHEDULER_MES,
	KFD_SCHEDULER_UNKNOWN,
};

enum kfd_scheduler kfd_scheduler(const struct kfd_gpu *gpu, const char *root, const char **how);
/* Whether a GPU is the simulated one. */
enum simulated {
	SIMULATED_UNKNOWN, /* that cannot be seen, or is not recorded */
	SIMULATED_NO,
	SIMULATED_YES,
};

enum simulated kfd_simulated(const char *root);

/**
 * struct tracing - tracefs on this host
 * @dir: where it is mounted; empty if it is not
 * @why: what keeps events from being recorded, raw bytes; empty if nothing does
 * @todo: the next step then
 */
struct tracing {
	char dir[KFDLIB_PATH];
	char why[KFDLIB_WHY];
	char todo[KFDLIB_WHY];
};

int tracing_find(const char *root, struct tracing *tracing);
bool lockdown_is_confidentiality(const char *root);

/* Which characters text_escape() leaves as they are. */
enum text_charset {
	TEXT_LOCALE, /* those of the locale: for a terminal */
	TEXT_UTF8,   /* for a file, whose reader may have another locale */
	TEXT_ASCII,  /* for a log */
};

size_t text_decode(const char *text, unsigned int *code);
const char *text_unseen(unsigned int code, bool *part);
char *text_escape(const char *raw, enum text_charset charset);
char *text_printable(const char *raw);
char *text_utf8(const char *raw);
char *text_json_printable(const char *json);
const char *text_shown(char *text, size_t size);
void text_copy(char *to, size_t size, const char *text);
size_t text_width(const char *text);

void duration_format(char *text, size_t size, uint64_t ns);
void text_time(char *text, size_t size, uint64_t ns, uint64_t zero_ns);

/* The state of a process on a GPU: the words of all tables, JSON and CSV. */
enum kfd_state {
	KFD_STATE_NONE,	      /* it has no queue there */
	KFD_STATE_INACTIVE,   /* none of its queues is active */
	KFD_STATE_ACTIVE,     /* one is; whether there is work in it, KFD does not know */
	KFD_STATE_PREEMPTING, /* others are off the GPU for it */
	KFD_STATE_PARKED,     /* it has no work, and is off the GPU until it rings */
	KFD_STATE_PREEMPTED,
	KFD_STATE_THROTTLED,  /* it has work, and its groups keep it off the GPU */
	KFD_STATE_EVICTED,    /* by KFD */
	KFD_STATE_ENDED,      /* shown once, by kfdtrace live */
};

enum kfd_state kfd_state(const struct kfd_prio_list_entry *entry);
const char *kfd_state_name(enum kfd_state state);

#endif /* KFDLIB_H */
