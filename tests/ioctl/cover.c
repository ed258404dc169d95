// SPDX-License-Identifier: GPL-2.0
/*
 * Coverage, if the kernel has CONFIG_KCOV: which instrumented places of the driver were reached.  Threads collect
 * them in one shared table; functions are told from /proc/kallsyms.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ioctl.h"
#include "tap.h"

#define TRACE	(64 << 10)	/* places of one call */
#define TABLE	(1 << 20)

static uint64_t *table;		/* open hashing; 0 is free */
static int fds[COVER_SLOTS];
static uint64_t *traces[COVER_SLOTS];
static __thread uint64_t *trace;

bool cover_init(void)
{
	if (access("/sys/kernel/debug/kcov", R_OK))
		return false;
	table = mmap(NULL, TABLE * sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED)
		table = NULL;
	return table;
}

void cover_prepare(void)
{
	unsigned int i;

	for (i = 0; table && i < COVER_SLOTS; i++) {
		traces[i] = NULL;
		fds[i] = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
		if (fds[i] < 0 || ioctl(fds[i], KCOV_INIT_TRACE, TRACE))
			continue;
		traces[i] = mmap(NULL, TRACE * sizeof(*trace), PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
		if (traces[i] == MAP_FAILED)
			traces[i] = NULL;
	}
}

void cover_start(unsigned int slot)
{
	trace = NULL;
	if (!table || !traces[slot] || ioctl(fds[slot], KCOV_ENABLE, KCOV_TRACE_PC))
		return;
	trace = traces[slot];
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

/* ---- whose places these are ---- */

struct symbol {
	uint64_t at;
	unsigned int section;		/* of the file; 0: an address of the kernel */
	unsigned int places;
	char name[64];			/* without what the compiler appends */
};

struct symbols {
	unsigned int n;
	struct symbol v[16384];
};

static int by_place(const void *l, const void *r)
{
	const struct symbol *a = l, *b = r;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static void add_symbol(struct symbols *s, unsigned int section, uint64_t at, const char *name)
{
	struct symbol *y = &s->v[s->n];

	if (s->n == sizeof(s->v) / sizeof(s->v[0]))
		return;
	*y = (struct symbol){ .at = at, .section = section };
	snprintf(y->name, sizeof(y->name), "%.*s", (int)strcspn(name, "."), name);
	s->n++;
}

/* The function that begins at or before a place, and not too far */
static struct symbol *find_symbol(struct symbols *s, unsigned int section, uint64_t at)
{
	unsigned int lo = 0, hi = s->n, mid;

	while (hi - lo > 1) {
		mid = (lo + hi) / 2;
		if (by_place(&s->v[mid], &(struct symbol){ .section = section, .at = at }) <= 0)
			lo = mid;
		else
			hi = mid;
	}
	if (!s->n || s->v[lo].section != section || at < s->v[lo].at || at - s->v[lo].at >= 65536)
		return NULL;
	return &s->v[lo];
}

static void read_kallsyms(struct symbols *s)
{
	char line[256], type, name[128], module[64];
	FILE *f = fopen("/proc/kallsyms", "re");
	uint64_t at;

	/* without KASLR, as tests/vm/debug has it: KCOV tells addresses as if there were none */
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %c %127s %63s", &at, &type, name, module) == 4 && strchr("tT", type) &&
		    !strcmp(module, "[amdgpu]"))
			add_symbol(s, 0, at, name);
	if (f)
		fclose(f);
	qsort(s->v, s->n, sizeof(s->v[0]), by_place);
}

/* All that could be reached: the calls of __sanitizer_cov_trace_pc() in the module's file */
static void read_module(struct symbols *s)
{
	const char *path = getenv("KFDPRIO_SIM_KO"), *text;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	const Elf64_Shdr *sh, *end, *h;
	const Elf64_Sym *sym;
	const Elf64_Rela *r;
	struct symbol *y;
	struct stat st;
	const char *m;
	uint64_t i;

	if (fd < 0 || fstat(fd, &st))
		return;
	m = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (m == MAP_FAILED)
		return;
	sh = (void *)(m + ((const Elf64_Ehdr *)m)->e_shoff);
	end = sh + ((const Elf64_Ehdr *)m)->e_shnum;
	for (h = sh; h < end && h->sh_type != SHT_SYMTAB; h++)
		;
	if (h == end)
		return;
	sym = (void *)(m + h->sh_offset);
	text = m + sh[h->sh_link].sh_offset;
	for (i = 0; i < h->sh_size / sizeof(*sym); i++)
		if (ELF64_ST_TYPE(sym[i].st_info) == STT_FUNC && sym[i].st_shndx != SHN_UNDEF)
			add_symbol(s, sym[i].st_shndx, sym[i].st_value, text + sym[i].st_name);
	qsort(s->v, s->n, sizeof(s->v[0]), by_place);
	for (h = sh; h < end; h++) {
		if (h->sh_type != SHT_RELA || !(sh[h->sh_info].sh_flags & SHF_EXECINSTR))
			continue;
		r = (void *)(m + h->sh_offset);
		for (i = 0; i < h->sh_size / sizeof(*r); i++) {
			if (strcmp(text + sym[ELF64_R_SYM(r[i].r_info)].st_name, "__sanitizer_cov_trace_pc"))
				continue;
			y = find_symbol(s, h->sh_info, r[i].r_offset);
			if (y)
				y->places++;
		}
	}
	munmap((void *)m, st.st_size);
}

static bool ours(const struct symbol *s)
{
	return !strncmp(s->name, "kfd_prio_", 9);
}

/* Takes those of all functions of a name: static ones may be in several files, the compiler cuts them in pieces */
static unsigned int places(struct symbols *s, const char *name)
{
	unsigned int i, sum = 0;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->v[i].name, name)) {
			sum += s->v[i].places;
			s->v[i].places = 0;
		}
	return sum;
}

/**
 * cover_print - what of the overlay was reached
 *
 * A place is a block of code without branches.  KCOV sees what the workers' threads do in the kernel, the faults of
 * doorbells among it, not what kernel threads and timers do.
 */
void cover_print(void)
{
	static struct symbols kernel, file;
	unsigned int i, reached, all, functions = 0, sum[2] = { 0, 0 }, sum_all[2] = { 0, 0 }, wrong = 0;
	struct symbol *y;

	read_kallsyms(&kernel);
	read_module(&file);
	for (i = 0; i < TABLE; i++) {
		y = table[i] ? find_symbol(&kernel, 0, table[i]) : NULL;
		if (y)
			y->places++;
	}
	for (i = 0; i < file.n; i++) {
		if (!file.v[i].places)
			continue;
		all = places(&file, file.v[i].name);
		reached = places(&kernel, file.v[i].name);
		sum[ours(&file.v[i])] += reached;
		sum_all[ours(&file.v[i])] += all;
		wrong += reached > all;
		functions += ours(&file.v[i]) && reached;
		if (ours(&file.v[i]))
			tap_diag("reached: %s %u of %u", file.v[i].name, reached, all);
	}
	tap_diag("kcov: %u of %u places of the rest of the driver", sum[0], sum_all[0]);
	tap_eq(wrong, 0, "kcov: no function has more places reached than it has");
	tap_ok(functions > 20, "kcov: %u of %u places of the overlay reached, in %u functions", sum[1], sum_all[1],
	       functions);
}
