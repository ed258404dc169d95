// SPDX-License-Identifier: GPL-2.0
/* meta.json: what was recorded, how, and which processes were there. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json-out.h"
#include "kfdlib.h"
#include "record.h"
#include "stock/stock.h"

/* Raised when the meaning of a member changes; new members do not count. */
#define META_FORMAT 2

/* Where KFD lists the processes that use it. */
#define KFD_PROC "/sys/class/kfd/kfd/proc"

static void nspid_read(struct seen_process *seen)
{
	char path[64], line[512], *at, *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", seen->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		for (at = line + 6; seen->nr_ns < MAX_NS_LEVELS; at = end) {
			long pid = strtol(at, &end, 10);

			if (end == at)
				break;
			seen->nspid[seen->nr_ns++] = pid;
		}
		break;
	}
	fclose(file);
}

/**
 * process_see() - remember a process, and by which PIDs it is known
 * @rec: the recording
 * @pid: the process; its name is taken anew if it is known
 */
void process_see(struct recording *rec, pid_t pid)
{
	struct seen_process *grown, *seen = NULL;
	struct proc_info info;
	size_t i;

	for (i = 0; i < rec->nr_seen; i++)
		if (rec->seen[i].pid == pid)
			seen = &rec->seen[i];
	if (proc_read(pid, &info) || info.zombie)
		return;
	if (!seen) {
		grown = reallocarray(rec->seen, rec->nr_seen + 1, sizeof(*grown));
		if (!grown)
			return;
		rec->seen = grown;
		seen = &grown[rec->nr_seen++];
		memset(seen, 0, sizeof(*seen));
		seen->pid = pid;
		nspid_read(seen);
	}
	seen->uid = info.euid;
	snprintf(seen->comm, sizeof(seen->comm), "%s", info.comm);
}

/**
 * processes_scan() - remember the processes that use KFD now
 * @rec: the recording
 *
 * Return: how many there are.
 */
int processes_scan(struct recording *rec)
{
	DIR *dir = opendir(KFD_PROC);
	struct dirent *entry;
	int nr = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		int pid = atoi(entry->d_name);

		if (pid <= 0)
			continue;
		process_see(rec, pid);
		nr++;
	}
	closedir(dir);
	return nr;
}

static void texts(const char *key, char **list)
{
	json_open(key, '[');
	for (; *list; list++)
		json_text(NULL, *list);
	json_close(']');
}

/* RECORD_UNKNOWN: null */
static void numbers(const char *key, const uint64_t *list, int nr)
{
	int i;

	json_open(key, '[');
	for (i = 0; i < nr; i++)
		if (list[i] == RECORD_UNKNOWN)
			json_null(NULL);
		else
			json_count(NULL, list[i]);
	json_close(']');
}

static void processes(const struct recording *rec)
{
	unsigned int level;
	size_t i;

	json_open("processes", '[');
	for (i = 0; i < rec->nr_seen; i++) {
		const struct seen_process *seen = &rec->seen[i];

		json_open(NULL, '{');
		json_number("pid", seen->pid);
		json_open("nspid", '[');
		for (level = 0; level < seen->nr_ns; level++)
			json_number(NULL, seen->nspid[level]);
		json_close(']');
		json_count("uid", seen->uid);
		json_text("command", seen->comm);
		json_close('}');
	}
	json_close(']');
}

/* num_cp_queues: compute queues that are on the GPU at once, of one XCC; a queue has one on each. */
static void gpus(void)
{
	struct kfd_topology topo;
	uint64_t hqds;
	size_t i;

	json_open("gpus", '[');
	if (kfd_topology_read(&topo))
		topo.nr = 0;
	for (i = 0; i < topo.nr; i++) {
		const struct kfd_gpu *gpu = &topo.gpus[i];

		json_open(NULL, '{');
		json_count("gpu_id", gpu->gpu_id);
		json_count("node", gpu->node);
		json_text("name", gpu->name);
		json_text("gfx", *gpu->gfx ? gpu->gfx : NULL);
		json_text("product", *gpu->product ? gpu->product : NULL);
		json_text("pci", gpu->pci);
		if (kfd_topology_prop(gpu, "num_cp_queues", &hqds))
			json_count("compute_hqds", hqds);
		else
			json_null("compute_hqds");
		json_close('}');
	}
	json_close(']');
	kfd_topology_free(&topo);
}

static void driver(void)
{
	char why[KFDLIB_WHY], text[32];
	struct kfd_dev dev;

	if (!record_driver_is_ours() || kfd_dev_open(&dev, why)) {
		json_null("driver_interface");
		return;
	}
	snprintf(text, sizeof(text), "%u.%u", dev.version.major, dev.version.minor);
	json_text("driver_interface", text);
	kfd_dev_close(&dev);
}

/* Which functions of a driver without events were probed, and which could not be. */
static void probes(const struct stock *stock)
{
	const struct stock_symbol *symbols = stock_attached(stock);
	int i, missing;

	json_text("driver", "stock");
	for (missing = 0; missing < 2; missing++) {
		json_open(missing ? "missing_probes" : "probes", '[');
		for (i = 0; i < NR_STOCK_PROBES; i++)
			if ((*symbols[i].why != 0) == missing && !(missing && stock_probes[i].optional))
				json_text(NULL, *symbols[i].name ? symbols[i].name : stock_probes[i].names[0]);
		json_close(']');
	}
}

/* Members that a recording without a command does not have. */
static void command(const struct recording *rec)
{
	int status = rec->child_status;

	if (!rec->options->command)
		return;
	texts("command", rec->options->command);
	json_number("command_pid", rec->child);
	if (status >= 0 && WIFEXITED(status))
		json_number("exit_status", WEXITSTATUS(status));
	else if (status >= 0)
		json_number("signal", WTERMSIG(status));
	if (!rec->options->amd_log)
		return;
	json_open("amd_log", '{');
	json_number("level", rec->options->amd_log);
	json_text("file", AMD_LOG_FILE);
	json_close('}');
}

/**
 * meta_write() - write meta.json
 * @rec: the recording, at its end
 * @fd: where to; is left open
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int meta_write(struct recording *rec, int fd, char *why)
{
	static const char *const ended_by[] = {
		[RECORD_END_SIGNAL] = "signal",	    [RECORD_END_COMMAND] = "command",
		[RECORD_END_PROCESS] = "process",   [RECORD_END_SIZE] = "size",
		[RECORD_END_PREEMPTION] = "preemption", [RECORD_END_UNLOADED] = "unloaded",
	};
	int copy = dup(fd), ret;
	FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
	struct utsname uts;

	if (!file) {
		ret = -errno;
		if (copy >= 0)
			close(copy);
		goto out;
	}
	json_begin(file, JSON_ROWS);
	json_open(NULL, '{');
	json_number("version", META_FORMAT);
	json_text("kfdtrace", KFDPRIO_VERSION);
	driver();
	json_text("kernel", uname(&uts) ? NULL : uts.release);
	json_text("clock", RECORD_CLOCK);
	json_count("start_ts_ns", rec->start_ns);
	json_count("end_ts_ns", rec->end_ns);
	json_number("realtime_offset_ns", (int64_t)(rec->start_real_ns - rec->start_ns));
	json_number("boottime_offset_ns", rec->boot_offset_ns);
	texts("events", rec->options->events);
	if (rec->stock)
		probes(rec->stock);
	else if (rec->driver == RECORD_UPSTREAM)
		json_text("driver", "upstream");
	json_count("cpu_buffer_kib", rec->buffer_kb);
	json_count("wanted_cpu_buffer_kib", rec->wanted_kb);
	numbers("cpu_event_counts", rec->entries, rec->nr_cpus);
	numbers("cpu_lost_counts", rec->lost, rec->nr_cpus);
	json_text("ended_by", ended_by[rec->ended_by]);
	json_flag("loop", rec->options->loop);
	command(rec);
	json_simulated("simulated", kfd_simulated(""));
	gpus();
	processes(rec);
	json_open("state", '{');
	state_json("start", watch_state(rec));
	state_json("end", rec->end);
	json_close('}');
	mqd_json(rec);
	json_close('}');
	ret = json_end();
	if (fflush(file) || ferror(file))
		ret = -errno;
	if (fclose(file) && !ret)
		ret = -errno;
out:
	if (ret)
		snprintf(why, RECORD_WHY, "cannot write meta.json: %s", strerror(-ret));
	return ret;
}
