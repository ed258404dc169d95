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
#include <json-c/json.h>

#include "kfdlib.h"
#include "record.h"

/* Raised when the meaning of a member changes; new members do not count. */
#define META_FORMAT 1

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

static bool add(struct json_object *object, const char *key, struct json_object *value)
{
	return value && !json_object_object_add(object, key, value);
}

static bool add_text(struct json_object *object, const char *key, const char *raw)
{
	char *text = text_utf8(raw);
	bool done = text && add(object, key, json_object_new_string(text));

	free(text);
	return done;
}

/* True, false, or null if that is not known. */
static bool add_simulated(struct json_object *object)
{
	enum simulated simulated = kfd_simulated("");

	if (simulated == SIMULATED_UNKNOWN)
		return !json_object_object_add(object, "simulated", NULL);
	return add(object, "simulated", json_object_new_boolean(simulated == SIMULATED_YES));
}

static bool array_add(struct json_object *array, struct json_object *value)
{
	return value && !json_object_array_add(array, value);
}

static struct json_object *texts(char **list)
{
	struct json_object *array = json_object_new_array();
	char *text;

	for (; array && *list; list++) {
		text = text_utf8(*list);
		array_add(array, text ? json_object_new_string(text) : NULL);
		free(text);
	}
	return array;
}

static struct json_object *numbers(const uint64_t *list, int nr)
{
	struct json_object *array = json_object_new_array();
	int i;

	for (i = 0; array && i < nr; i++)
		array_add(array, json_object_new_uint64(list[i]));
	return array;
}

static struct json_object *processes(const struct recording *rec)
{
	struct json_object *array = json_object_new_array(), *object, *pids;
	unsigned int level;
	size_t i;

	for (i = 0; array && i < rec->nr_seen; i++) {
		const struct seen_process *seen = &rec->seen[i];

		object = json_object_new_object();
		pids = json_object_new_array();
		if (!object || !pids)
			return NULL;
		add(object, "pid", json_object_new_int(seen->pid));
		for (level = 0; level < seen->nr_ns; level++)
			array_add(pids, json_object_new_int(seen->nspid[level]));
		add(object, "nspid", pids);
		add(object, "uid", json_object_new_int64(seen->uid));
		add_text(object, "command", seen->comm);
		array_add(array, object);
	}
	return array;
}

/* num_cp_queues: compute queues that are on the GPU at once, of one XCC; a queue has one on each. */
static struct json_object *gpus(void)
{
	struct json_object *array = json_object_new_array(), *object;
	struct kfd_topology topo;
	uint64_t hqds;
	size_t i;

	if (!array || kfd_topology_read(&topo))
		return array;
	for (i = 0; i < topo.nr; i++) {
		object = json_object_new_object();
		if (!object)
			break;
		add(object, "gpu_id", json_object_new_int64(topo.gpus[i].gpu_id));
		add(object, "node", json_object_new_int(topo.gpus[i].node));
		add_text(object, "name", topo.gpus[i].name);
		if (*topo.gpus[i].gfx)
			add_text(object, "gfx", topo.gpus[i].gfx);
		if (*topo.gpus[i].product)
			add_text(object, "product", topo.gpus[i].product);
		add_text(object, "pci", topo.gpus[i].pci);
		if (kfd_topology_prop(&topo.gpus[i], "num_cp_queues", &hqds))
			add(object, "compute_hqds", json_object_new_int64(hqds));
		array_add(array, object);
	}
	kfd_topology_free(&topo);
	return array;
}

static struct json_object *driver(void)
{
	struct json_object *object = NULL;
	char why[KFDLIB_WHY], text[32];
	struct kfd_dev dev;

	if (kfd_dev_open(&dev, why))
		return NULL;
	snprintf(text, sizeof(text), "%u.%u", dev.version.major, dev.version.minor);
	object = json_object_new_string(text);
	kfd_dev_close(&dev);
	return object;
}

static void add_command(struct json_object *object, const struct recording *rec)
{
	struct json_object *log;
	int status = rec->child_status;

	if (!rec->options->command)
		return;
	add(object, "command", texts(rec->options->command));
	add(object, "command_pid", json_object_new_int(rec->child));
	if (status >= 0 && WIFEXITED(status))
		add(object, "exit_status", json_object_new_int(WEXITSTATUS(status)));
	else if (status >= 0)
		add(object, "signal", json_object_new_int(WTERMSIG(status)));
	if (!rec->options->amd_log)
		return;
	log = json_object_new_object();
	if (!log)
		return;
	add(log, "level", json_object_new_int(rec->options->amd_log));
	add_text(log, "file", AMD_LOG_FILE);
	add(object, "amd_log", log);
}

/**
 * meta_write() - write meta.json
 * @rec: the recording, at its end
 * @fd: where to; is left open
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int meta_write(const struct recording *rec, int fd, char *why)
{
	struct json_object *object = json_object_new_object();
	struct json_object *version = driver();
	struct utsname uts;
	char *text = NULL;
	int ret = -ENOMEM;

	if (!object)
		goto out;
	add(object, "version", json_object_new_int(META_FORMAT));
	add_text(object, "kfdtrace", KFDPRIO_VERSION);
	if (version)
		add(object, "driver_interface", version);
	if (!uname(&uts))
		add_text(object, "kernel", uts.release);
	add_text(object, "clock", RECORD_CLOCK);
	add(object, "start_ns", json_object_new_uint64(rec->start_ns));
	add(object, "end_ns", json_object_new_uint64(rec->end_ns));
	add(object, "realtime_offset_ns", json_object_new_int64(rec->start_real_ns - rec->start_ns));
	add(object, "boottime_offset_ns", json_object_new_int64(rec->boot_offset_ns));
	add(object, "events", texts(rec->options->events));
	add(object, "buffer_kb_per_cpu", json_object_new_uint64(rec->buffer_kb));
	add(object, "buffer_kb_wanted", json_object_new_uint64(rec->wanted_kb));
	add(object, "recorded_per_cpu", numbers(rec->entries, rec->nr_cpus));
	add(object, "lost_per_cpu", numbers(rec->lost, rec->nr_cpus));
	add_command(object, rec);
	add_simulated(object);
	add(object, "gpus", gpus());
	add(object, "processes", processes(rec));
	text = json_printable(object, true);
	if (!text)
		goto out;
	ret = dprintf(fd, "%s\n", text) < 0 ? -errno : 0;
out:
	if (ret)
		snprintf(why, RECORD_WHY, "cannot write meta.json: %s", strerror(-ret));
	free(text);
	json_object_put(object);
	return ret;
}
