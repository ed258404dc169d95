// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of MQDs, as /sys/kernel/debug/kfd/mqds prints them: pqm_debugfs_mqds() and
 * seq_hex_dump() of amdkfd.
 *
 * CP firmware writes into the MQD of each compute queue when it was saved and restored.  The fields
 * are at the same place in v9_structs.h to v12_structs.h of amdgpu.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mqds.h"

/* First dword of the MQD of a compute queue; the same in kfd_mqd_manager_v9.c to _v12.c */
#define MQD_HEADER	0xc0310800

/* Dwords of the lower halves of the times, in bytes 0x188 to 0x1a7 */
enum { SAVE_START = 0x188 / 4, SAVE_END = 0x190 / 4, RESTORE_START = 0x198 / 4, RESTORE_END = 0x1a0 / 4 };

/* Dwords of the lower halves of the addresses of a queue's indices: cp_hqd_pq_rptr_report_addr, _wptr_poll_addr */
enum { RPTR_ADDR = 139, WPTR_ADDR = 141 };

/* The dword cp_hqd_aql_control.  amdkfd sets a bit of its field CONTROL0 for queues of AQL packets, and no bit for others. */
#define AQL_CONTROL	181
#define AQL_CONTROL0	0x7fff

/* In full lines of the dump: what there must be, and what is kept */
#define NEEDED		((RESTORE_END + 2 + 7) / 8 * 8)
#define DWORDS		((AQL_CONTROL + 1 + 7) / 8 * 8)
#define LINE		1024 /* bytes of a line, with the 0 after it: those of KFD have less than 100 */
#define TICK_NS		10 /* the counter runs at 100 MHz on all of them */
#define LONGEST_NS	10000000000ull /* no save takes that long: the fields are something else */

/* The state of the reader. */
struct reader {
	struct mqds *mqds;
	size_t line;
	unsigned int pid, gpu_id, queue, xcc;
	bool process, compute, sdma; /* a line said so */
	unsigned int *pids; /* of the processes so far, @nr_pids of them */
	size_t nr_pids;
	size_t have; /* dwords of the MQD */
	uint32_t dwords[DWORDS];
	char *why;
	size_t size;
};

static int refuse(struct reader *r, const char *what)
{
	snprintf(r->why, r->size, "line %zu: %s", r->line, what);
	return -EINVAL;
}

static uint64_t time_of(const struct reader *r, unsigned int at)
{
	/* bit 63 of some is a flag */
	return ((uint64_t)r->dwords[at + 1] << 32 | r->dwords[at]) & ~(1ull << 63);
}

/* The duration between two times, if they make sense */
static bool between(uint64_t from, uint64_t to, uint64_t *ns)
{
	if (!from || to < from || to - from > LONGEST_NS / TICK_NS)
		return false;
	*ns = (to - from) * TICK_NS;
	return true;
}

static int mqd_end(struct reader *r)
{
	uint64_t saved = time_of(r, SAVE_END), restore = time_of(r, RESTORE_START);
	struct mqd_times *t;
	bool addresses = r->have >= WPTR_ADDR + 2, control = r->have > AQL_CONTROL;

	if (!r->have)
		return 0;
	if (r->have < NEEDED)
		return refuse(r, "the MQD before this line is incomplete: the dump is truncated");
	r->have = 0;
	if (r->dwords[0] != MQD_HEADER)
		return refuse(r, "the MQD before this line is of an unknown generation");
	t = reallocarray(r->mqds->times, r->mqds->nr + 1, sizeof(*t));
	if (!t)
		return refuse(r, "out of memory");
	r->mqds->times = t;
	t += r->mqds->nr++;
	*t = (struct mqd_times){ .pid = r->pid, .gpu_id = r->gpu_id, .queue = r->queue, .xcc = r->xcc++ };
	if (addresses) {
		t->rptr = (uint64_t)r->dwords[RPTR_ADDR + 1] << 32 | r->dwords[RPTR_ADDR];
		t->wptr = (uint64_t)r->dwords[WPTR_ADDR + 1] << 32 | r->dwords[WPTR_ADDR];
	}
	t->aql = control && r->dwords[AQL_CONTROL] & AQL_CONTROL0;
	t->saved_at = saved;
	t->saved = between(time_of(r, SAVE_START), saved, &t->save_ns);
	t->restored = t->saved && restore >= saved && between(restore, time_of(r, RESTORE_END), &t->restore_ns);
	if (t->restored)
		t->gap_ns = (restore - saved) * TICK_NS;
	return 0;
}

/* How many compute queues of this process on this GPU are there so far? */
static unsigned int queues_so_far(const struct reader *r)
{
	const struct mqd_times *t = r->mqds->times;
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < r->mqds->nr; i++)
		n += t[i].pid == r->pid && t[i].gpu_id == r->gpu_id && !t[i].xcc;
	return n;
}

static int queue_begin(struct reader *r, bool compute)
{
	if (!r->process)
		return refuse(r, "a queue without a process");
	r->compute = compute;
	r->sdma = !compute;
	r->mqds->sdma += !compute;
	r->queue = queues_so_far(r);
	r->xcc = 0;
	return 0;
}

static int dump_line(struct reader *r, unsigned int offset, const char *words)
{
	unsigned int i;
	int used, ret;

	if (r->sdma)
		return 0;
	if (!r->compute)
		return refuse(r, "a dump without a queue");
	if (!offset) {
		ret = mqd_end(r);
		if (ret)
			return ret;
	}
	if (offset / 4 >= DWORDS)
		return r->have == DWORDS ? 0 : refuse(r, "lines of this MQD are missing before this line");
	if (offset / 4 != r->have)
		return refuse(r, "lines of this MQD are missing before this line");
	for (i = 0; i < 8; i++, words += used)
		if (sscanf(words, " %8x%n", &r->dwords[r->have + i], &used) != 1)
			return refuse(r, "fewer than eight words: the dump is truncated");
	r->have += 8;
	return 0;
}

static int process_begin(struct reader *r, unsigned int pid)
{
	unsigned int *pids = reallocarray(r->pids, r->nr_pids + 1, sizeof(*pids));

	if (!pids)
		return refuse(r, "out of memory");
	r->pids = pids;
	pids[r->nr_pids++] = pid;
	r->pid = pid;
	r->process = true;
	r->compute = r->sdma = false;
	return 0;
}

static int pid_compare(const void *left, const void *right)
{
	const unsigned int *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/*
 * KFD prints the PID that the opener of /dev/kfd had, also when that process has ended while others that share its memory
 * have not.  The PID may be that of another process by then.
 */
static void ambiguous_mark(const struct reader *r)
{
	size_t i, j;

	if (r->nr_pids)
		qsort(r->pids, r->nr_pids, sizeof(*r->pids), pid_compare);
	for (i = 1; i < r->nr_pids; i++)
		for (j = 0; r->pids[i] == r->pids[i - 1] && j < r->mqds->nr; j++)
			if (r->mqds->times[j].pid == r->pids[i])
				r->mqds->times[j].ambiguous = true;
}

static int line_read(struct reader *r, const char *line)
{
	unsigned int pid, id, offset;
	int end = 0, ret = 0;

	if (sscanf(line, "%x: %n", &offset, &end) == 1 && end)
		return dump_line(r, offset, line + end);
	ret = mqd_end(r);
	if (ret)
		return ret;
	if (sscanf(line, "Process %u PASID %n", &pid, &end) == 1 && end)
		return process_begin(r, pid);
	if (sscanf(line, "Compute queue on device %x", &id) == 1) {
		r->gpu_id = id;
		return queue_begin(r, true);
	}
	/* the debugger's queue has no times that matter either */
	if (sscanf(line, "SDMA queue on device %x", &id) == 1 || sscanf(line, "DIQ on device %x", &id) == 1)
		return queue_begin(r, false);
	return refuse(r, "not a line of /sys/kernel/debug/kfd/mqds");
}

/* The next line of @in, without its end: 1; 0 at the end of the file; -EINVAL: no dump has such a line */
static int line_next(FILE *in, char line[LINE])
{
	size_t size = 0;
	int c;

	while ((c = getc(in)) != EOF && c != '\n') {
		if (!c || size == LINE - 1)
			return -EINVAL;
		line[size++] = c;
	}
	line[size] = '\0';
	return c != EOF || size;
}

/**
 * mqds_read() - read a dump
 * @in: where it is
 * @mqds: set, also on failure: what was whole; free(3) @mqds->times
 * @why: out: what is wrong
 * @size: of @why
 *
 * Return: 0, -EINVAL: it is no dump, or not all of one; or -EIO: it cannot be read.
 */
int mqds_read(FILE *in, struct mqds *mqds, char *why, size_t size)
{
	struct reader r = { .mqds = mqds, .why = why, .size = size };
	char line[LINE];
	size_t skip;
	int ret = 0, got;

	*mqds = (struct mqds){ 0 };
	errno = 0;
	while (!ret && (got = line_next(in, line))) {
		r.line++;
		skip = strspn(line, " \t");
		if (got < 0)
			ret = refuse(&r, "not a line of /sys/kernel/debug/kfd/mqds: it is too long, or has a byte 0");
		else if (line[skip])
			ret = line_read(&r, line + skip);
	}
	r.line++;
	if (!ret && ferror(in)) {
		ret = -EIO;
		snprintf(why, size, "%s", strerror(errno ? errno : EIO));
	}
	if (!ret)
		ret = mqd_end(&r);
	ambiguous_mark(&r);
	free(r.pids);
	return ret;
}
