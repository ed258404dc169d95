// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of tools/lib/claimed-work.c, claimed-read.c, and of what tools/lib/mqds.c finds for them in a dump.
 *
 * The processes that have queues are children.  They share the page of the indices with the test, and have /dev/full
 * open in place of /dev/kfd.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "claimed-work.h"
#include "json-out.h"
#include "kfdlib.h"
#include "record.h"

#define GPU	2546
#define DWORDS	512
#define MS	1000000ull
#define PAGE	4096
#define DEVICE	"/dev/full"
#define NEXT_TICK usleep(30000) /* of the start times of processes, which have 10 ms */

enum format { PM4, AQL };
enum owner { HONEST, WITHOUT_DEVICE, BLOCKS };

static volatile uint64_t *indices; /* the read and the write index of one queue after the other */
static char *trap; /* a page that is not present; in a process that BLOCKS, an access to it never ends */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static dev_t device(void)
{
	struct stat status;

	assert_int_equal(stat(DEVICE, &status), 0);
	return status.st_rdev;
}

static uint64_t addr_of(int index)
{
	return (uintptr_t)&indices[index];
}

/* --- processes that have queues */

static void owner_run(enum owner kind, int ready)
{
	struct uffdio_register reg = { .range = { (uintptr_t)trap, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (kind != WITHOUT_DEVICE && open(DEVICE, O_RDONLY) < 0)
		_exit(1);
	if (kind == BLOCKS) {
		fd = syscall(SYS_userfaultfd, O_CLOEXEC);
		if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
			_exit(2);
	}
	if (write(ready, "", 1) != 1)
		_exit(3);
	for (;;)
		pause();
}

/* @pid: that it is to have, or 0 */
static pid_t owner_start(enum owner kind, pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD, .set_tid = pid ? (uintptr_t)&pid : 0, .set_tid_size = !!pid };
	int ready[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = syscall(SYS_clone3, &args, sizeof(args));
	if (!child)
		owner_run(kind, ready[1]);
	assert_true(child > 0);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	NEXT_TICK;
	return child;
}

static void owner_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* --- the dump, as amdkfd prints it */

static FILE *dump;
static char *dump_text;
static size_t dump_size;

static void dump_process(pid_t pid)
{
	if (!dump)
		dump = open_memstream(&dump_text, &dump_size);
	assert_non_null(dump);
	fprintf(dump, "Process %d PASID 0x8000:\n", pid);
}

static void dump_mqd(uint64_t rptr, uint64_t wptr, enum format format, int dwords)
{
	uint32_t mqd[DWORDS] = { [0] = 0xc0310800, [139] = rptr, [140] = rptr >> 32, [141] = wptr, [142] = wptr >> 32,
				 [181] = format == AQL };
	int i, j;

	for (i = 0; i < dwords; i += 8) {
		fprintf(dump, "    %08x:", 4 * i);
		for (j = 0; j < 8; j++)
			fprintf(dump, " %08x", mqd[i + j]);
		fputc('\n', dump);
	}
}

static void dump_queue(uint64_t rptr, uint64_t wptr, enum format format, int dwords)
{
	fprintf(dump, "  Compute queue on device %x\n", GPU);
	dump_mqd(rptr, wptr, format, dwords);
}

/* A process with one queue, whose indices are @index and the next one */
static void dump_owner(pid_t pid, int index)
{
	dump_process(pid);
	dump_queue(addr_of(index), addr_of(index + 1), AQL, DWORDS);
}

static struct mqds dump_end(void)
{
	struct mqds mqds;
	char why[128];
	FILE *in;

	fclose(dump);
	dump = NULL;
	in = fmemopen(dump_text, dump_size, "r");
	assert_non_null(in);
	if (mqds_read(in, &mqds, why, sizeof(why)))
		fail_msg("%s", why);
	fclose(in);
	free(dump_text);
	return mqds;
}

/* --- samples */

/* The dump is sampled as one that is read now. */
static void sample(struct claimed *claimed)
{
	struct mqds mqds = dump_end();

	claimed_sample(claimed, &mqds, claimed_ticks(), now_ns());
	free(mqds.times);
}

static struct json_object *sums_of(const struct claimed *claimed)
{
	struct json_object *sums;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	json_begin(out, JSON_LINE);
	json_open(NULL, '{');
	claimed_json(claimed);
	json_close('}');
	assert_int_equal(json_end(), 0);
	fclose(out);
	sums = json_tokener_parse(text);
	assert_non_null(sums);
	free(text);
	return sums;
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value))
		fail_msg("no member %s", key);
	return value;
}

static int64_t count_of(struct json_object *object, const char *key)
{
	return json_object_get_int64(member(object, key));
}

static int64_t samples_of(struct json_object *sums)
{
	struct json_object *list = member(sums, "claimed_work");
	int64_t samples = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++)
		samples += count_of(json_object_array_get_idx(list, i), "claimed_sample_count");
	return samples;
}

/* Until there are @samples; the longest call, ns */
static uint64_t await(struct claimed *claimed, int64_t samples)
{
	uint64_t begin = now_ns(), longest = 0, called;
	struct json_object *sums;
	int64_t got;

	do {
		poll(NULL, 0, 2);
		called = now_ns();
		claimed_collect(claimed);
		called = now_ns() - called;
		longest = called > longest ? called : longest;
		sums = sums_of(claimed);
		got = samples_of(sums);
		json_object_put(sums);
		if (now_ns() - begin > 20000 * MS)
			fail_msg("%d samples of %d", (int)got, (int)samples);
	} while (got < samples);
	assert_int_equal(got, samples);
	return longest;
}

/* The @nth queue of @pid has so many samples; @work -1: null */
static void queue_check(const struct claimed *claimed, pid_t pid, int nth, int samples, int unknown, int work)
{
	struct json_object *sums = sums_of(claimed), *list = member(sums, "claimed_work"), *queue = NULL;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *at = json_object_array_get_idx(list, i);

		if (count_of(at, "pid") == pid && !nth--) {
			queue = at;
			break;
		}
	}
	if (!queue)
		fail_msg("queue of %d is missing: %s", pid, json_object_to_json_string(sums));
	if (count_of(queue, "claimed_sample_count") != samples || count_of(queue, "claimed_unknown_count") != unknown ||
	    !member(queue, "claimed_work_count") != (work < 0) || (work >= 0 && count_of(queue, "claimed_work_count") != work))
		fail_msg("not %d, %d, %d: %s", samples, unknown, work, json_object_to_json_string(queue));
	assert_int_equal(!member(queue, "claimed_work_first_ts_ns"), work <= 0);
	assert_int_equal(!member(queue, "claimed_work_last_ts_ns"), work <= 0);
	assert_true(count_of(queue, "claimed_first_sample_ts_ns") > 0);
	assert_true(count_of(queue, "claimed_last_sample_ts_ns") >= count_of(queue, "claimed_first_sample_ts_ns"));
	json_object_put(sums);
}

static int64_t total(const struct claimed *claimed, const char *key)
{
	struct json_object *sums = sums_of(claimed);
	int64_t count = count_of(sums, key);

	json_object_put(sums);
	return count;
}

/* The readers that live, and one of them */
static int readers(pid_t *one)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct proc_task task;
	struct proc_info info;
	int nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 0 || proc_stat_read(pid, &task) || task.parent != getpid() || task.ended ||
		    proc_read(pid, &info) || strcmp(info.comm, "kfd-mqd-reader"))
			continue;
		*one = pid;
		nr++;
	}
	closedir(dir);
	return nr;
}

/* There is one. It has its name only when it has run. */
static void reader_find(pid_t *one)
{
	int i;

	for (i = 0; i < 1000 && !readers(one); i++)
		usleep(10000);
	assert_int_equal(readers(one), 1);
}

static struct claimed *begin(void)
{
	struct claimed *claimed = claimed_begin(device());
	int i;

	assert_non_null(claimed);
	for (i = 0; i < PAGE / 8; i++)
		indices[i] = 0;
	return claimed;
}

/* --- tests of the dump */

static void test_addresses(void **state)
{
	struct mqds mqds;

	(void)state;
	dump_process(100);
	dump_queue(0x7fff00001080, 0x7fff00001038, AQL, DWORDS);
	dump_mqd(0x7fff00001080, 0x7fff00001038, AQL, DWORDS);
	dump_queue(0x7fff00002080, 0x7fff00002038, PM4, DWORDS);
	/* the dump ends before the control word, and before the addresses */
	dump_queue(0x7fff00003080, 0x7fff00003038, AQL, 176);
	dump_queue(0x7fff00004080, 0x7fff00004038, AQL, 136);
	mqds = dump_end();
	assert_int_equal(mqds.nr, 5);
	assert_int_equal(mqds.times[0].rptr, 0x7fff00001080);
	assert_int_equal(mqds.times[0].wptr, 0x7fff00001038);
	assert_true(mqds.times[0].aql && mqds.times[1].aql);
	assert_int_equal(mqds.times[1].xcc, 1);
	assert_int_equal(mqds.times[2].wptr, 0x7fff00002038);
	assert_false(mqds.times[2].aql);
	assert_int_equal(mqds.times[3].rptr, 0x7fff00003080);
	assert_false(mqds.times[3].aql);
	assert_int_equal(mqds.times[4].rptr, 0);
	assert_int_equal(mqds.times[4].wptr, 0);
	assert_false(mqds.times[4].aql);
	free(mqds.times);
}

static void test_ambiguous(void **state)
{
	struct mqds mqds;
	size_t i;

	(void)state;
	dump_owner(102, 0);
	dump_owner(100, 0);
	dump_owner(101, 0);
	dump_process(100); /* it has no queue yet */
	mqds = dump_end();
	assert_int_equal(mqds.nr, 3);
	for (i = 0; i < mqds.nr; i++)
		assert_int_equal(mqds.times[i].ambiguous, mqds.times[i].pid == 100);
	free(mqds.times);
}

/* --- tests of the samples */

static void test_work(void **state)
{
	struct claimed *claimed = begin();
	pid_t busy = owner_start(HONEST, 0), idle = owner_start(HONEST, 0);
	const struct claimed_queue *queues;
	size_t nr;
	int i;

	(void)state;
	indices[0] = 5;
	indices[1] = 7;
	indices[2] = indices[3] = 9;
	for (i = 1; i <= 3; i++) {
		if (i == 3)
			indices[0] = 7;
		dump_owner(busy, 0);
		/* a second XCC: the same queue */
		dump_mqd(addr_of(0), addr_of(1), AQL, DWORDS);
		dump_owner(idle, 2);
		dump_queue(addr_of(0), addr_of(1), PM4, DWORDS);
		sample(claimed);
		await(claimed, 3 * i);
	}
	queue_check(claimed, busy, 0, 3, 0, 2);
	queue_check(claimed, idle, 0, 3, 3, -1); /* of PM4: its indices are of another kind */
	queue_check(claimed, idle, 1, 3, 0, 0);
	/* of the busy one the read index moved once */
	queues = claimed_queues(claimed, &nr);
	assert_int_equal(nr, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(queues[i].moved, queues[i].work == 2);
	assert_int_equal(total(claimed, "claimed_blocked_process_count"), 0);
	assert_int_equal(total(claimed, "left_out_claimed_sample_count"), 0);
	claimed_end(claimed);
	owner_end(busy);
	owner_end(idle);
}

static void test_unknown(void **state)
{
	struct claimed *claimed = begin();
	pid_t honest = owner_start(HONEST, 0), other = owner_start(WITHOUT_DEVICE, 0), ended = owner_start(HONEST, 0);

	(void)state;
	indices[1] = 1;
	owner_end(ended);
	dump_process(honest);
	dump_queue(PAGE, 2 * PAGE, AQL, DWORDS); /* neither is mapped */
	dump_queue(addr_of(0), 2 * PAGE, AQL, DWORDS);
	dump_queue(~7ull, ~7ull, AQL, DWORDS);
	dump_queue(0, 0, AQL, DWORDS);
	dump_queue(addr_of(0), addr_of(1), AQL, DWORDS);
	dump_owner(other, 0);
	dump_owner(ended, 0);
	sample(claimed);
	await(claimed, 7);
	/* in meta.json, those that nothing reads come first */
	queue_check(claimed, honest, 0, 1, 1, -1);
	queue_check(claimed, honest, 1, 1, 1, -1);
	queue_check(claimed, honest, 2, 1, 1, -1);
	queue_check(claimed, honest, 3, 1, 1, -1);
	queue_check(claimed, honest, 4, 1, 0, 1);
	queue_check(claimed, other, 0, 1, 1, -1);
	queue_check(claimed, ended, 0, 1, 1, -1);
	claimed_end(claimed);
	owner_end(honest);
	owner_end(other);
}

static void test_ambiguous_unknown(void **state)
{
	struct claimed *claimed = begin();
	pid_t owner = owner_start(HONEST, 0);

	(void)state;
	indices[1] = 1;
	dump_owner(owner, 0);
	dump_process(owner);
	sample(claimed);
	await(claimed, 1);
	queue_check(claimed, owner, 0, 1, 1, -1);
	claimed_end(claimed);
	owner_end(owner);
}

/* Without /dev/kfd, and where PIDs are not those of the dump */
static void test_no_device(void **state)
{
	struct claimed *claimed = claimed_begin(0);
	pid_t owner = owner_start(HONEST, 0), reader;

	(void)state;
	indices[0] = 0;
	indices[1] = 1;
	dump_owner(owner, 0);
	sample(claimed);
	await(claimed, 1);
	queue_check(claimed, owner, 0, 1, 1, -1);
	assert_int_equal(readers(&reader), 0);
	claimed_end(claimed);
	owner_end(owner);
}

/* The owner has ended, and another process has its PID */
static void test_reuse(void **state)
{
	struct claimed *claimed = begin();
	pid_t pid = owner_start(HONEST, 0);
	struct mqds mqds;
	uint64_t before;

	(void)state;
	indices[1] = 1;
	dump_owner(pid, 0);
	sample(claimed);
	await(claimed, 1);
	queue_check(claimed, pid, 0, 1, 0, 1);

	/* after the dump: the new process is not read */
	before = claimed_ticks();
	dump_owner(pid, 0);
	mqds = dump_end();
	owner_end(pid);
	NEXT_TICK;
	assert_int_equal(owner_start(HONEST, pid), pid);
	claimed_sample(claimed, &mqds, before, now_ns());
	free(mqds.times);
	await(claimed, 2);
	queue_check(claimed, pid, 0, 2, 1, 1);

	/* a queue of the new process is another one, though its addresses are the same */
	indices[0] = 1;
	dump_owner(pid, 0);
	sample(claimed);
	await(claimed, 3);
	queue_check(claimed, pid, 0, 2, 1, 1);
	queue_check(claimed, pid, 1, 1, 0, 0);
	claimed_end(claimed);
	owner_end(pid);
}

/* A page fault of the reader that never ends holds up nothing, and happens once. */
static void test_blocks(void **state)
{
	struct claimed *claimed = begin();
	pid_t blocks = owner_start(BLOCKS, 0), honest = owner_start(HONEST, 0), reader;
	uint64_t start = now_ns(), called;

	(void)state;
	indices[1] = 1;
	dump_process(blocks);
	dump_queue((uintptr_t)trap, (uintptr_t)trap + 8, AQL, DWORDS);
	dump_queue(addr_of(0), addr_of(1), AQL, DWORDS);
	dump_owner(honest, 0);
	sample(claimed);
	called = await(claimed, 3);
	assert_in_range(now_ns() - start, CLAIMED_BOUND_NS, 10 * CLAIMED_BOUND_NS);
	assert_true(called < CLAIMED_BOUND_NS / 4);
	queue_check(claimed, blocks, 0, 1, 1, -1);
	queue_check(claimed, blocks, 1, 1, 1, -1);
	queue_check(claimed, honest, 0, 1, 0, 1);
	assert_int_equal(total(claimed, "claimed_blocked_process_count"), 1);
	reader_find(&reader);

	start = now_ns();
	dump_process(blocks);
	dump_queue((uintptr_t)trap, (uintptr_t)trap + 8, AQL, DWORDS);
	dump_queue(addr_of(0), addr_of(1), AQL, DWORDS);
	dump_owner(honest, 0);
	sample(claimed);
	await(claimed, 6);
	assert_true(now_ns() - start < CLAIMED_BOUND_NS / 2);
	queue_check(claimed, blocks, 0, 2, 2, -1);
	queue_check(claimed, blocks, 1, 2, 2, -1);
	queue_check(claimed, honest, 0, 2, 0, 2);
	assert_int_equal(total(claimed, "claimed_blocked_process_count"), 1);

	/* another process with its PID may be an honest one */
	owner_end(blocks);
	NEXT_TICK;
	assert_int_equal(owner_start(HONEST, blocks), blocks);
	dump_owner(blocks, 0);
	sample(claimed);
	await(claimed, 7);
	queue_check(claimed, blocks, 2, 1, 0, 1);
	claimed_end(claimed);
	assert_int_equal(readers(&reader), 0);
	owner_end(blocks);
	owner_end(honest);
}

/* The recording ends while the reader is blocked. */
static void test_end(void **state)
{
	struct claimed *claimed = begin();
	pid_t blocks = owner_start(BLOCKS, 0), reader;
	uint64_t start;

	(void)state;
	dump_process(blocks);
	dump_queue((uintptr_t)trap, (uintptr_t)trap + 8, AQL, DWORDS);
	sample(claimed);
	poll(NULL, 0, 50);
	claimed_collect(claimed);
	/* a dump while the reader is at the last one is left out */
	dump_owner(blocks, 0);
	sample(claimed);
	start = now_ns();
	claimed_end(claimed);
	assert_true(now_ns() - start < CLAIMED_BOUND_NS / 2);
	assert_int_equal(readers(&reader), 0);
	owner_end(blocks);
}

/* A blocked reader keeps its descriptors open: with one of a trace instance, the instance could not be removed. */
static void test_descriptors(void **state)
{
	struct claimed *claimed = begin();
	pid_t owner = owner_start(HONEST, 0), reader;
	int others = 0, sockets = 0, fd = open("/proc/self/status", O_RDONLY);
	char path[64], target[64];
	struct dirent *entry;
	DIR *dir;

	(void)state;
	dump_owner(owner, 0);
	sample(claimed);
	await(claimed, 1);
	reader_find(&reader);
	snprintf(path, sizeof(path), "/proc/%d/fd", reader);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		if (len < 0)
			continue;
		target[len] = '\0';
		sockets += !strncmp(target, "socket:", 7);
		others += strncmp(target, "socket:", 7) && strcmp(target, "/dev/null");
	}
	closedir(dir);
	assert_int_equal(sockets, 1);
	assert_int_equal(others, 0);
	close(fd);
	claimed_end(claimed);
	owner_end(owner);
}

/* The reader is killed by somebody else: no process is blamed, and another reader goes on. */
static void test_killed(void **state)
{
	struct claimed *claimed = begin();
	pid_t blocks = owner_start(BLOCKS, 0), honest = owner_start(HONEST, 0), reader;

	(void)state;
	indices[1] = 1;
	dump_process(blocks);
	dump_queue((uintptr_t)trap, (uintptr_t)trap + 8, AQL, DWORDS);
	dump_owner(honest, 0);
	sample(claimed);
	reader_find(&reader);
	kill(reader, SIGKILL);
	await(claimed, 2);
	queue_check(claimed, honest, 0, 1, 1, -1);
	assert_int_equal(total(claimed, "claimed_blocked_process_count"), 0);
	dump_owner(honest, 0);
	sample(claimed);
	await(claimed, 3);
	queue_check(claimed, honest, 0, 2, 1, 1);
	/* while it waits */
	reader_find(&reader);
	kill(reader, SIGKILL);
	NEXT_TICK;
	claimed_collect(claimed);
	dump_owner(honest, 0);
	sample(claimed);
	await(claimed, 4);
	claimed_collect(claimed);
	dump_owner(honest, 0);
	sample(claimed);
	await(claimed, 5);
	assert_int_equal(total(claimed, "claimed_blocked_process_count"), 0);
	claimed_end(claimed);
	owner_end(blocks);
	owner_end(honest);
}

/* Memory is bounded: samples for which there is no room are counted. */
static void test_left_out(void **state)
{
	struct claimed *claimed = begin();
	pid_t owner = owner_start(HONEST, 0);
	struct mqds mqds = { .nr = CLAIMED_SLOTS + 10 };
	size_t i;

	(void)state;
	mqds.times = calloc(mqds.nr, sizeof(*mqds.times));
	assert_non_null(mqds.times);
	for (i = 0; i < mqds.nr; i++)
		mqds.times[i] = (struct mqd_times){ .pid = owner, .gpu_id = GPU, .queue = i, .aql = true,
						    .rptr = addr_of(0), .wptr = 8 * (i + 1) };
	claimed_sample(claimed, &mqds, claimed_ticks(), now_ns());
	await(claimed, CLAIMED_SLOTS);
	assert_int_equal(total(claimed, "left_out_claimed_sample_count"), 10);
	for (i = 0; i < 20; i++)
		mqds.times[i].rptr = addr_of(2);
	mqds.nr = 21;
	claimed_sample(claimed, &mqds, claimed_ticks(), now_ns());
	await(claimed, CLAIMED_SLOTS + 1);
	assert_int_equal(total(claimed, "left_out_claimed_sample_count"), 30);
	free(mqds.times);
	claimed_end(claimed);
	owner_end(owner);
}

int main(void)
{
	static const struct CMUnitTest dumps[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_ambiguous),
	};
	static const struct CMUnitTest samples[] = {
		cmocka_unit_test(test_work),	    cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_reuse),	    cmocka_unit_test(test_ambiguous_unknown),
		cmocka_unit_test(test_no_device),   cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_end),	    cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_killed),	    cmocka_unit_test(test_left_out),
	};
	int failed;

	indices = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	trap = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (indices == MAP_FAILED || trap == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	failed = cmocka_run_group_tests_name("dumps", dumps, NULL, NULL);
	if (geteuid())
		puts("# SKIP the samples: they need root");
	else
		failed += cmocka_run_group_tests_name("samples", samples, NULL, NULL);
	return failed != 0;
}
