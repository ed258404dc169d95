// SPDX-License-Identifier: GPL-2.0
/*
 * Coverage, if the kernel has CONFIG_KCOV: which instrumented places of the driver were reached.  Threads collect
 * them in one shared table; functions are told from /proc/kallsyms.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ioctl.h"
#include "tap.h"

#define TRACE	(64 << 10)	/* places of one call */
#define TABLE	(1 << 20)

static uint64_t *table;		/* open hashing; 0 is free */
static __thread uint64_t *trace;

bool cover_init(void)
{
	if (access("/sys/kernel/debug/kcov", R_OK))
		return false;
	/* for the ordinary users among the workers: they cannot open it later */
	table = mmap(NULL, TABLE * sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return table != MAP_FAILED;
}

void cover_start(void)
{
	int fd;

	if (!table)
		return;
	fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, TRACE))
		return;
	trace = mmap(NULL, TRACE * sizeof(*trace), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (trace == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		trace = NULL;
	else
		__atomic_store_n(&trace[0], 0, __ATOMIC_RELAXED);
}

static void note(uint64_t pc)
{
	unsigned int i = pc * 0x9e3779b97f4a7c15ULL >> 44, tries;
	uint64_t free;

	for (tries = 0; tries < 64; tries++, i = (i + 1) % TABLE) {
		if (table[i] == pc)
			return;
		free = 0;
		if (!table[i] && __atomic_compare_exchange_n(&table[i], &free, pc, false, __ATOMIC_RELAXED,
							     __ATOMIC_RELAXED))
			return;
		if (free == pc)
			return;
	}
}

void cover_take(void)
{
	uint64_t n, i;

	if (!trace)
		return;
	n = __atomic_load_n(&trace[0], __ATOMIC_RELAXED);
	for (i = 0; i < n && i < TRACE - 1; i++)
		note(trace[i + 1]);
	__atomic_store_n(&trace[0], 0, __ATOMIC_RELAXED);
}

struct symbol {
	uint64_t at;
	unsigned int places;
	char name[60];
};

static int by_address(const void *l, const void *r)
{
	const struct symbol *a = l, *b = r;

	return a->at < b->at ? -1 : a->at > b->at;
}

void cover_print(void)
{
	static struct symbol sym[16384];
	unsigned int n = 0, i, places = 0, functions = 0, lo, hi, mid;
	char line[256], type, module[64];
	FILE *f = fopen("/proc/kallsyms", "re");

	while (f && n < 16384 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %c %59s %63s", &sym[n].at, &type, sym[n].name, module) == 4 &&
		    !strcmp(module, "[amdgpu]") && strchr("tT", type))
			n++;
	if (f)
		fclose(f);
	qsort(sym, n, sizeof(sym[0]), by_address);
	for (i = 0; i < TABLE && n; i++) {
		if (table[i] < sym[0].at)
			continue;
		for (lo = 0, hi = n; hi - lo > 1;) {
			mid = (lo + hi) / 2;
			if (sym[mid].at <= table[i])
				lo = mid;
			else
				hi = mid;
		}
		/* others' code lies behind the module */
		if (table[i] - sym[lo].at < 65536)
			sym[lo].places++;
	}
	for (i = 0; i < n; i++) {
		if (strncmp(sym[i].name, "kfd_prio_", 9) || !sym[i].places)
			continue;
		tap_diag("reached: %s %u", sym[i].name, sym[i].places);
		functions++;
		places += sym[i].places;
	}
	tap_ok(functions > 20, "kcov: %u places in %u functions of the overlay reached", places, functions);
}
