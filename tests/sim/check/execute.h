/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the checks of executed dispatches share, each program includes it once: the kernels of an object file, what the
 * host computes in their stead, and dispatches of them.
 */
#ifndef CHECK_EXECUTE_H
#define CHECK_EXECUTE_H

#include "packets.h"
#include "kernels.h"
#include "kfdclient-int.h"
#include <elf.h>

#define GTT	(KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | \
		 KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT)
/* Fields of a kernel descriptor; LLVM's "User Guide for AMDGPU Backend" */
enum { KD_GROUP_BYTES = 0, KD_PRIVATE_BYTES = 4, KD_ENTRY = 16, KD_RSRC3 = 44, KD_RSRC1 = 48, KD_RSRC2 = 52, KD_PROPERTIES = 56 };

/* HSA Platform System Architecture specification, 2.9.6 */
struct aql_dispatch {
	uint16_t header, setup, wg[3], reserved0;
	uint32_t grid[3], private_size, group_size;
	uint64_t kernel_object, kernarg, reserved2, signal;
};

struct memory {
	uint32_t a[ALL], b[ALL];
	struct arguments args;
	struct aql_dispatch packet;
	uint32_t out[OUT];
};

static struct memory *mem;
static uint32_t *target;	/* of the results; mem->out but for a test */
static const void *operand;	/* the second argument; NULL: mem->b */
static uint32_t want[OUT];
static struct kfdc_bo code;
static const char *file;
/* ---- the object file ---- */

static inline void load(const char *path)
{
	FILE *f = fopen(path, "r");

	must(kfdc_bo_alloc(c, 1 << 18, GTT, &code));
	if (!f || !fread(code.va, 1, 1 << 18, f))
		tap_bail("%s: %s", path, strerror(errno));
	fclose(f);
}

/* Address of a symbol: its section is where it is in the file, whether that is linked or not */
static inline char *find(const char *name)
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
			return at + sh[sym[i].st_shndx].sh_offset + sym[i].st_value - sh[sym[i].st_shndx].sh_addr;
	tap_bail("%s has no %s", file, name);
}

/* The kernel's descriptor, which gets the distance of its code, here and not where a loader would put it */
static inline uint64_t descriptor(const char *name)
{
	char kd[64], *at;
	int64_t distance;

	snprintf(kd, sizeof(kd), "%s.kd", name);
	at = find(kd);
	distance = find(name) - at;
	memcpy(at + KD_ENTRY, &distance, sizeof(distance));
	return (uintptr_t)at;
}

static inline uint32_t field(uint64_t kd, uint32_t at)
{
	uint32_t v;

	memcpy(&v, (const char *)(uintptr_t)kd + at, sizeof(v));
	return v;
}

/* ---- dispatches ---- */

/* Memory, and what the host makes of it, are as before the first dispatch of a kernel */
static inline void set_up(const struct test *t)
{
	memset(mem->out, 0, sizeof(mem->out));
	memset(want, 0, sizeof(want));
	mem->args = (struct arguments){ mem->a, operand ? operand : mem->b, target, t->n };
	t->host(mem->a, mem->b, want, t->n);
}

/* ---- scratch memory, as runtimes set it up ---- */

#define SLOTS		128	/* of waves */
#define SLOT_BYTES	16384

static struct kfdc_bo scratch;	/* none but for a test */

static inline uint64_t gfx_version(void)
{
	uint64_t version;

	must(kfdc_prop(c, "gfx_target_version", &version));
	return version;
}

/* COMPUTE_TMPRING_SIZE: in units of 1024 bytes, from GFX11 on of 256 */
static inline uint32_t scratch_slots(void)
{
	return scratch.va ? SLOTS | SLOT_BYTES / (gfx_version() < 110000 ? 1024 : 256) << 12 : 0;
}

/* A buffer resource: swizzled, with the lane's number in the address. From GFX10 on it has the number of lanes; without range */
static inline void scratch_resource(uint32_t *rsrc, uint32_t lanes)
{
	uint64_t base = (uintptr_t)scratch.va;

	rsrc[0] = (uint32_t)base;
	rsrc[1] = (uint32_t)(base >> 32) | 1u << 31;
	rsrc[2] = (uint32_t)scratch.size;
	rsrc[3] = 1 << 23 | (gfx_version() < 100000 ? 4 << 15 | 1 << 19 | 3 << 21 : 2 << 28 | (lanes == 64 ? 3 : 2) << 21);
}

/* Memory for it, and the fields of an amd_queue_t: amd_hsa_queue.h. The packet processor adds the number of lanes */
static inline void scratch_set_up(struct kfdc_queue *q)
{
	enum { TMPRING = 140, RESOURCE = 144, BASE = 160 };
	char *queue = (char *)q->rptr - 128;
	uint32_t slots, rsrc[4];
	uint64_t base;

	must(kfdc_bo_alloc(c, SLOTS * SLOT_BYTES, GTT, &scratch));
	base = (uintptr_t)scratch.va;
	slots = scratch_slots();
	scratch_resource(rsrc, 0);
	if (gfx_version() >= 100000)
		rsrc[3] &= ~(3u << 21);
	memcpy(queue + TMPRING, &slots, sizeof(slots));
	memcpy(queue + RESOURCE, rsrc, sizeof(rsrc));
	memcpy(queue + BASE, &base, sizeof(base));
}

static inline void begin(struct kfdc_queue *q, const struct test *t, uint64_t ns, struct kfdc_signal *s)
{
	struct aql_dispatch p = {
		.header = 2 | 2 << 9 | 2 << 11, .setup = 1, .wg = { GROUP, 1, 1 },
		.grid = { t->groups * GROUP, 1, 1 }, .kernel_object = descriptor(t->name),
		.kernarg = (uintptr_t)&mem->args, .reserved2 = ns, .signal = (uintptr_t)kfdc_signal_mem(s),
	};

	/* as a runtime has it from the code object */
	p.private_size = field(p.kernel_object, KD_PRIVATE_BYTES);
	p.group_size = field(p.kernel_object, KD_GROUP_BYTES) + t->lds;

	set_up(t);
	kfdc_signal_set(s, 1);
	must(kfdc_packet(q, &p, true));
}

static inline bool right(void)
{
	return !memcmp(mem->out, want, sizeof(want));
}

static inline void begin_aql(void *queue, const struct test *t, struct kfdc_signal *s)
{
	begin(queue, t, 20 * MS, s);
}

static inline void toggle_aql(void *queue)
{
	must(kfdc_queue_update(queue, 0, 7));
	must(kfdc_queue_update(queue, 100, 7));
}

/* Memory for the kernels of an object file, with random matrices, and for their results */
static inline void prepare(const char *path)
{
	struct kfdc_bo bo;

	file = path;
	load(path);
	must(kfdc_bo_alloc(c, sizeof(*mem), GTT, &bo));
	mem = bo.va;
	target = mem->out;
	inputs(mem->a, mem->b);
}

/**
 * struct way - how a check dispatches: by AQL or by PM4
 * @name: what its test points begin with
 * @begin: dispatches a kernel for the signal
 * @toggle: takes the queue off the GPU and puts it back
 */
struct way {
	const char *name;
	void (*begin)(void *queue, const struct test *t, struct kfdc_signal *s);
	void (*toggle)(void *queue);
};

static const struct way aql = { "", begin_aql, toggle_aql };

/* One dispatch of a kernel, off the GPU as often as possible. Return: is its result right? */
static inline bool dispatch_preempted(const struct way *way, void *queue, const struct test *t, struct kfdc_signal *s)
{
	uint64_t end = kfdc_now() + 20 * SEC;

	way->begin(queue, t, s);
	while (kfdc_signal_value(s) > 0) {
		if (kfdc_now() > end)
			tap_bail("%s%s, preempted in mid-kernel, does not end", way->name, t->name);
		sleep_ns(100 * US + rnd() % 256 * US);
		way->toggle(queue);
	}
	return right();
}

/* What a kernel computed becomes a file */
static inline void keep(const char *directory, const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "w");
	if (!f || fwrite(mem->out, sizeof(mem->out), 1, f) != 1 || fclose(f))
		tap_bail("%s: %s", path, strerror(errno));
}

/* Dispatches that were not executed, whatever the reason */
static inline uint64_t modelled(void)
{
	static const char *const reasons[] = {
		"off", "instruction", "operand", "too_long", "branch", "unreadable", "registers", "dispatch", "gpu", "descriptor",
		"save_area", "memory", "scratch",
	};
	uint64_t sum = 0, all = counter("dispatches") - counter("executed");
	char name[32];
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		snprintf(name, sizeof(name), "modelled_%s", reasons[i]);
		sum += counter(name);
	}
	if (sum != all)
		tap_bail("%llu dispatches were modelled, and %llu have a reason", (unsigned long long)all, (unsigned long long)sum);
	return all;
}

/*
 * Each kernel of a list again and again, until it was preempted so often in the middle of a work-group. The last result of
 * each is kept in @directory, if that is not NULL.
 */
static inline void preempted(const struct way *way, void *queue, struct kfdc_signal *s, const struct test *list, uint32_t n,
			     uint64_t preemptions, const char *directory)
{
	uint64_t before, saved, rounds, wrong;
	uint32_t i;

	for (i = 0; i < n; i++) {
		before = counter("executed_saved_running");
		rounds = 0;
		wrong = 0;
		do {
			wrong += !dispatch_preempted(way, queue, &list[i], s);
			rounds++;
			saved = counter("executed_saved_running") - before;
		} while (saved < preemptions && rounds < preemptions);
		if (directory)
			keep(directory, list[i].name);
		tap_diag("%s%s: %llu dispatches, %llu preemptions in the middle of a work-group", way->name, list[i].name,
			 (unsigned long long)rounds, (unsigned long long)saved);
		tap_ok(!wrong && saved >= preemptions, "%s%s computes what the host does, preempted %llu times in mid-kernel",
		       way->name, list[i].name, (unsigned long long)preemptions);
	}
}

/* Two dispatches of a queue that run at once are saved to places of their own */
static inline void two(struct kfdc_queue *q, struct kfdc_signal *s, const struct test *first, const struct test *second)
{
	const struct test *t[2] = { first, second };
	struct memory *of[2] = { mem };
	uint64_t saved, most = 0;
	struct kfdc_signal *also;
	struct kfdc_bo bo;
	int i;

	must(kfdc_signal_create(c, true, &also));
	must(kfdc_bo_alloc(c, sizeof(*mem), GTT, &bo));
	of[1] = bo.va;
	memcpy(of[1], of[0], sizeof(*mem));
	param("slots", 2);
	for (i = 0; i < 2; i++) {
		mem = of[i];
		target = mem->out;
		begin(q, t[i], 20 * MS, i ? also : s);
	}
	while (kfdc_signal_value(s) > 0 || kfdc_signal_value(also) > 0) {
		sleep_ns(500 * US);
		saved = counter("executed_saved_running");
		must(kfdc_queue_update(q, 0, 7));
		saved = counter("executed_saved_running") - saved;
		most = saved > most ? saved : most;
		must(kfdc_queue_update(q, 100, 7));
	}
	tap_eq(most, 2, "two dispatches of a queue are preempted in mid-kernel at once");
	for (i = 1; i >= 0; i--) {
		mem = of[i];
		target = mem->out;
		memset(want, 0, sizeof(want));
		t[i]->host(mem->a, mem->b, want, t[i]->n);
		tap_ok(right(), "... %s computes what the host does", t[i]->name);
	}
	param("slots", 1);
	kfdc_signal_destroy(also);
}

#endif
