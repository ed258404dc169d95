// SPDX-License-Identifier: GPL-2.0
/*
 * sim-packets: AQL queues on the simulated GPU: what a barrier waits for, which packets are
 * refused and who is told, several producers, wrap-around, 100 unmaps. For --icount.
 */
#include "packets.h"

#include <pthread.h>
#include <sys/wait.h>

enum { VENDOR = 0, INVALID = 1, DISPATCH = 2, BARRIER_AND = 3, AGENT = 4, BARRIER_OR = 5 };

/* amd_signal_t as far as it is used here */
struct signal {
	int64_t kind;
	volatile int64_t value;
	uint64_t mailbox;
	uint32_t event, rest[9];
};

struct dispatch {
	uint16_t header, setup, wg[3], reserved0;
	uint32_t grid[3], private_size, group_size;
	uint64_t kernel_object, kernarg, ns, signal;
};

struct barrier {
	uint16_t header, reserved0;
	uint32_t reserved1;
	uint64_t dep[5], reserved2, signal;
};

struct barrier_value {
	uint16_t header;
	uint8_t format, reserved0;
	uint32_t reserved1;
	uint64_t dep;
	int64_t value, mask;
	uint32_t cond, reserved2;
	uint64_t reserved3[2], signal;
};

struct pm4_ib {
	uint16_t header, format;
	uint32_t jump[4], remain, reserved[8];
	uint64_t signal;
};

static struct kfdc_queue *queue_new(uint32_t packets)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;
	struct kfdc_queue *q;

	attr.packets = packets;
	must(kfdc_queue_create(c, &attr, &q));
	return q;
}

static struct kfdc_signal *signal_new(int64_t value)
{
	struct kfdc_signal *s;

	must(kfdc_signal_create(c, false, &s));
	kfdc_signal_set(s, value);
	return s;
}

/* Has the signal this value, and does it keep it? */
static bool stays(struct kfdc_signal *s, int64_t value)
{
	sleep_ns(2 * MS);
	return kfdc_signal_value(s) == value;
}

/* Queue 0 waits for all or one of the dispatches of five queues */
static void across_queues(void)
{
	struct kfdc_queue *q[6];
	struct kfdc_signal *dep[5], *s = signal_new(1);
	uint64_t t;
	int i, any;

	for (i = 0; i < 6; i++)
		q[i] = queue_new(64);
	for (i = 0; i < 5; i++)
		dep[i] = signal_new(1);
	for (any = 0; any < 2; any++) {
		kfdc_signal_set(s, 1);
		for (i = 0; i < 5; i++)
			kfdc_signal_set(dep[i], 1);
		must(kfdc_barrier(q[0], any, dep, 5, s));
		t = kfdc_now();
		for (i = 0; i < 5; i++)
			must(kfdc_dispatch(q[1 + i], &(struct kfdc_dispatch){ .ns = 2 * MS,
									      .signal = dep[i] }));
		must(kfdc_signal_wait(s, 20 * SEC));
		t = kfdc_now() - t;
		tap_ok(any ? t >= 2 * MS && t < 4 * MS : t >= 10 * MS && t < 12 * MS,
		       "barrier-%s of five queues' 2 ms opens after %.3f ms", any ? "OR" : "AND", t / 1e6);
		for (i = 0; i < 5; i++)
			must(kfdc_signal_wait(dep[i], 20 * SEC));
	}
	for (i = 0; i < 6; i++)
		must(kfdc_queue_destroy(q[i]));
	for (i = 0; i < 5; i++)
		kfdc_signal_destroy(dep[i]);
	kfdc_signal_destroy(s);
}

/* The signals lie in memory that two processes share and both have given to their GPU VM */
static void across_processes(void)
{
	struct signal *sig = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct barrier b = { .header = BARRIER_AND, .dep = { (uintptr_t)&sig[0] },
			     .signal = (uintptr_t)&sig[1] };
	struct dispatch d = { .header = DISPATCH, .setup = 1, .wg = { 64, 1, 1 },
			      .grid = { 64, 1, 1 }, .ns = 2 * MS, .signal = (uintptr_t)&sig[0] };
	struct kfdc_queue *q;
	uint64_t end;
	int status = -1;
	pid_t pid;

	sig[0].value = 1;
	sig[1].value = 1;
	sig[2].value = 0;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct kfdc *mine;

		must(kfdc_open(&mine, 0));
		userptr(mine, sig, 4096);
		must(kfdc_queue_create(mine, NULL, &q));
		sig[2].value = 1;
		while (sig[2].value != 2)
			sleep_ns(100 * US);
		must(kfdc_packet(q, &d, true));
		for (end = kfdc_now() + 20 * SEC; sig[0].value && kfdc_now() < end;)
			sleep_ns(100 * US);
		must(kfdc_queue_destroy(q));
		kfdc_close(mine);
		_exit(sig[0].value != 0);
	}
	must(kfdc_open(&c, 0));
	userptr(c, sig, 4096);
	q = queue_new(64);
	must(kfdc_packet(q, &b, true));
	for (end = kfdc_now() + 20 * SEC; !sig[2].value && kfdc_now() < end;)
		sleep_ns(100 * US);
	sleep_ns(2 * MS);
	tap_ok(sig[1].value == 1, "a barrier waits for another process");
	sig[2].value = 2;
	for (end = kfdc_now() + 20 * SEC; sig[1].value && kfdc_now() < end;)
		sleep_ns(100 * US);
	tap_ok(!sig[1].value && !sig[0].value, "and opens when the other's dispatch is complete");
	waitpid(pid, &status, 0);
	tap_eq(status, 0, "the other process ends well");
	must(kfdc_queue_destroy(q));
}

static void barrier_values(void)
{
	static const struct {
		uint32_t cond;
		int64_t value, mask, before, after;
		const char *what;
	} t[] = {
		{ 0, 5, -1, 4, 5, "equal" },
		{ 1, 5, -1, 5, 6, "not equal" },
		{ 2, -3, -1, -3, -4, "less, signed" },
		{ 3, 5, -1, 4, 5, "not less" },
		{ 0, 0x20, 0xf0, 0x1f, 0x2f, "equal under a mask" },
	};
	struct kfdc_signal *dep = signal_new(0), *s = signal_new(0);
	struct kfdc_queue *q = queue_new(64);
	struct barrier_value p = { .header = VENDOR, .format = 2 };
	unsigned int i;
	bool waits;

	p.dep = (uintptr_t)kfdc_signal_mem(dep);
	p.signal = (uintptr_t)kfdc_signal_mem(s);
	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		kfdc_signal_set(s, 1);
		kfdc_signal_set(dep, t[i].before);
		p.cond = t[i].cond;
		p.value = t[i].value;
		p.mask = t[i].mask;
		must(kfdc_packet(q, &p, true));
		waits = stays(s, 1);
		kfdc_signal_set(dep, t[i].after);
		tap_ok(!kfdc_signal_wait(s, 20 * SEC) && waits, "barrier-value: %s", t[i].what);
	}
	must(kfdc_queue_destroy(q));
	kfdc_signal_destroy(dep);
	kfdc_signal_destroy(s);
}

/* The PM4-IB packet: ROCr's for cache maintenance; here the buffer writes and waits */
static void pm4_ib(void)
{
	struct kfdc_queue *q = queue_new(64);
	struct kfdc_signal *s = signal_new(1);
	volatile uint32_t *m;
	struct kfdc_bo bo;
	struct pm4_ib p = { .header = VENDOR, .format = 1, .remain = 10 };
	uint64_t a;

	must(kfdc_bo_alloc(c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &bo));
	m = bo.va;
	a = (uintptr_t)(m + 8);
	memcpy((void *)m, (uint32_t []){
		3u << 30 | 3 << 16 | 0x37 << 8, 5 << 8, a, a >> 32, 0x1234 }, 20);
	a += 4;
	memcpy((void *)(m + 16), (uint32_t []){
		3u << 30 | 5 << 16 | 0x3c << 8, 3 | 1 << 4, a, a >> 32, 1, ~0u, 4 }, 28);
	memcpy((void *)(m + 5), (uint32_t []){ 3u << 30 | 1 << 16 | 0x10 << 8, 0, 0 }, 12);
	a = (uintptr_t)m;
	p.jump[0] = 3u << 30 | 2 << 16 | 0x3f << 8;
	p.jump[1] = a;
	p.jump[2] = a >> 32;
	p.jump[3] = 5 | 1 << 23;
	p.signal = (uintptr_t)kfdc_signal_mem(s);
	must(kfdc_packet(q, &p, true));
	tap_ok(!kfdc_signal_wait(s, 20 * SEC) && m[8] == 0x1234,
	       "PM4-IB: the buffer is executed, then the signal is given");
	kfdc_signal_set(s, 2);
	a = (uintptr_t)(m + 16);
	p.jump[1] = a;
	p.jump[2] = a >> 32;
	p.jump[3] = 7 | 1 << 23;
	must(kfdc_packet(q, &p, true));
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 10000, .signal = s }));
	tap_ok(stays(s, 2), "PM4-IB: what is behind it waits for the end of its buffer");
	m[9] = 1;
	tap_ok(!kfdc_signal_wait(s, 20 * SEC), "PM4-IB: and goes on");
	must(kfdc_queue_destroy(q));
	kfdc_signal_destroy(s);
	kfdc_bo_free(c, &bo);
}

/* Bad packets: the queue stops, and ROCr's queue_inactive_signal says why */
static void refused(void)
{
	static const struct {
		const char *what;
		int64_t code;
		uint16_t packet[32];
	} bad[] = {
		{ "an unknown packet", 32, { 99 } },
		{ "an agent dispatch", 32, { AGENT } },
		{ "an unknown vendor packet", 256, { VENDOR, 7 } },
		{ "a PM4-IB packet without its jump", 256, { VENDOR, 1 } },
		{ "a dispatch of no dimension", 2, { DISPATCH, 0, 64, 1, 1, 0, 64 } },
		{ "a work-group of 0", 2, { DISPATCH, 1, 0, 1, 1, 0, 64 } },
		{ "a work-group of 4096", 64, { DISPATCH, 2, 64, 64, 1, 0, 64, 0, 64, 0, 1 } },
	};
	struct kfdc_queue *q, *good = queue_new(64);
	struct kfdc_signal *s = signal_new(1), *inactive = signal_new(0);
	unsigned int i;
	uint64_t errors;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		q = queue_new(64);
		/* as in amd_queue_t, in which the read index is at 128 */
		*(volatile uint32_t *)((char *)q->rptr + 8) = 128;
		*(volatile uint64_t *)((char *)q->rptr + 64) = (uintptr_t)kfdc_signal_mem(inactive);
		kfdc_signal_set(inactive, 0);
		kfdc_signal_set(s, 2);
		errors = counter("queue_errors");
		must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 10000, .signal = s }));
		must(kfdc_packet(q, bad[i].packet, true));
		must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 10000, .signal = s }));
		sleep_ns(MS);
		must(kfdc_queue_update(q, 0, 7));
		must(kfdc_queue_update(q, 100, 7));
		tap_ok(stays(s, 1) && *q->rptr == 1 && counter("queue_errors") == errors + 1,
		       "%s stops the queue for good", bad[i].what);
		tap_eq(kfdc_signal_value(inactive), bad[i].code, "and is reported");
		kfdc_signal_set(s, 1);
		must(kfdc_dispatch(good, &(struct kfdc_dispatch){ .ns = 10000, .signal = s }));
		must(kfdc_signal_wait(s, 20 * SEC));
		must(kfdc_queue_destroy(q));
	}
	must(kfdc_queue_destroy(good));
	kfdc_signal_destroy(s);
	kfdc_signal_destroy(inactive);
}

#define PRODUCERS	4
#define EACH		500

struct producer {
	pthread_t thread;
	struct kfdc_queue *q;
	struct kfdc_signal *s;
};

/* As the HSA specification says for queues of several producers */
static void *produce(void *arg)
{
	struct producer *p = arg;
	struct barrier b = { .header = BARRIER_AND, .signal = (uintptr_t)kfdc_signal_mem(p->s) };
	struct kfdc_queue *q = p->q;
	unsigned int i;
	uint64_t w;
	char *slot;

	for (i = 0; i < EACH; i++) {
		w = __atomic_fetch_add(q->wptr, 1, __ATOMIC_ACQ_REL);
		while (w - __atomic_load_n(q->rptr, __ATOMIC_ACQUIRE) >= q->attr.packets)
			sleep_ns(20 * US);
		slot = (char *)q->ring + w % q->attr.packets * 64;
		memcpy(slot + 2, (char *)&b + 2, 62);
		if (i % 7 == 0)
			sleep_ns(5 * US);
		__atomic_store_n((uint16_t *)slot, b.header, __ATOMIC_RELEASE);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		*q->doorbell = w;
	}
	return NULL;
}

static void producers(void)
{
	struct kfdc_queue *q = queue_new(64);
	struct kfdc_signal *s = signal_new(PRODUCERS * EACH);
	struct producer p[PRODUCERS];
	int i;

	for (i = 0; i < PRODUCERS; i++) {
		p[i] = (struct producer){ .q = q, .s = s };
		if (pthread_create(&p[i].thread, NULL, produce, &p[i]))
			tap_bail("pthread_create");
	}
	for (i = 0; i < PRODUCERS; i++)
		pthread_join(p[i].thread, NULL);
	must(kfdc_signal_wait(s, 20 * SEC));
	tap_ok(stays(s, 0) && *q->rptr == PRODUCERS * EACH,
	       "%d packets of %d producers through a ring of 64, each once", PRODUCERS * EACH,
	       PRODUCERS);
	must(kfdc_queue_destroy(q));
	kfdc_signal_destroy(s);
}

static void unmaps(void)
{
	uint64_t busy = counter("busy_ns"), dispatches = counter("dispatches");
	struct kfdc_queue *q = queue_new(256);
	struct kfdc_signal *s = signal_new(100);
	int i, moved = 0;
	int64_t v;

	for (i = 0; i < 100; i++)
		must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 250 * US, .signal = s }));
	for (i = 0; i < 100 && kfdc_signal_value(s); i++) {
		sleep_ns(130 * US);
		must(kfdc_queue_update(q, 0, 7));
		v = kfdc_signal_value(s);
		sleep_ns(50 * US);
		moved += kfdc_signal_value(s) != v;
		must(kfdc_queue_update(q, 100, 7));
	}
	tap_ok(i >= 80, "unmapped %d times in the middle of 100 dispatches", i);
	must(kfdc_signal_wait(s, 20 * SEC));
	tap_ok(stays(s, 0) && !moved, "each completed once, none while unmapped");
	tap_eq(counter("dispatches") - dispatches, 100, "each was launched once");
	tap_eq(counter("busy_ns") - busy, 100 * 250 * US, "and ran for 250 us in all");
	must(kfdc_queue_destroy(q));
	kfdc_signal_destroy(s);
}

/* A signal with an event of its own; @page: what KFD has for the mailboxes of all. False: there are no more */
static bool signal_event(struct signal *s, uint64_t page)
{
	struct kfd_ioctl_create_event_args args = { .event_type = KFD_IOC_EVENT_SIGNAL, .auto_reset = 1 };

	if (ioctl(kfdc_fd(c), AMDKFD_IOC_CREATE_EVENT, &args))
		return false;
	*s = (struct signal){ .kind = 1, .value = 1, .mailbox = page + 8 * args.event_slot_index,
			      .event = args.event_id };
	return true;
}

static bool event_comes(const struct signal *s, unsigned int ms)
{
	struct kfd_event_data data = { .event_id = s->event };
	struct kfd_ioctl_wait_events_args args = {
		.events_ptr = (uintptr_t)&data, .num_events = 1, .timeout = ms,
	};

	return !ioctl(kfdc_fd(c), AMDKFD_IOC_WAIT_EVENTS, &args) &&
	       args.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE;
}

/* Each tells of its end by an event of its own, all of them at about the same time */
static void many_events(void)
{
	uint64_t lost = counter("interrupts_lost"), sent = counter("interrupts"), page;
	struct kfdc_queue *q = queue_new(8192);
	struct barrier p = { .header = BARRIER_AND };
	unsigned int i, arrived = 0, n = 0;
	struct kfdc_signal *first;
	struct signal *s, *own;
	struct kfdc_bo bo;

	must(kfdc_signal_create(c, true, &first));
	own = kfdc_signal_mem(first);
	/* the slot of an event is its ID */
	page = own->mailbox - 8 * own->event;
	must(kfdc_bo_alloc(c, KFD_SIGNAL_EVENT_LIMIT * sizeof(*s), KFD_IOC_ALLOC_MEM_FLAGS_GTT, &bo));
	s = bo.va;
	while (n < KFD_SIGNAL_EVENT_LIMIT && signal_event(&s[n], page))
		n++;
	param("packet_ns", 1);
	for (i = 0; i < n; i++) {
		p.signal = (uintptr_t)&s[i];
		must(kfdc_packet(q, &p, false));
	}
	kfdc_ring(q);
	for (i = 0; i < n; i++)
		arrived += event_comes(&s[i], arrived == i ? 5000 : 0);
	param("packet_ns", 500);
	tap_ok(n > KFD_SIGNAL_EVENT_LIMIT - 64 && arrived == n,
	       "of %u packets that end within %u us, each with an event, the events of %u come", n, n / 1000, arrived);
	tap_eq(counter("interrupts") - sent, n, "an interrupt for each");
	tap_eq(counter("interrupts_lost") - lost, 0, "none was lost");
	for (i = 0; i < n; i++)
		if (ioctl(kfdc_fd(c), AMDKFD_IOC_DESTROY_EVENT,
			  &(struct kfd_ioctl_destroy_event_args){ .event_id = s[i].event }))
			tap_bail("an event: %s", strerror(errno));
	must(kfdc_queue_destroy(q));
	kfdc_bo_free(c, &bo);
	kfdc_signal_destroy(first);
}

int main(void)
{
	across_processes();	/* opens the GPU, after its fork */
	across_queues();
	barrier_values();
	pm4_ib();
	producers();
	unmaps();
	many_events();
	refused();
	kfdc_close(c);
	return tap_done();
}
