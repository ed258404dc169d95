// SPDX-License-Identifier: GPL-2.0
/* trace.dat: a real recording, cut short and damaged in every way.  It must be refused or read, never more. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "model/model.h"
#include "read/trace.h"

#define DATA "../../kfdtrace/data/preempt/trace.dat"
#define PAGES 8192 /* bytes of them in it */

static unsigned char *whole, *copy;
static size_t size;
static int fd;
static char path[64], why[TRACE_WHY];
static uint64_t lasted, damaged_places;

static int setup(void **state)
{
	FILE *file = fopen(DATA, "re");

	(void)state;
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	whole = malloc(size);
	copy = malloc(size);
	assert_int_equal(fread(whole, 1, size, file), size);
	fclose(file);
	fd = memfd_create("trace.dat", MFD_CLOEXEC);
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(whole);
	free(copy);
	return close(fd);
}

/* Events that were read, -1 if the file was refused; then the reason is told. */
static long read_bytes(const void *bytes, size_t nr)
{
	struct trace_file *file;
	struct kfd_event event;
	struct model model;
	uint64_t before = 0;
	long events = 0;
	int ret;

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, nr, 0), nr);
	*why = '\0';
	file = trace_open(path, why);
	if (!file) {
		assert_true(strncmp(why, path, strlen(path)) == 0);
		assert_true(strlen(why) > strlen(path) + 4);
		return -1;
	}
	assert_int_equal(model_init(&model, 0), 0);
	while ((ret = trace_next(file, &event, why)) > 0) {
		assert_true(event.ts >= before);
		before = event.ts;
		assert_int_equal(model_event(&model, &event), 0);
		events++;
	}
	assert_int_equal(ret, 0);
	model_end(&model);
	lasted = model.last - model.first;
	damaged_places = trace_loss(file)->damaged;
	model_free(&model);
	trace_close(file);
	return events;
}

static void intact(void **state)
{
	(void)state;
	assert_true(size > PAGES);
	assert_int_equal(read_bytes(whole, size), 163);
	assert_int_equal(lasted, 667639153);
}

/* The second page begins before the end of the first one: the clock was set back. */
static void back(void **state)
{
	unsigned char *page = copy + size - PAGES / 2;
	uint64_t ts;

	(void)state;
	memcpy(copy, whole, size);
	memcpy(&ts, page, sizeof(ts));
	ts -= 100000000000;
	memcpy(page, &ts, sizeof(ts));
	assert_in_range(read_bytes(copy, size), 50, 120);
	assert_int_equal(damaged_places, 1);
	assert_true(lasted < 667639153);
}

static void truncated(void **state)
{
	long all = read_bytes(whole, size);
	size_t nr;

	(void)state;
	for (nr = 0; nr < size; nr += nr < 64 || nr > size - 64 ? 1 : 97) {
		long got = read_bytes(whole, nr);

		assert_true(got < all);
	}
}

static void foreign(void **state)
{
	static const char elf[] = "\177ELF this is something else, and long enough to be looked at";

	(void)state;
	assert_int_equal(read_bytes(elf, sizeof(elf)), -1);
	assert_non_null(strstr(why, "not a trace.dat"));
	memcpy(copy, whole, size);
	copy[10] = '7';
	assert_int_equal(read_bytes(copy, size), -1);
	assert_non_null(strstr(why, "trace-cmd convert --file-version 6"));
	copy[10] = '6';
	copy[12] = 1;
	assert_int_equal(read_bytes(copy, size), -1);
	assert_non_null(strstr(why, "byte order"));
}

/* Where the table of CPUs is: their number, and behind the word place and size of each one's pages. */
static size_t cpus_at(size_t *table)
{
	static const char options[] = "options  ", word[] = "flyrecord";
	const unsigned char *at = memmem(whole, size, options, sizeof(options));

	assert_non_null(at);
	*table = (unsigned char *)memmem(at, whole + size - at, word, sizeof(word)) - whole + sizeof(word);
	return at - whole - 4;
}

/* The recording with so many CPUs: the first has the events, the others none. */
static long read_cpus(uint32_t nr, uint64_t place, uint64_t bytes)
{
	size_t table, count = cpus_at(&table), entries = 16 * (size_t)(nr ? nr : 1);
	uint64_t entry[2] = { place, bytes };
	unsigned char *grown = calloc(1, size + entries);
	long events;

	assert_non_null(grown);
	memcpy(grown, whole, table);
	memcpy(grown + count, &nr, 4);
	memcpy(grown + table, entry, 16);
	memcpy(grown + table + entries, whole + size - PAGES, PAGES);
	events = read_bytes(grown, table + entries + PAGES);
	free(grown);
	return events;
}

static void cpu_count(void **state)
{
	long all = read_bytes(whole, size);
	size_t table;

	(void)state;
	cpus_at(&table);
	assert_int_equal(read_cpus(1, table + 16, PAGES), all);
	assert_int_equal(read_cpus(4096, table + 16 * 4096, PAGES), all);
	assert_int_equal(read_cpus(4097, table + 16 * 4097, PAGES), -1);
	assert_non_null(strstr(why, "damaged: 4097 CPUs"));
	assert_int_equal(read_cpus(0, table + 16, PAGES), -1);
	assert_non_null(strstr(why, "damaged: 0 CPUs"));
}

/* What is whole of a file whose end is missing: of two pages none, one, both. */
static void cpu_place(void **state)
{
	static const char none[] = "truncated: no page of events is complete";
	static const char wrong[] = "damaged: the position of the events of CPU 0";
	long all = read_bytes(whole, size), half = read_bytes(whole, size - PAGES / 2);
	uint64_t end, place;
	size_t table;

	(void)state;
	cpus_at(&table);
	place = table + 16;
	end = place + PAGES;
	assert_true(half > 0 && half < all);
	assert_int_equal(read_bytes(whole, size - 1), half);
	assert_int_equal(read_bytes(whole, size - PAGES / 2 - 1), -1);
	assert_non_null(strstr(why, none));
	/* none, at the very end, and behind it */
	assert_int_equal(read_cpus(1, end, 0), 0);
	assert_int_equal(read_cpus(1, end + 1, 0), 0);
	assert_int_equal(read_cpus(1, place, PAGES + 1), all);
	assert_int_equal(read_cpus(1, end, 1), -1);
	assert_non_null(strstr(why, none));
	assert_int_equal(read_cpus(1, end + 1, PAGES), -1);
	assert_non_null(strstr(why, none));
	/* the sum is small again */
	assert_int_equal(read_cpus(1, UINT64_MAX - PAGES + 1, PAGES), -1);
	assert_non_null(strstr(why, wrong));
	assert_int_equal(read_cpus(1, place, UINT64_MAX - place + 1), -1);
	assert_non_null(strstr(why, wrong));
}

/* Bytes, and numbers of 32 bits that are likely to hurt. */
static void damage(unsigned int *seed)
{
	static const uint32_t numbers[] = { 0, 1, 4, 0x7fffffff, 0x80000000, 0xffffffff, 0xfff0, 29, 30, 31 };
	unsigned int times = 1 + rand_r(seed) % 8;
	/* half of the time the pages alone, which are at the end, for the head to be good */
	size_t from = rand_r(seed) % 2 ? size - PAGES : 0, at;

	while (times--) {
		at = from + rand_r(seed) % (size - from);
		if (rand_r(seed) % 2)
			copy[at] = rand_r(seed);
		else if (at + 4 <= size)
			memcpy(copy + at, &numbers[rand_r(seed) % 10], 4);
	}
}

static void damaged(void **state)
{
	const char *seed_text = getenv("SEED"), *steps_text = getenv("STEPS");
	unsigned int seed = seed_text ? atoi(seed_text) : 1;
	long steps = steps_text ? atol(steps_text) : 3000, all = steps, read = 0, refused = 0;

	(void)state;
	while (steps--) {
		memcpy(copy, whole, size);
		damage(&seed);
		if (read_bytes(copy, size) < 0)
			refused++;
		else
			read++;
	}
	/* both ways were walked */
	assert_true(read > all / 4);
	assert_true(refused > all / 50);
}

int run_trace(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intact),
		cmocka_unit_test(back),
		cmocka_unit_test(truncated),
		cmocka_unit_test(foreign),
		cmocka_unit_test(cpu_count),
		cmocka_unit_test(cpu_place),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests_name("trace", tests, setup, teardown);
}
