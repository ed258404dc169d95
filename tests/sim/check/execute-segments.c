// SPDX-License-Identifier: GPL-2.0
/*
 * sim-execute-segments OBJECT [PREEMPTIONS]: what dispatches have beside registers, by AQL and by PM4: scratch memory, LDS of
 * the dispatch's size, and the interrupt of s_sendmsg. The kernels of tests/unit/isa/kernel in OBJECT give the host's results: as
 * they are, and after PREEMPTIONS in mid-kernel (default 20). TAP.
 */
#include "../../unit/isa/kernel/host.h"
#include "execute-pm4.h"

/* @lds dwords are there; of more, what is written is lost, and 0 is read */
static void host_dynamic(const uint32_t *a, const uint32_t *b, uint32_t *w, uint32_t n, uint32_t lds)
{
	uint32_t g, i, j, sum, at;

	for (g = 0; g < 2; g++)
		for (i = 0; i < GROUP; i++) {
			for (sum = 0, j = i; j < n; j += GROUP) {
				at = n - 1 - j;
				sum = sum * 3 + (at < lds ? a[at % 4096] + at : 0);
			}
			w[g * GROUP + i] = sum + b[i];
		}
}

static void host_whole(const uint32_t *a, const uint32_t *b, uint32_t *w, uint32_t n)
{
	host_dynamic(a, b, w, n, n);
}

static void host_half(const uint32_t *a, const uint32_t *b, uint32_t *w, uint32_t n)
{
	host_dynamic(a, b, w, n, n / 2);
}

static const struct test segments[] = {
	{ "stack", 3, 700, host_stack, 0 }, { "dynamic", 2, 2048, host_whole, 8192 }, { "dynamic", 2, 2048, host_half, 4096 },
	{ "dynamic", 2, 16384, host_whole, 65536 },
};
static const char *const what[] = {
	"tables in scratch memory", "8 KiB of LDS", "half of the LDS that it uses", "64 KiB of LDS",
};

#define SEGMENTS	(sizeof(segments) / sizeof(*segments))

static void plain(const struct way *way, void *queue, struct kfdc_signal *s)
{
	uint64_t executed = counter("executed");
	uint32_t i;

	for (i = 0; i < SEGMENTS; i++) {
		way->begin(queue, &segments[i], s);
		must(kfdc_signal_wait(s, 60 * SEC));
		tap_ok(right(), "%s%s with %s computes what the host does", way->name, segments[i].name, what[i]);
	}
	tap_eq(counter("executed") - executed, SEGMENTS, "%sall of them were executed", way->name);
}

/* Without memory for it, such a dispatch is not executed, and counted */
static void no_scratch(const struct way *way, void *queue, struct kfdc_signal *s)
{
	uint64_t before = counter("modelled_scratch");

	way->begin(queue, &segments[0], s);
	must(kfdc_signal_wait(s, 60 * SEC));
	tap_eq(counter("modelled_scratch") - before, 1, "%sa kernel that needs scratch memory, of which there is none, is modelled",
	       way->name);
}

static void host_notify(const uint32_t *a, const uint32_t *b, uint32_t *w, uint32_t n)
{
	uint32_t i;

	(void)b;
	for (i = 0; i < 2 * GROUP; i++)
		w[i] = a[i] ^ n;
}

/* A kernel that sets a signal and interrupts the host: the process sleeps in KFD until that */
static void notify(const struct way *way, void *queue, struct kfdc_signal *done)
{
	static const struct test t = { "notify", 2, 12345, host_notify, 0 };
	struct kfd_event_data data = {};
	struct kfd_ioctl_wait_events_args wait = { .events_ptr = (uintptr_t)&data, .num_events = 1, .timeout = 10000 };
	struct kfdc_signal *s;
	uint64_t before;

	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(s, t.groups);
	data.event_id = s->event_id;
	before = counter("interrupts");
	operand = kfdc_signal_mem(s);
	way->begin(queue, &t, done);
	operand = NULL;
	while (ioctl(kfdc_fd(c), AMDKFD_IOC_WAIT_EVENTS, &wait) && errno == EINTR)
		;
	tap_ok(wait.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE && !kfdc_signal_value(s),
	       "%sthe event of a signal wakes up who waits for it when a kernel sets the signal and sends its message", way->name);
	must(kfdc_signal_wait(done, 60 * SEC));
	tap_ok(counter("interrupts") > before && right(), "%s... and the kernel's results are right", way->name);
	kfdc_signal_destroy(s);
}

int main(int argc, char **argv)
{
	uint64_t preemptions = argc > 2 ? strtoull(argv[2], NULL, 10) : 20, not_before, lost;
	struct kfdc_ring_attr attr = KFDC_PM4_DEFAULT;
	struct kfdc_signal *s, *polled;
	struct kfdc_queue *q;
	struct kfdc_ring *r;

	if (argc < 2)
		tap_bail("usage: sim-execute-segments OBJECT [PREEMPTIONS]");
	must(kfdc_open(&c, 0));
	prepare(argv[1]);
	must(kfdc_queue_create(c, NULL, &q));
	must(kfdc_ring_create(c, &attr, &r));
	must(kfdc_signal_create(c, true, &s));
	must(kfdc_signal_create(c, false, &polled));
	param("wave_ns", TAKES_NS);
	no_scratch(&aql, q, s);
	no_scratch(&pm4, r, s);
	scratch_set_up(q);
	not_before = modelled();
	lost = counter("executed_lost");
	plain(&aql, q, s);
	plain(&pm4, r, s);
	preempted(&aql, q, s, segments, SEGMENTS, preemptions, NULL);
	preempted(&pm4, r, s, segments, SEGMENTS, preemptions, NULL);
	two(q, s, &segments[0], &segments[0]);
	notify(&aql, q, polled);
	notify(&pm4, r, polled);
	param("wave_ns", 20000);
	must(kfdc_ring_destroy(r));
	must(kfdc_queue_destroy(q));
	tap_eq(modelled() - not_before, 0, "no dispatch was modelled once there was scratch memory");
	tap_eq(counter("executed_lost") - lost, 0, "no state was lost");
	return tap_done();
}
