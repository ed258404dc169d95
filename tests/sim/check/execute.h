/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the checks of executed dispatches share, each program includes it once: the kernels of an object file, what the
 * host computes in their stead, and dispatches of them.
 */
#ifndef CHECK_EXECUTE_H
#define CHECK_EXECUTE_H

#include "packets.h"
#include "kfdclient-int.h"
#include <elf.h>

#define GTT	(KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | \
		 KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT)
#define N		64
#define ALL		(N * N)
#define OUT		(ALL + 64)
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

static inline uint32_t rnd(void)
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

/* ---- dispatches ---- */

static inline void begin(struct kfdc_queue *q, const struct test *t, uint64_t ns, struct kfdc_signal *s)
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

static inline bool right(void)
{
	return !memcmp(mem->out, want, sizeof(want));
}

/* Memory for the kernels of an object file, with random matrices, and for their results */
static inline void prepare(const char *path)
{
	struct kfdc_bo bo;
	uint32_t i;

	file = path;
	load(path);
	must(kfdc_bo_alloc(c, sizeof(*mem), GTT, &bo));
	mem = bo.va;
	target = mem->out;
	for (i = 0; i < ALL; i++) {
		mem->a[i] = rnd();
		mem->b[i] = rnd();
	}
}

#endif
