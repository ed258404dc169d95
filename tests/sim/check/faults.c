// SPDX-License-Identifier: GPL-2.0
/*
 * sim-faults: faults on request, resets and VM faults, and what processes hear of them.
 * To be run with queue_preemption_timeout_ms=300 or so.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define MS	1000000ULL
#define SEC	1000000000ULL
#define WORK	60			/* dispatches of 100 ms that a process has to do */
#define NOWHERE	0x123456789000ULL	/* nobody maps this */

static long long pages;	/* ram_pages of the idle GPU */
static bool mes;	/* it has MES, which unmaps single queues */

static void nap(unsigned int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS }, NULL);
}

/* ---- a process that uses the GPU and waits for what happens to it ---- */

/**
 * struct heard - what such a process says
 * @type: KFD_IOC_EVENT_HW_EXCEPTION or _MEMORY, 0: nothing came
 * @gpu: is it about its GPU?
 * @cause: reset cause, or whether the page was not present
 * @va: of the fault
 * @left: dispatches that are not complete
 */
struct heard {
	unsigned int type;
	bool gpu;
	unsigned int cause;
	unsigned long long va;
	long long left;
};

/**
 * struct user - what it shall do
 * @bad: VA that a packet touches; 0: none
 * @sdma: the packet is SDMA's
 * @ms: how long it waits for an event
 */
struct user {
	unsigned long long bad;
	bool sdma;
	int ms;
};

static unsigned int event(struct kfdc *c, unsigned int type)
{
	struct kfd_ioctl_create_event_args a = { .event_type = type, .auto_reset = 1 };

	return ioctl(kfdc_fd(c), AMDKFD_IOC_CREATE_EVENT, &a) ? 0 : a.event_id;
}

static int user(int fd, void *arg)
{
	struct user *u = arg;
	unsigned int type[2] = { KFD_IOC_EVENT_HW_EXCEPTION, KFD_IOC_EVENT_MEMORY };
	struct kfd_event_data data[2] = {};
	struct kfd_ioctl_wait_events_args wait = {
		.events_ptr = (uintptr_t)data, .num_events = 2, .timeout = u->ms,
	};
	struct aql {
		unsigned short header, reserved[27];
		unsigned long long signal;
	} __attribute__((packed, aligned(4))) barrier = { .header = 3, .signal = u->bad };
	struct kfdc_ring *ring = NULL;
	struct heard h = {};
	struct kfdc_signal *s;
	struct kfdc_queue *q;
	struct kfdc *c;
	int i;

	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q) || kfdc_signal_create(c, true, &s) ||
	    (u->sdma && kfdc_ring_create(c, NULL, &ring))) {
		fprintf(stderr, "# user: %s\n", kfdc_error());
		return 1;
	}
	for (i = 0; i < 2; i++) {
		data[i].event_id = event(c, type[i]);
		if (!data[i].event_id)
			return 1;
	}
	kfdc_signal_set(s, WORK);
	for (i = 0; i < WORK; i++)
		if (kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = SEC / 10, .signal = s }))
			return 1;
	if (write(fd, "r", 1) != 1)
		return 1;
	if (u->bad) {
		if (ring) {
			if (kfdc_sdma_fence(ring, (void *)(uintptr_t)u->bad, 1))
				return 1;
			kfdc_ring_submit(ring);
		} else {
			struct kfdc_queue *q2;

			if (kfdc_queue_create(c, NULL, &q2) || kfdc_packet(q2, &barrier, true))
				return 1;
		}
	}
	while (ioctl(kfdc_fd(c), AMDKFD_IOC_WAIT_EVENTS, &wait) && errno == EINTR)
		;
	if (wait.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE) {
		/* the one that did not come has no data */
		if (data[1].memory_exception_data.gpu_id) {
			h.type = KFD_IOC_EVENT_MEMORY;
			h.gpu = data[1].memory_exception_data.gpu_id == kfdc_gpu_id(c);
			h.cause = data[1].memory_exception_data.failure.NotPresent;
			h.va = data[1].memory_exception_data.va;
		} else {
			h.type = KFD_IOC_EVENT_HW_EXCEPTION;
			/* before 6.7 amdkfd wakes the process and gives it no data */
			h.gpu = data[0].hw_exception_data.gpu_id == kfdc_gpu_id(c) ||
				!data[0].hw_exception_data.gpu_id;
			h.cause = data[0].hw_exception_data.reset_cause;
		}
	}
	/* nothing of it runs any more */
	h.left = kfdc_signal_value(s);
	nap(350);
	if (kfdc_signal_value(s) != h.left)
		h.left = -1;
	if (write(fd, &h, sizeof(h)) != sizeof(h))
		return 1;
	pause();
	return 0;
}

static struct sim_child start_user(struct user *u)
{
	struct sim_child ch = sim_child(user, u);
	char ready;

	if (!sim_child_hear(&ch, &ready, 1, 20000))
		tap_bail("a process could not begin to use the GPU");
	return ch;
}

static struct heard hear(const struct sim_child *ch)
{
	struct heard h = { .type = 99 };

	sim_child_hear(ch, &h, sizeof(h), 30000);
	return h;
}

static bool resets(long long n)
{
	int i;

	for (i = 0; i < 500 && sim_counter(0, "resets") != n; i++)
		nap(20);
	return sim_counter(0, "resets") == n;
}

/* ---- SMI events: of a GPU, whoever causes them ---- */

static int smi_reader(int fd, void *arg)
{
	unsigned long long mask = KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_PRE_RESET) |
				  KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_POST_RESET) |
				  KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_VMFAULT) |
				  KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_ALL_PROCESS);
	struct kfd_ioctl_smi_events_args a = {};
	struct pollfd p = { .events = POLLIN };
	struct kfdc *c;
	char buf[1024];
	ssize_t n;

	(void)arg;
	if (kfdc_open(&c, 0))
		return 1;
	a.gpuid = kfdc_gpu_id(c);
	if (ioctl(kfdc_fd(c), AMDKFD_IOC_SMI_EVENTS, &a) ||
	    write(a.anon_fd, &mask, sizeof(mask)) != sizeof(mask) || write(fd, "r", 1) != 1)
		return 1;
	p.fd = a.anon_fd;
	while (poll(&p, 1, 60000) == 1) {
		n = read(a.anon_fd, buf, sizeof(buf));
		if (n <= 0 || write(fd, buf, n) != n)
			break;
	}
	return 0;
}

/* All that it has heard within @ms of silence */
static const char *smi_text(const struct sim_child *ch)
{
	static char buf[16384];
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(buf) - 1 && poll(&p, 1, 300) == 1) {
		n = read(ch->fd, buf + len, sizeof(buf) - 1 - len);
		if (n <= 0)
			break;
		len += n;
	}
	buf[len] = 0;
	return buf;
}

static struct sim_child start_smi(void)
{
	struct sim_child ch = sim_child(smi_reader, NULL);
	char ready;

	if (!sim_child_hear(&ch, &ready, 1, 20000))
		tap_bail("no SMI events");
	return ch;
}

static unsigned int lines_with(const char *text, const char *start)
{
	unsigned int n = 0;
	const char *s;

	for (s = text; s && *s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
		n += !strncmp(s, start, strlen(start));
	return n;
}

/* ---- tests ---- */

static void test_settings(void)
{
	static const char * const bad[] = { "", "x", "-1", "+", "0+", "1 2", "pid 5", "18446744073709551616" };
	const char *s;
	unsigned int i, refused = 0;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refused += sim_write(0, "fault/map_memory", bad[i]) == EINVAL;
	tap_eq(refused, i, "settings that make no sense are EINVAL");
	sim_fault_set(0, "map_memory", "3+");
	s = sim_read(0, "fault/map_memory");
	tap_ok(s && !strncmp(s, "3+ seen 0 ", 10), "a setting reads back: 3+");
	tap_eq(sim_use(0, false), ENOMEM, "the third mapping fails, and what it was for");
	tap_ok(sim_fault_struck(0, "map_memory") >= 1, "it says that it struck");
	sim_fault_set(0, "map_memory", "0");
	tap_eq(sim_use(0, true), 0, "switched off, all is well");
}

/* Something keeps an unmap from ending: the next who needs one gets an error, the GPU is reset */
static void test_stuck(const char *fault, bool by_pid)
{
	struct user u = { .ms = 20000 };
	long long n = sim_counter(0, "resets"), struck = sim_fault_struck(0, fault);
	struct sim_child ch = start_user(&u);
	char setting[32] = "1";
	struct heard h;
	int err;

	if (by_pid)
		snprintf(setting, sizeof(setting), "pid %d", ch.pid);
	sim_fault_set(0, fault, setting);
	if (mes && by_pid) {
		/* nobody else needs an unmap of it */
		snprintf(setting, sizeof(setting), "%d", ch.pid);
		tap_eq(sim_write(0, "evict", setting), 0, "%s by pid: the process is evicted", fault);
	} else {
		err = sim_use(0, false);
		tap_ok(err == ETIME || err == EIO, "%s%s: who needs an unmap gets an error (%s)",
		       fault, by_pid ? " by pid" : "", strerror(err));
	}
	tap_ok(resets(n + 1), "... the GPU is reset once");
	tap_ok(sim_fault_struck(0, fault) > struck, "... it struck");
	sim_fault_set(0, fault, "0");
	h = hear(&ch);
	tap_ok(h.type == KFD_IOC_EVENT_HW_EXCEPTION && h.gpu &&
	       h.cause == KFD_HW_EXCEPTION_GPU_HANG, "... the process that waits hears of it");
	tap_ok(h.left > 0, "... and nothing of it runs any more (%lld left)", h.left);
	tap_eq(sim_use(0, true), 0, "... a new process works beside it");
	sim_child_kill(&ch);
	tap_ok(sim_clean(0, pages), "... nothing stays of either");
}

static int lost_irq(int fd, void *arg)
{
	struct kfdc_signal *s;
	struct kfdc_queue *q;
	struct kfdc *c;
	uint64_t t[2];
	int i;

	(void)arg;
	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q) || kfdc_signal_create(c, true, &s))
		return 1;
	for (i = 0; i < 2; i++) {
		sim_fault_set(0, "lost_irq", i ? "0" : "1");
		kfdc_signal_set(s, 1);
		t[i] = kfdc_now();
		/* the event does not come, the wait ends by its timeout; the value is there */
		if (kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = s }) ||
		    kfdc_signal_wait(s, 2 * SEC))
			return 1;
		t[i] = kfdc_now() - t[i];
	}
	return write(fd, t, sizeof(t)) != sizeof(t);
}

static void test_lost_irq(void)
{
	struct sim_child ch = sim_child(lost_irq, NULL);
	uint64_t t[2] = {};

	sim_child_hear(&ch, t, sizeof(t), 20000);
	sim_child_end(&ch, 5000);
	tap_ok(t[0] >= 1900 * MS && t[1] && t[1] < 1500 * MS,
	       "lost_irq: who sleeps is woken by his timeout (%.0f ms), then all is well (%.0f ms)",
	       t[0] / 1e6, t[1] / 1e6);
}

static void test_vm_fault(bool sdma)
{
	struct user u = { .bad = NOWHERE, .sdma = sdma, .ms = 20000 }, quiet = { .ms = 2000 };
	const char *what = sdma ? "SDMA" : "AQL", *text;
	long long n = sim_counter(0, "resets"), faults = sim_counter(0, "vm_faults");
	struct sim_child smi = start_smi(), bystander = start_user(&quiet), ch = start_user(&u);
	struct heard h = hear(&ch);
	char want[32];

	tap_ok(h.type == KFD_IOC_EVENT_MEMORY && h.gpu && h.cause,
	       "VM fault of %s: the process hears of it: page not present", what);
	tap_eq(h.va, NOWHERE, "... at that address");
	tap_ok(h.left > 0, "... and it is evicted (%lld of %d dispatches left)", h.left,
	       WORK);
	tap_eq(sim_counter(0, "vm_faults") - faults, 1, "... the GPU counts one");
	text = smi_text(&smi);
	snprintf(want, sizeof(want), "1 %x:", ch.pid);
	if (strstr(sim_read(0, "state"), "profile navi2")) {
		tap_skip("... SMI says who it was", "kfd_int_process_v10.c sends no such event");
	} else {
		tap_ok(lines_with(text, want) == 1, "... SMI says who it was");
		if (!lines_with(text, want))
			tap_diag("wanted \"%s\" in: %s", want, text);
	}
	h = hear(&bystander);
	tap_ok(!h.type && h.left < WORK, "... another process hears nothing and goes on");
	tap_eq(sim_use(0, true), 0, "... a new process works");
	tap_eq(sim_counter(0, "resets"), n, "... without a reset");
	sim_child_kill(&smi);
	sim_child_kill(&ch);
	sim_child_kill(&bystander);
	tap_ok(sim_clean(0, pages), "... nothing stays of either");
}

/* Opens, makes queues, goes, again and again */
static int churn(int fd, void *arg)
{
	(void)arg;
	do
		sim_use(0, false);
	while (write(fd, "x", 1) == 1);
	return 0;
}

static void test_resets(unsigned int rounds)
{
	long long n = sim_counter(0, "resets");
	struct sim_child smi = start_smi(), churning = sim_child(churn, NULL), ch[3];
	struct user u = { .ms = 20000 };
	unsigned int i, k, heard = 0, bad = 0, pre, post;
	struct heard h;
	const char *text;
	char pid[16];

	for (i = 0; i < rounds; i++) {
		for (k = 0; k < 3; k++)
			ch[k] = start_user(&u);
		/* the first runs, the second is being evicted, the third ends, the fourth begins */
		snprintf(pid, sizeof(pid), "%d", ch[1].pid);
		sim_write(0, "evict", pid);
		kill(ch[2].pid, SIGKILL);
		nap(i * 7 % 23);
		if (sim_write(0, "reset", "1"))
			bad++;
		for (k = 0; k < 2; k++) {
			h = hear(&ch[k]);
			heard += h.type == KFD_IOC_EVENT_HW_EXCEPTION && h.gpu;
			if (h.left <= 0)
				bad++;
		}
		for (k = 0; k < 3; k++)
			sim_child_kill(&ch[k]);
	}
	sim_child_kill(&churning);
	n = sim_counter(0, "resets") - n;
	/*
	 * With MES, amdkfd forgets a process that ends while the reset begins: it asks for the removal
	 * of its queue afterwards, of which MES knows nothing, and amdkfd resets once more.
	 */
	tap_ok(n >= rounds && n <= (mes ? 2 * rounds : rounds), "%u resets on request (%lld)", rounds, n);
	tap_eq(heard, 2 * rounds, "... running and evicted processes hear of each");
	tap_eq(bad, 0, "... and nothing of theirs runs any more");
	text = smi_text(&smi);
	pre = lines_with(text, "3 ");
	post = lines_with(text, "4 ");
	/* the file keeps 1024 bytes */
	tap_ok(pre && pre == post && (sim_old_kernel() || strstr(text, "user trigger")),
	       "... SMI says so, before and after (%u, %u)", pre, post);
	sim_child_kill(&smi);
	tap_eq(sim_use(0, true), 0, "... a new process works");
	tap_ok(sim_clean(0, pages), "... nothing stays");
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? atoi(argv[1]) : 20;

	mes = argc > 2 && !strcmp(argv[2], "mes");
	pages = sim_counter(0, "ram_pages");
	test_settings();
	if (mes) {
		test_stuck("mes_remove", false);
	} else {
		test_stuck("hang", false);
		test_stuck("no_fence", false);
	}
	test_stuck("no_preempt", false);
	test_stuck("no_preempt", true);
	test_lost_irq();
	test_vm_fault(false);
	test_vm_fault(true);
	test_resets(rounds);
	return tap_done();
}
