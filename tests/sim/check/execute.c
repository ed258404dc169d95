// SPDX-License-Identifier: GPL-2.0
/*
 * sim-execute: dispatches whose code is executed, see execute.c of the simulated GPU.
 *
 *	sim-execute OBJECT [PREEMPTIONS]	TAP: the kernels of tests/unit/isa/kernel in OBJECT, an object file
 *						for this GPU, give the host's results: as they are, after PREEMPTIONS in
 *						mid-kernel (default 100), and wrong ones where saved state is changed
 *	sim-execute OBJECT --spoil REGISTER	prints what becomes of a product whose saved state is changed, see spoilt()
 *	sim-execute OBJECT --results [PREEMPTIONS]	TAP: only the results, of any object file with these kernels
 *	sim-execute OBJECT --unknown		TAP: on a GPU whose instructions are not known a dispatch takes its time, computes
 *						nothing, and is counted with that reason
 *	sim-execute OBJECT --speed		prints how many instructions of waves the GPU executes in a second of the guest's time
 *	sim-execute --disturb			toggles a queue without work until it is killed: with HWS, each time all
 *						queues of the GPU are taken off and put back
 */
#include "execute.h"

#define HEADER		216	/* bytes before the state of a work-group: execute-save.c */
#define NO_STATE	(-2)	/* in place of a register: what the header begins with */

static void off(struct kfdc_queue *q)
{
	must(kfdc_queue_update(q, 0, 7));
}

static void on(struct kfdc_queue *q)
{
	must(kfdc_queue_update(q, 100, 7));
}

/* Each kernel as it is */
static void plain(struct kfdc_queue *q, struct kfdc_signal *s)
{
	uint64_t executed = counter("executed");
	uint32_t i;

	for (i = 0; i < TESTS; i++) {
		begin(q, &tests[i], 0, s);
		must(kfdc_signal_wait(s, 60 * SEC));
		tap_ok(right(), "%s computes what the host does", tests[i].name);
	}
	tap_eq(counter("executed") - executed, TESTS, "all of them were executed");
}

/*
 * A bit of one vector register of one lane is changed while it is in the CWSR area. Return: 'r': the result is
 * right, 'w': wrong, 's': the queue stopped, 0: it was not in the middle of a work-group.
 */
static char spoilt(struct kfdc_signal *s, int vgpr)
{
	struct kfdc_queue *q;
	uint64_t ctl, area, total, before = counter("executed_saved_running");
	uint32_t *state;
	char result = 0;

	must(kfdc_queue_create(c, NULL, &q));
	must(kfdc_cwsr_sizes(c, &ctl, &area, &total));
	begin(q, &tests[3], 20 * MS, s);
	sleep_ns(5 * MS + rnd() % 4096 * US);
	off(q);
	if (counter("executed_saved_running") > before) {
		state = (uint32_t *)((char *)q->cwsr_bo.va + ctl + HEADER);
		if (vgpr >= 0)
			state[vgpr * c->wave_size + 5] ^= 0x10;
		else if (vgpr == NO_STATE)
			state[-(HEADER / 4)] ^= 1;
		result = 's';
	}
	on(q);
	if (!kfdc_signal_wait(s, 2 * SEC) && result)
		result = right() ? 'r' : 'w';
	must(kfdc_queue_destroy(q));
	return result;
}

/*
 * What sim-execute says with @option. A process of its own: amdkfd takes all queues of a process that faults
 * off for good. 0: nothing
 */
static char alone(const char *program, const char *option, int vgpr)
{
	char command[512];
	int result;
	FILE *f;

	snprintf(command, sizeof(command), "%s %s %s %d", program, file, option, vgpr);
	f = popen(command, "r");
	if (!f)
		tap_bail("%s: %s", command, strerror(errno));
	result = fgetc(f);
	pclose(f);
	return result == EOF ? 0 : result;
}

static void spoil(const char *program)
{
	uint64_t lost = counter("executed_lost");
	char result[17] = "";
	uint32_t wrong = 0;
	int v;

	for (v = -1; v < 15; v++) {
		result[v + 1] = alone(program, "--spoil", v);
		if (!result[v + 1])
			tap_bail("no preemption in mid-kernel, or no result");
		wrong += result[v + 1] == 'w';
	}
	tap_diag("state as it is, then with a bit of each register changed: %s (right, wrong, stopped)", result);
	tap_ok(result[0] == 'r', "state in the CWSR area that is not changed gives the right result");
	tap_ok(wrong >= 1, "a changed bit in a saved register gives a wrong result");
	tap_eq(counter("executed_lost"), lost, "no state was lost");
	tap_ok(alone(program, "--spoil", NO_STATE) == 's', "what is no state stops the queue");
	tap_eq(counter("executed_lost") - lost, 1, "... and is counted");
}

static void host_spin(const uint32_t *a, const uint32_t *b, uint32_t *w, uint32_t n)
{
	uint32_t i;

	(void)a;
	(void)b;
	for (i = 0; i < GROUP; i++)
		w[i] = n;
}

/* A kernel that does not end by itself: amdkfd's unmaps do not wait for that, and it goes on after them */
static void endless(struct kfdc_queue *q, struct kfdc_signal *s)
{
	static const struct test spin = { "spin", 1, 77, host_spin, 0 };
	uint64_t took, longest = 0;
	struct kfdc_queue *other;
	uint32_t i, b = mem->b[0];

	mem->b[0] = 0;
	begin(q, &spin, 1 * MS, s);
	for (i = 0; i < 20; i++) {
		sleep_ns(5 * MS);
		took = kfdc_now();
		must(kfdc_queue_create(c, NULL, &other));
		must(kfdc_queue_destroy(other));
		off(q);
		on(q);
		took = kfdc_now() - took;
		longest = took > longest ? took : longest;
	}
	tap_diag("a queue comes and goes, and the kernel is taken off and put back, in %llu us at most",
		 (unsigned long long)(longest / US));
	tap_ok(kfdc_signal_value(s) == 1, "a kernel that waits for the host does not end");
	tap_ok(longest < 200 * MS, "... and unmaps do not wait for it");
	__atomic_store_n(&mem->b[0], 1, __ATOMIC_SEQ_CST);
	must(kfdc_signal_wait(s, 60 * SEC));
	tap_ok(right(), "... ends when the host has written");
	tap_eq(counter("resets"), 0, "... and no reset was needed");
	mem->b[0] = b;
}

/* GFX12 has no decoder */
static void unknown(struct kfdc_queue *q, struct kfdc_signal *s)
{
	uint64_t gpu = counter("modelled_gpu"), all = modelled(), executed = counter("executed");

	begin(q, &tests[0], 20 * MS, s);
	must(kfdc_signal_wait(s, 60 * SEC));
	memset(want, 0, sizeof(want));
	tap_ok(right() && kfdc_signal_gpu_ns(s) >= 20 * MS,
	       "a dispatch on a GPU whose instructions are not known takes its time and computes nothing");
	tap_eq(counter("modelled_gpu") - gpu, 1, "... and is counted, with that reason");
	tap_ok(modelled() - all == 1 && counter("executed") == executed, "... and with no other");
}

/* Products whose modelled time is over at once: how long they take is how long their execution does */
static void speed(struct kfdc_queue *q, struct kfdc_signal *s)
{
	uint64_t before = counter("executed_instructions"), ns = 0, from;
	uint32_t n;

	for (n = 0; n < 20; n++) {
		begin(q, &tests[3], 1 * US, s);
		from = kfdc_now();
		must(kfdc_signal_wait(s, 60 * SEC));
		ns += kfdc_now() - from;
	}
	printf("%s: %.3f million in a second\n", tests[3].name, (counter("executed_instructions") - before) * 1e3 / ns);
}

static void __attribute__((noreturn)) disturb(void)
{
	struct kfdc_queue *q;

	must(kfdc_queue_create(c, NULL, &q));
	for (;;) {
		sleep_ns(300 * US + rnd() % 512 * US);
		off(q);
		on(q);
	}
}

int main(int argc, char **argv)
{
	struct kfdc_queue *q;
	struct kfdc_signal *s;
	uint64_t lost, not_before;
	bool only;
	uint32_t i;

	must(kfdc_open(&c, 0));
	if (argc > 1 && !strcmp(argv[1], "--disturb"))
		disturb();
	if (argc < 2)
		tap_bail("usage: sim-execute OBJECT [--results] [PREEMPTIONS] | OBJECT --unknown | OBJECT --speed | --disturb");
	prepare(argv[1]);
	must(kfdc_queue_create(c, NULL, &q));
	must(kfdc_signal_create(c, true, &s));
	if (argc > 3 && !strcmp(argv[2], "--spoil")) {
		char result = 0;

		for (i = 0; !result && i < 20; i++)
			result = spoilt(s, atoi(argv[3]));
		if (result)
			putchar(result);
		return !result;
	}
	if (argc > 2 && !strcmp(argv[2], "--speed")) {
		speed(q, s);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[2], "--unknown")) {
		unknown(q, s);
		return tap_done();
	}
	only = argc > 2 && !strcmp(argv[2], "--results");
	lost = counter("executed_lost");
	not_before = modelled();
	plain(q, s);
	preempted(&aql, q, s, tests, TESTS, argc > 2 + only ? strtoull(argv[2 + only], NULL, 10) : 100, NULL);
	if (!only) {
		two(q, s, &tests[3], &tests[2]);
		endless(q, s);
	}
	must(kfdc_queue_destroy(q));
	if (!only)
		spoil(argv[0]);
	tap_eq(counter("executed_lost") - lost, !only, "no other state was lost");
	tap_eq(modelled() - not_before, 0, "no dispatch was modelled");
	tap_diag("%llu instructions of waves", (unsigned long long)counter("executed_instructions"));
	return tap_done();
}
