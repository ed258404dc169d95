// SPDX-License-Identifier: GPL-2.0
/* What the subject, the preemptor and the helper do.  KFD's ioctls are called directly: two lanes share one client. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient-int.h"
#include "race.h"
#include "simgpu.h"

#define WAIT_NS		20000000000ULL
#define PAGES		65536

static struct kfdc *gpu;
static struct kfdc_queue *base;		/* always there */
static struct kfdc_signal *done;
static uint64_t cwsr_area, cwsr_ctl;	/* sizes for CREATE_QUEUE */
static int restore_fd = -1;		/* simulated GPU: what a worker would do a little later, now */
static char me[16];
static struct {
	struct kfdc_queue *q;		/* its memory; KFD's queue comes and goes */
	uint32_t id;
	bool there;
	void *pages;			/* known to KFD as a userptr */
} extra[2];

static void nap_us(unsigned int us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000L }, NULL);
}

static void die(const char *what)
{
	snprintf(shared->why, sizeof(shared->why), "%s: %s", what, kfdc_error());
	_exit(2);
}

static int call(unsigned long cmd, void *arg)
{
	int r;

	do
		r = ioctl(gpu->kfd, cmd, arg);
	while (r && errno == EINTR);
	return r ? errno : 0;
}

static int destroy(uint32_t id)
{
	struct kfd_ioctl_destroy_queue_args a = { .queue_id = id };

	return call(AMDKFD_IOC_DESTROY_QUEUE, &a);
}

static int create(int nr)
{
	struct kfdc_queue *q = extra[nr].q;
	struct kfd_ioctl_create_queue_args a = {
		.ring_base_address = (uintptr_t)q->ring, .write_pointer_address = (uintptr_t)q->wptr,
		.read_pointer_address = (uintptr_t)q->rptr, .ring_size = q->attr.packets * 64, .gpu_id = gpu->gpu_id,
		.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, .queue_percentage = 100, .queue_priority = 1,
		.eop_buffer_address = (uintptr_t)q->eop_bo.va, .eop_buffer_size = 4096,
		.ctx_save_restore_address = (uintptr_t)q->cwsr_bo.va, .ctx_save_restore_size = cwsr_area,
		.ctl_stack_size = cwsr_ctl,
	};
	int err = call(AMDKFD_IOC_CREATE_QUEUE, &a);

	if (err) {
		atomic_fetch_add(&shared->refused, 1);
	} else {
		extra[nr].id = a.queue_id;
		extra[nr].there = true;
	}
	return err;
}

static int update(uint32_t percentage, uint32_t prio)
{
	struct kfd_ioctl_update_queue_args a = {
		.ring_base_address = (uintptr_t)base->ring, .queue_id = base->id,
		.ring_size = base->attr.packets * 64, .queue_percentage = percentage, .queue_priority = prio,
	};

	return call(AMDKFD_IOC_UPDATE_QUEUE, &a);
}

static int remove_extra(int nr)
{
	if (!extra[nr].there)
		return 0;
	extra[nr].there = false;
	return destroy(extra[nr].id);
}

/* Replaces the pages of a userptr: KFD's queues stop until they are found again */
static int new_pages(int nr)
{
	if (mmap(extra[nr].pages, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		return errno;
	*(volatile int *)extra[nr].pages = 1;
	return 0;
}

/* They are found again, and KFD's queues go on; amdgpu's worker would do it a few ms later. Not what a fence evicted */
static int restore(void)
{
	return write(restore_fd, me, strlen(me)) < 0 ? errno : 0;
}

static int dispatch(void)
{
	kfdc_signal_set(done, 1);
	return kfdc_dispatch(base, &(struct kfdc_dispatch){ .ns = 10000, .barrier = true, .signal = done }) ? ENOSPC : 0;
}

/* A dispatch that must complete, once */
static int work(void)
{
	if (dispatch())
		return ENOSPC;
	if (kfdc_signal_wait(done, WAIT_NS))
		return ETIMEDOUT;
	return kfdc_signal_value(done) ? EOVERFLOW : 0;
}

/* Wait until the subject is parked, up to so many us. Counted if it was not seen so before */
static void wait_parked(unsigned int us)
{
	struct kfd_prio_list_entry e;
	unsigned int waited;

	for (waited = 0; waited < us && kfd_list(shared->subject, &e, 1); waited += 200) {
		if (e.flags & KFD_PRIO_LIST_PARKED) {
			atomic_fetch_add(&shared->parks, atomic_exchange(&shared->parked, e.parked_count) != e.parked_count);
			return;
		}
		nap_us(200);
	}
}

/* Its doorbell is one lane's at a time */
static pthread_mutex_t ringing = PTHREAD_MUTEX_INITIALIZER;

static int ring(bool waits)
{
	int err;

	pthread_mutex_lock(&ringing);
	err = waits ? work() : dispatch();
	pthread_mutex_unlock(&ringing);
	return err;
}

static int subject_act(struct lane *l, int nr, enum phase phase)
{
	if (phase == WORK)
		return work();
	switch (l->op) {
	case OP_CREATE:
		return phase == GO ? create(nr) : phase == FINISH ? remove_extra(nr) : 0;
	case OP_DESTROY:
		return phase == PREPARE ? create(nr) : phase == GO ? remove_extra(nr) : 0;
	case OP_UPDATE:
		if (phase == GO)
			return update(100 * lane_random(l, 2), lane_random(l, 16));
		return phase == FINISH ? update(100, SUBJECT_PRIO) : 0;
	case OP_EVICT:
		/* mostly such that the next is one, too */
		return phase == GO ? new_pages(nr) : phase == FINISH && lane_random(l, 4) ? restore() : 0;
	case OP_RESTORE:
		return phase == PREPARE ? new_pages(nr) : phase == GO ? restore() : 0;
	case OP_EXIT:
		if (phase == GO)
			kill(getpid(), SIGKILL);
		return 0;
	case OP_UNPARK:
		/* else the ring is one of a process that is about to be parked */
		if (phase == PREPARE && lane_random(l, 4))
			wait_parked(5000);
		/* without rounds the other one resets the GPU, which takes the queue */
		return phase == GO ? ring(l->rounds) : 0;
	default:
		return 0;
	}
}

static void client_open(bool still)
{
	struct kfdc_queue_attr attr = { .priority = SUBJECT_PRIO, .percentage = 100, .packets = 64 };
	struct kfdc_queue_attr low = { .priority = SUBJECT_PRIO - 3, .percentage = 0, .packets = 64 };
	struct kfdc_queue *q;
	uint64_t total;
	struct kfdc_bo bo;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(me, sizeof(me), "%d", getpid());
	restore_fd = open("/sys/kernel/debug/kfdsim/0/restore", O_WRONLY | O_CLOEXEC);
	if (restore_fd < 0)
		die("debugfs");
	if (kfdc_open(&gpu, 0) || kfdc_queue_create(gpu, &attr, &base) || kfdc_signal_create(gpu, true, &done) ||
	    kfdc_cwsr_sizes(gpu, &cwsr_ctl, &cwsr_area, &total))
		die("a client");
	/* of another priority, and never active: with both, one may have to change and the other not */
	if (still && kfdc_queue_create(gpu, &low, &q))
		die("an inactive queue");
	for (i = 0; still && shared->extras && i < 2; i++) {
		if (kfdc_queue_create(gpu, &attr, &extra[i].q) || destroy(extra[i].q->id))
			die("a queue");
		extra[i].pages = mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (extra[i].pages == MAP_FAILED || kfdc_userptr(gpu, extra[i].pages, PAGES, &bo))
			die("a userptr");
	}
}

void subject(int fd)
{
	client_open(true);
	lanes_run(SUBJECT, subject_act, fd);
}

/* A queue and a signal are one thread's */
static struct {
	struct kfdc_queue *q;
	struct kfdc_signal *done;
} ringer[2];

/* What the barrier ends is the rest of a preemption, as a rule, or nothing */
static int preemptor_act(struct lane *l, int nr, enum phase phase)
{
	/* every fourth is long enough that others meet its middle and its end */
	uint64_t us = lane_random(l, 4) ? 10 + lane_random(l, 50) : 50 + lane_random(l, 1000);
	struct kfdc_dispatch d = { .ns = phase == HOLD ? shared->hold_ns : us * 1000, .barrier = true,
				   .signal = ringer[nr].done };

	if (l->op == OP_EXIT && phase == GO)
		kill(getpid(), SIGKILL);
	if (l->op == OP_EXIT && phase != WORK)
		return 0;
	switch (phase) {
	case PREPARE:
		if (lane_random(l, 2))
			nap_us(lane_random(l, 600));
		return 0;
	case GO:
	case HOLD:
		kfdc_signal_set(d.signal, 1);
		return kfdc_dispatch(ringer[nr].q, &d) ? ENOSPC : 0;
	case FINISH:
		return kfdc_signal_wait(d.signal, WAIT_NS) ? ETIMEDOUT : 0;
	case WORK:
		return work();
	default:
		return 0;
	}
}

void preemptor(int fd)
{
	if (kfd_set(getpid(), PREEMPTOR_PRIO, NULL))
		die("a priority");
	client_open(false);
	ringer[0].q = base;
	ringer[0].done = done;
	if (kfdc_queue_create(gpu, NULL, &ringer[1].q) || kfdc_signal_create(gpu, false, &ringer[1].done))
		die("a queue");
	/* while its indices are in a page that is not there, kfdprio cannot know that it has no work: see busy_budget_ms */
	if (*ringer[1].q->rptr != *ringer[1].q->wptr)
		die("a new queue");
	lanes_run(PREEMPTOR, preemptor_act, fd);
}

/* ---- the helper, which never has /dev/kfd open for longer than a call ---- */

static int unload(struct lane *l)
{
	unsigned int tries = 1 + lane_random(l, 4);
	int err = 0;

	while (tries--) {
		if (!syscall(SYS_delete_module, "amdgpu", O_NONBLOCK)) {
			shared->unloaded = true;
			return 0;
		}
		err = errno;
		if (err == ENOENT)
			return shared->unloaded ? 0 : ENOENT;	/* the other lane was first */
	}
	/* in use, or going already */
	return err == EAGAIN || err == EWOULDBLOCK || err == EBUSY ? 0 : err;
}

/*
 * Without a process: what would open /dev/kfd for the first time, while the module may go.  In a child: whoever
 * has had it open keeps a kfd_process, and may be ended when the GPU goes.
 */
static int newcomer(struct lane *l)
{
	uint32_t what = lane_random(l, 4), prio = lane_random(l, 17);
	struct kfd_prio_version_args v;
	pid_t pid = fork();
	int fd, status;

	if (pid < 0)
		return errno;
	if (!pid) {
		/* open fails when there is no module any more */
		if (what < 2)
			_exit(kfd_set(getpid(), (int)prio - 1, NULL) == EFAULT);
		fd = open("/dev/kfd", what == 2 ? O_ACCMODE | O_CLOEXEC : O_RDONLY | O_CLOEXEC);
		_exit(fd >= 0 && ioctl(fd, KFD_PRIO_IOC_VERSION, &v));
	}
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status))
		return EPROTO;
	return 0;
}

/* Open for as long as an order lasts, by lane: the module may go between two of them */
static struct {
	int kfd, pidfd;
} target[2] = { { -1, -1 }, { -1, -1 } };

static void target_open(int nr)
{
	target[nr].kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	target[nr].pidfd = syscall(SYS_pidfd_open, shared->subject, 0);
}

static void target_close(int nr)
{
	close(target[nr].kfd);
	close(target[nr].pidfd);
}

static int set_with(int nr, int prio, uint32_t flags)
{
	struct kfd_prio_set_args a = { .pid = shared->subject, .pidfd = target[nr].pidfd, .priority = prio, .flags = flags };

	if (target[nr].kfd < 0 || target[nr].pidfd < 0)
		return ESRCH;
	return ioctl(target[nr].kfd, KFD_PRIO_IOC_SET, &a) ? errno : 0;
}

static int set(int nr, int prio)
{
	return set_with(nr, prio, 0);
}

/* What may not be parked returns, and what may again is parked soon */
static int may_park(int nr, bool may)
{
	return set_with(nr, KFD_PRIO_UNSET, KFD_PRIO_SET_KEEP | (may ? KFD_PRIO_SET_PARK_AUTO : KFD_PRIO_SET_PARK_NEVER));
}

/*
 * Puts the process in a group, or changes its group: a limit that leaves it most of the time, a weight, or neither. Both
 * lanes change the same one
 */
static int share(struct lane *l, int nr, bool none)
{
	struct kfd_prio_share_args a = {
		.flags = KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_MAX | KFD_PRIO_SHARE_WEIGHT, .pid = shared->subject,
		.pidfd = target[nr].pidfd, .max = KFD_PRIO_MAX_NONE, .weight = KFD_PRIO_WEIGHT_NONE,
	};

	if (!none && lane_random(l, 3)) {
		a.max = 9000 + lane_random(l, 1000);
		a.flags |= lane_random(l, 2) ? KFD_PRIO_SHARE_SOFT : 0;
	}
	if (!none && lane_random(l, 2))
		a.weight = 1 + lane_random(l, 200);
	if (target[nr].kfd < 0 || target[nr].pidfd < 0)
		return EBADF;
	return ioctl(target[nr].kfd, KFD_PRIO_IOC_SHARE, &a) ? errno : 0;
}

/*
 * At random; or, every other time, such that one lane takes a priority away that the active queue would have without,
 * too, while the other sets one: what the first finds it has to change is not what the second makes of it
 */
static void choose_priority(struct lane *l, int nr)
{
	shared->prio[nr] = (int)lane_random(l, 14) - 1;
	if (lane_random(l, 2))
		return;
	shared->prio[nr] = nr ? 10 : KFD_PRIO_UNSET;
	if (!nr)
		set(nr, SUBJECT_PRIO);
}

static int suspend(struct lane *l)
{
	int err = sim_write(0, "sleep", "1");

	nap_us(lane_random(l, 500));
	/* another may be first */
	if (err == EALREADY)
		return 0;
	return err ? err : sim_write(0, "sleep", "0");
}

static int helper_act(struct lane *l, int nr, enum phase phase)
{
	char text[16];
	int err;

	if (shared->bare)
		return phase != GO ? 0 : l->op == OP_UNLOAD ? unload(l) : newcomer(l);
	if ((l->op == OP_SET || l->op == OP_PARK || l->op == OP_SHARE) && phase == BEGIN)
		target_open(nr);
	if (l->op == OP_SET && phase == PREPARE)
		choose_priority(l, nr);
	if (l->op == OP_PARK && phase == PREPARE)
		return may_park(nr, false);
	if (l->op == OP_SHARE && phase == END)
		share(l, nr, true);
	if ((l->op == OP_SET || l->op == OP_PARK || l->op == OP_SHARE) && phase == END)
		target_close(nr);
	/* what it did is done */
	if (phase != GO)
		return 0;
	switch (l->op) {
	case OP_SET:
		return set(nr, shared->prio[nr]);
	case OP_SHARE:
		return share(l, nr, false);
	case OP_EVICT:
		snprintf(text, sizeof(text), "%d", shared->subject);
		return sim_write(0, "evict", text);
	case OP_RESET:
		return sim_write(0, "reset", "1");
	case OP_UNLOAD:
		err = unload(l);
		return shared->unloaded ? EEXIST : err;		/* processes have it open */
	case OP_SUSPEND:
		return suspend(l);
	case OP_PARK:
		err = may_park(nr, true);
		wait_parked(5000);
		return err;
	default:
		return 0;
	}
}

void helper(int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	lanes_run(HELPER, helper_act, fd);
}
