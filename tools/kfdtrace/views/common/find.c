// SPDX-License-Identifier: GPL-2.0
/*
 * Which queue of the recording a line of ROCm's log is about.
 *
 * What the log calls HWq is the ring of the queue, which is what the kernel is told, too.  HIP 5
 * prints the address of the HSA queue instead: the amd_queue_t of the HSA ABI begins with it and
 * has the write index, whose address the kernel is told, at a fixed place.
 *
 * Processes may have queues at the same addresses.  The PID of a line tells them apart, if it has one, and the time.
 */
#include "joiner.h"

#define WRITE_INDEX 56 /* offset of write_dispatch_id in amd_queue_t, fixed by the HSA ABI */

static int32_t path_pid(const struct queue_path *path)
{
	return path->queue->client->process->pid;
}

/* The log has the PID that the process has for itself. */
static bool pid_fits(const struct joiner *joiner, const struct queue_path *path, int32_t pid)
{
	int known = path_pid(path), inner;

	if (pid < 0 || pid == known)
		return true;
	return view_inner_pid(joiner->view, known, &inner) && inner == pid;
}

static bool address_fits(const struct queue_path *path, uint64_t hwq, bool *by_object)
{
	if (!hwq)
		return false;
	/* the first paths->nr have a queue: NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	if (path->queue->ring_base == hwq) {
		*by_object = false;
		return true;
	}
	*by_object = true;
	return path->queue->wptr == hwq + WRITE_INDEX;
}

/* Between two bounds, path_find() finds the same. */
static void bound(struct joiner *joiner, uint64_t ts, uint64_t at)
{
	if (at > ts && at < joiner->last.to)
		joiner->last.to = at;
	else if (at <= ts && at > joiner->last.from)
		joiner->last.from = at;
}

/**
 * path_find() - the queue that a line is about
 * @joiner: the recording
 * @entry: the line
 *
 * The address may be used again: the queue that was there at that time, or the newest before, or the first one.  The
 * paths are sorted by creation.
 *
 * Return: the queue, if there is one.
 */
struct found path_find(struct joiner *joiner, const struct amdlog_entry *entry)
{
	uint64_t hwq = entry->v[LOG_HWQ], ts = entry->ts, created, gone;
	struct found found = { .other = -1 };
	size_t i;

	if (joiner->last.found.path && joiner->last.hwq == hwq && joiner->last.pid == entry->pid &&
	    ts >= joiner->last.from && ts < joiner->last.to)
		return joiner->last.found;
	joiner->last.from = 0;
	joiner->last.to = UINT64_MAX;
	for (i = 0; i < joiner->paths->nr; i++) {
		struct queue_path *path = &joiner->paths->path[i];
		bool object, lives;

		if (!address_fits(path, hwq, &object) || !pid_fits(joiner, path, entry->pid))
			continue;
		created = path->queue->created > LINE_UNIT_NS ? path->queue->created - LINE_UNIT_NS + 1 : 0;
		gone = path->queue->destroyed ? path->queue->destroyed + 1 : UINT64_MAX;
		bound(joiner, ts, created);
		bound(joiner, ts, gone);
		lives = created <= ts && gone > ts;
		if (lives && found.lives && path_pid(path) != path_pid(found.path))
			found.other = path_pid(found.path);
		if (found.path && (created > ts || (found.lives && gone <= ts)))
			continue;
		found.path = path;
		found.by_object = object;
		found.lives = lives;
	}
	joiner->last.found = found;
	joiner->last.hwq = hwq;
	joiner->last.pid = entry->pid;
	return found;
}

/**
 * stranger_note() - note the name of a queue that the recording lacks
 * @joiner: the recording
 * @entry: a line about it
 */
void stranger_note(struct joiner *joiner, const struct amdlog_entry *entry)
{
	struct paths *paths = joiner->paths;
	uint64_t hwq = entry->v[LOG_HWQ], i;

	for (i = 0; i < paths->unjoined; i++)
		if (joiner->stranger[i].hwq == hwq && joiner->stranger[i].pid == entry->pid)
			return;
	paths->unjoined_more |= i == MAX_UNJOINED;
	if (paths->unjoined_more)
		return;
	joiner->stranger[i].hwq = hwq;
	joiner->stranger[i].pid = entry->pid;
	paths->unjoined++;
}

/**
 * strangers_end() - which of these names are in the recording under another PID, in queues that no line of the log names?
 * @joiner: at the end of the log
 */
void strangers_end(const struct joiner *joiner)
{
	struct paths *paths = joiner->paths;
	uint64_t i;
	size_t at;
	bool object;
	int inner;

	for (i = 0; i < paths->unjoined; i++) {
		for (at = 0; at < paths->nr; at++)
			if (!paths->path[at].hwq && address_fits(&paths->path[at], joiner->stranger[i].hwq, &object))
				break;
		if (at == paths->nr)
			continue;
		if (paths->other_pid++ && joiner->stranger[i].pid >= paths->log_pid)
			continue;
		paths->log_pid = joiner->stranger[i].pid;
		paths->recorded_pid = path_pid(&paths->path[at]);
		paths->pid_mapped = view_inner_pid(joiner->view, paths->recorded_pid, &inner);
	}
}
