// SPDX-License-Identifier: GPL-2.0
/*
 * sim-execute: dispatches whose code is executed, see execute.c of the simulated GPU.
 *
 *	sim-execute OBJECT [PREEMPTIONS]	TAP: the kernels of tests/unit/isa/kernel in OBJECT, an object file
 *						for this GPU, give the host's results: as they are, after PREEMPTIONS in
 *						mid-kernel (default 100), and wrong ones where saved state is changed; a bad address is a VM fault
 *	sim-execute OBJECT --spoil REGISTER	prints what becomes of a product whose saved state is changed, see spoilt()
 *	sim-execute OBJECT --fault		the same of a bad address, see faulty()
 *	sim-execute --disturb			toggles a queue without work until it is killed: with HWS, each time all
 *						queues of the GPU are taken off and put back
 */
#include "packets.h"
#include "kfdclient-int.h"
#include <elf.h>
#include <linux/kfd_ioctl.h>

#define GTT	(KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | \
		 KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT)
#define N		64
#define ALL		(N * N)
#define OUT		(ALL + 64)
#define HEADER		104	/* bytes before the state of a work-group: execute-save.c */
#define KD_ENTRY	16	/* kernel descriptor: distance of the code */

struct arguments {
	const uint32_t *a, *b;
	uint32_t *out;
	uint32_t n;
};

struct memory {
	uint32_t a[ALL], b[ALL];
	struct arguments args;
	uint32_t out[OUT];
};

static struct memory *mem;
static uint32_t *target;	/* of the results; mem->out but for a test */
static uint32_t want[OUT];
static struct kfdc_bo code;
static const char *file;
static uint64_t seed = 88172645463325252ULL;

static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> 16;
}

/* ---- what the host computes ---- */

static void add(uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		want[i] = mem->a[i] + mem->b[i];
}

static void copy(uint32_t n)
{
	memcpy(want, mem->a, n / 2 * 8);
}

static void reduce(uint32_t n)
{
	uint32_t i, k, sum;

	for (i = 0; i < 1024; i++) {
		sum = 0;
		for (k = i; k < n; k += 1024)
			sum += mem->a[k] * mem->b[k];
		want[0] += sum;
		want[1 + sum % 16]++;
	}
}

static void gemm(uint32_t n)
{
	uint32_t i, j, k;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			for (k = 0; k < n; k++)
				want[i * n + j] += mem->a[i * n + k] * mem->b[k * n + j];
}

static const struct test {
	const char *name;
	uint32_t groups, n;
	void (*host)(uint32_t n);
} tests[] = {
	{ "add", 16, ALL, add }, { "copy", 4, ALL, copy }, { "reduce", 4, ALL, reduce }, { "gemm", 16, N, gemm },
};

#define TESTS	(sizeof(tests) / sizeof(*tests))

/* ---- the object file ---- */

static void load(const char *path)
{
	FILE *f = fopen(path, "r");

	must(kfdc_bo_alloc(c, 1 << 18, GTT, &code));
	if (!f || !fread(code.va, 1, 1 << 18, f))
		tap_bail("%s: %s", path, strerror(errno));
	fclose(f);
}

/* Address of a symbol; the file is not linked: its sections are where they are in it */
static char *find(const char *name)
{
	char *at = code.va;
	const Elf64_Ehdr *e = code.va;
	const Elf64_Shdr *sh = (void *)(at + e->e_shoff);
	const Elf64_Sym *sym;
	const char *names;
	size_t i, n;

	for (i = 0; i < e->e_shnum && sh[i].sh_type != SHT_SYMTAB; i++)
		;
	if (i == e->e_shnum)
		tap_bail("%s has no symbols", file);
	sym = (void *)(at + sh[i].sh_offset);
	n = sh[i].sh_size / sizeof(*sym);
	names = at + sh[sh[i].sh_link].sh_offset;
	for (i = 0; i < n; i++)
		if (!strcmp(names + sym[i].st_name, name))
			return at + sh[sym[i].st_shndx].sh_offset + sym[i].st_value;
	tap_bail("%s has no %s", file, name);
}

/* The kernel's descriptor, which gets the distance of its code: a linker would have done that */
static uint64_t descriptor(const char *name)
{
	char kd[64], *at;
	int64_t distance;

	snprintf(kd, sizeof(kd), "%s.kd", name);
	at = find(kd);
	distance = find(name) - at;
	memcpy(at + KD_ENTRY, &distance, sizeof(distance));
	return (uintptr_t)at;
}

/* ---- dispatches ---- */

static void begin(struct kfdc_queue *q, const struct test *t, uint64_t ns, struct kfdc_signal *s)
{
	struct {
		uint16_t header, setup, wg[3], reserved0;
		uint32_t grid[3], private_size, group_size;
		uint64_t kernel_object, kernarg, reserved2, signal;
	} p = {
		.header = 2 | 2 << 9 | 2 << 11, .setup = 1, .wg = { 256, 1, 1 },
		.grid = { t->groups * 256, 1, 1 }, .kernel_object = descriptor(t->name),
		.kernarg = (uintptr_t)&mem->args, .reserved2 = ns, .signal = (uintptr_t)kfdc_signal_mem(s),
	};

	memset(mem->out, 0, sizeof(mem->out));
	memset(want, 0, sizeof(want));
	mem->args = (struct arguments){ mem->a, mem->b, target, t->n };
	t->host(t->n);
	kfdc_signal_set(s, 1);
	must(kfdc_packet(q, &p, true));
}

static bool right(void)
{
	return !memcmp(mem->out, want, sizeof(want));
}

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

/* Each kernel again and again, off the GPU as often as possible */
static void preempted(struct kfdc_queue *q, struct kfdc_signal *s, uint64_t preemptions)
{
	uint64_t before, saved, rounds, wrong;
	uint32_t i;

	for (i = 0; i < TESTS; i++) {
		before = counter("executed_saved_running");
		rounds = 0;
		wrong = 0;
		do {
			begin(q, &tests[i], 20 * MS, s);
			while (kfdc_signal_value(s) > 0) {
				sleep_ns(100 * US + rnd() % 256 * US);
				off(q);
				on(q);
			}
			wrong += !right();
			rounds++;
			saved = counter("executed_saved_running") - before;
		} while (saved < preemptions && rounds < preemptions);
		tap_diag("%s: %llu dispatches, %llu preemptions in the middle of a work-group", tests[i].name,
			 (unsigned long long)rounds, (unsigned long long)saved);
		tap_ok(!wrong && saved >= preemptions, "%s computes what the host does, preempted %llu times in mid-kernel",
		       tests[i].name, (unsigned long long)preemptions);
	}
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
		result = 's';
	}
	on(q);
	if (!kfdc_signal_wait(s, 2 * SEC) && result)
		result = right() ? 'r' : 'w';
	must(kfdc_queue_destroy(q));
	return result;
}

/* A kernel that writes to an address that is not mapped. Return: 's': the queue stopped, 'r': it went on */
static char faulty(struct kfdc_queue *q, struct kfdc_signal *s)
{
	target = (uint32_t *)4096;
	begin(q, &tests[0], 20 * MS, s);
	return kfdc_signal_wait(s, 4 * SEC) ? 's' : 'r';
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
}

/* A memory exception: that queue stops, others go on */
static void fault(const char *program, struct kfdc_queue *q, struct kfdc_signal *s)
{
	uint64_t faults = counter("vm_faults"), done = counter("executed");

	tap_ok(alone(program, "--fault", 0) == 's', "a kernel that writes to an address that is not mapped never ends");
	tap_eq(counter("vm_faults") - faults, 1, "... it is a VM fault");
	tap_eq(counter("executed") - done, 1, "... of a dispatch that was executed");
	begin(q, &tests[0], 0, s);
	must(kfdc_signal_wait(s, 60 * SEC));
	tap_ok(right(), "... and the queue of another process goes on");
}

static void store(uint32_t n)
{
	uint32_t i;

	for (i = 0; i < 256; i++)
		want[i] = n;
}

/* A kernel that does not end by itself: amdkfd's unmaps do not wait for that, and it goes on after them */
static void endless(struct kfdc_queue *q, struct kfdc_signal *s)
{
	static const struct test spin = { "spin", 1, 77, store };
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
	struct kfdc_bo bo;
	uint32_t i;

	must(kfdc_open(&c, 0));
	if (argc > 1 && !strcmp(argv[1], "--disturb"))
		disturb();
	if (argc < 2)
		tap_bail("usage: sim-execute OBJECT [PREEMPTIONS] | --disturb");
	file = argv[1];
	load(file);
	must(kfdc_bo_alloc(c, sizeof(*mem), GTT, &bo));
	mem = bo.va;
	target = mem->out;
	for (i = 0; i < ALL; i++) {
		mem->a[i] = rnd();
		mem->b[i] = rnd();
	}
	must(kfdc_queue_create(c, NULL, &q));
	must(kfdc_signal_create(c, true, &s));
	if (argc > 2 && !strcmp(argv[2], "--fault")) {
		putchar(faulty(q, s));
		return 0;
	}
	if (argc > 3 && !strcmp(argv[2], "--spoil")) {
		char result = 0;

		for (i = 0; !result && i < 20; i++)
			result = spoilt(s, atoi(argv[3]));
		if (result)
			putchar(result);
		return !result;
	}
	plain(q, s);
	preempted(q, s, argc > 2 ? strtoull(argv[2], NULL, 10) : 100);
	endless(q, s);
	fault(argv[0], q, s);
	must(kfdc_queue_destroy(q));
	spoil(argv[0]);
	tap_eq(counter("executed_lost"), 0, "no state was lost");
	tap_diag("%llu instructions of waves", (unsigned long long)counter("executed_instructions"));
	return tap_done();
}
