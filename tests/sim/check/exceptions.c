// SPDX-License-Identifier: GPL-2.0
/*
 * sim-exceptions OBJECT: memory exceptions of dispatches that are executed. TAP.
 *
 * A vector add of OBJECT, see execute.h, writes where it must not. The queue stops, the dispatch does not complete, and
 * the process gets amdkfd's memory event with the reason and the page. Meanwhile another process computes products,
 * which stay right.
 */
#include "execute.h"
#include "simgpu.h"
#include <linux/kfd_ioctl.h>

#define BYTES	(ALL * sizeof(uint32_t))
#define MIDDLE	(ALL / 2)

enum where { NOT_MAPPED, READ_ONLY_PAGE, USERPTR_GONE, USERPTR_GOES, WHERES };

static const struct bad {
	const char *name;
	bool read_only;
	bool running;	/* it becomes bad while the kernel runs */
} bad[WHERES] = {
	[NOT_MAPPED] = { .name = "an address that is not mapped" },
	[READ_ONLY_PAGE] = { .name = "a read-only page", .read_only = true },
	[USERPTR_GONE] = { .name = "a userptr whose memory was unmapped" },
	[USERPTR_GOES] = { .name = "a userptr whose memory is unmapped in mid-kernel", .running = true },
};

/* What a process says of its exception */
struct heard {
	bool event, gpu, not_present, read_only, no_execute;
	uint64_t va, target;
	uint64_t gfx;	/* gfx_target_version */
	int64_t signal;
};

/* Of the process beside it */
static struct {
	uint32_t rounds, wrong;
} *beside;

/* Memory of the process that the GPU sees, and may write to if @writable */
static uint32_t *own_memory(bool writable)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct kfd_ioctl_alloc_memory_of_gpu_args alloc = {
		.va_addr = (uintptr_t)p, .mmap_offset = (uintptr_t)p, .size = BYTES, .gpu_id = kfdc_gpu_id(c),
		.flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT |
			 (writable ? KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE : 0),
	};
	struct kfdc_bo bo = { .va = p, .size = BYTES };

	if (p == MAP_FAILED || ioctl(kfdc_fd(c), AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &alloc))
		tap_bail("a userptr: %s", strerror(errno));
	bo.handle = alloc.handle;
	must(kfdc_bo_map(c, &bo));
	return p;
}

static uint32_t *place(enum where where)
{
	uint32_t *p;

	switch (where) {
	case NOT_MAPPED:
		/* the lowest pages may be amdkfd's own: up to 6.6 its trap handler is there */
		p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			tap_bail("mmap: %s", strerror(errno));
		return p;
	case READ_ONLY_PAGE:
		return own_memory(false);
	default:
		p = own_memory(true);
		if (where == USERPTR_GONE)
			munmap(p, BYTES);
		return p;
	}
}

static int victim(int fd, void *arg)
{
	enum where where = (const struct bad *)arg - bad;
	struct kfd_ioctl_create_event_args create = { .event_type = KFD_IOC_EVENT_MEMORY };
	struct kfd_event_data data = {};
	struct kfd_ioctl_wait_events_args wait = {
		.events_ptr = (uintptr_t)&data, .num_events = 1, .timeout = 4000,
	};
	const struct kfd_hsa_memory_exception_data *e = &data.memory_exception_data;
	struct kfdc_signal *s;
	struct kfdc_queue *q;
	struct heard h = {};
	int i;

	must(kfdc_open(&c, 0));
	prepare(file);
	must(kfdc_queue_create(c, NULL, &q));
	must(kfdc_signal_create(c, true, &s));
	if (ioctl(kfdc_fd(c), AMDKFD_IOC_CREATE_EVENT, &create))
		return 1;
	data.event_id = create.event_id;
	target = place(where);
	/* short: its time is over before amdkfd takes it off */
	begin(q, &tests[0], where == USERPTR_GOES ? 40 * MS : 20 * US, s);
	if (where == USERPTR_GOES) {
		for (i = 0; i < 10000 && !__atomic_load_n(&target[MIDDLE], __ATOMIC_SEQ_CST); i++)
			sleep_ns(100 * US);
		munmap(target, BYTES);
	}
	while (ioctl(kfdc_fd(c), AMDKFD_IOC_WAIT_EVENTS, &wait) && errno == EINTR)
		;
	h.event = wait.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE;
	h.gpu = e->gpu_id == kfdc_gpu_id(c);
	h.not_present = e->failure.NotPresent;
	h.read_only = e->failure.ReadOnly;
	h.no_execute = e->failure.NoExecute;
	h.va = e->va;
	h.target = (uintptr_t)target;
	must(kfdc_prop(c, "gfx_target_version", &h.gfx));
	/* nothing of it runs any more */
	sleep_ns(200 * MS);
	h.signal = kfdc_signal_value(s);
	return write(fd, &h, sizeof(h)) != sizeof(h);
}

static int neighbour(int fd, void *stop)
{
	struct kfdc_signal *s;
	struct kfdc_queue *q;

	(void)fd;
	must(kfdc_open(&c, 0));
	prepare(file);
	must(kfdc_queue_create(c, NULL, &q));
	must(kfdc_signal_create(c, true, &s));
	while (!stop) {
		begin(q, &tests[3], 5 * MS, s);
		must(kfdc_signal_wait(s, 60 * SEC));
		__atomic_fetch_add(&beside->wrong, !right(), __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&beside->rounds, 1, __ATOMIC_SEQ_CST);
	}
	return 0;
}

/* Does the process beside it end three more dispatches? */
static bool goes_on(void)
{
	uint32_t from = __atomic_load_n(&beside->rounds, __ATOMIC_SEQ_CST);
	uint64_t end = kfdc_now() + 20 * SEC;

	while (__atomic_load_n(&beside->rounds, __ATOMIC_SEQ_CST) - from < 3) {
		if (kfdc_now() > end)
			return false;
		sleep_ns(5 * MS);
	}
	return true;
}

/* Does amdkfd pass memory exceptions on?  On gfx11 Linux 6.1 does not: it has this disabled in kfd_int_process_v11.c */
static bool passed_on(const struct heard *h)
{
	return !(sim_old_kernel() && h->gfx >= 110000);
}

/* What the process was told */
static void told_right(const struct bad *b, const struct heard *h)
{
	tap_ok(h->event && h->gpu, "%s: the process gets a memory event of the GPU", b->name);
	if (!tap_ok(h->not_present == !b->read_only && h->read_only == b->read_only && !h->no_execute,
		    "... not present: %d, read-only: %d", !b->read_only, b->read_only))
		tap_diag("not present: %d, read-only: %d, no execute: %d", h->not_present, h->read_only, h->no_execute);
	if (b->running)
		tap_ok(h->va >= h->target + MIDDLE * sizeof(*target) && h->va < h->target + BYTES,
		       "... with a page of what was left to be written");
	else
		tap_ok(h->va == h->target, "... with the page of the first access");
	if (h->va - h->target >= BYTES)
		tap_diag("page %#llx, of what begins at %#llx", (unsigned long long)h->va, (unsigned long long)h->target);
}

static void try(const struct bad *b)
{
	uint64_t faults = counter("vm_faults");
	struct heard h = {};
	struct sim_child ch = sim_child(victim, (void *)b);
	bool told = sim_child_hear(&ch, &h, sizeof(h), 60000), on;

	on = goes_on();
	sim_child_end(&ch, 20000);
	if (!told)
		tap_bail("%s: the process does not answer", b->name);
	if (passed_on(&h))
		told_right(b, &h);
	else
		tap_ok(!h.event, "%s: amdkfd of Linux 6.1 does not tell the process", b->name);
	tap_eq(counter("vm_faults") - faults, 1, "... once");
	tap_eq(h.signal, 1, "... and the dispatch does not complete");
	tap_ok(on, "... the queue of another process goes on");
}

int main(int argc, char **argv)
{
	uint64_t executed = counter("executed");
	struct sim_child ch;
	int i;

	if (argc != 2)
		tap_bail("usage: sim-exceptions OBJECT");
	file = argv[1];
	beside = mmap(NULL, sizeof(*beside), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (beside == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	ch = sim_child(neighbour, NULL);
	tap_ok(goes_on(), "a process computes products");
	for (i = 0; i < WHERES; i++)
		try(&bad[i]);
	sim_child_kill(&ch);
	tap_eq(beside->wrong, 0, "all %u products of the other process are right", beside->rounds);
	tap_ok(counter("executed") - executed >= beside->rounds + WHERES, "all of it was executed");
	tap_eq(counter("resets"), 0, "no reset was needed");
	return tap_done();
}
