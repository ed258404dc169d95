// SPDX-License-Identifier: GPL-2.0
/*
 * The files of ROCm's log.
 *
 * HIP appends _PID to the name in AMD_LOG_LEVEL_FILE since ROCm 5, so that each process of a program has a log;
 * older releases do not.  A file that has neither a line of ROCm nor a dispatch is reported with a line of it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "message.h"
#include "join.h"

static void name_add(struct log_names *names, char *path, int32_t pid)
{
	struct log_name *grown = reallocarray(names->name, names->nr + 1, sizeof(*grown));

	if (!path || !grown)
		errx(EXIT_FAILURE, "out of memory");
	names->name = grown;
	names->name[names->nr++] = (struct log_name){ path, pid };
}

/* The PID in a name of BASE_PID; -1 if it is none. */
static int32_t name_pid(const char *name, const char *base)
{
	size_t length = strlen(base);
	char *end;
	long pid;

	if (strncmp(name, base, length) || name[length] != '_' || strspn(name + length + 1, "0123456789") == 0)
		return -1;
	errno = 0;
	pid = strtol(name + length + 1, &end, 10);
	return errno || *end || pid > INT32_MAX ? -1 : pid;
}

static int name_compare(const void *left, const void *right)
{
	const struct log_name *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* PATH, if it is there, and each PATH_PID beside it.  Return: how many. */
static size_t names_add(struct log_names *names, const char *path)
{
	size_t before = names->nr;
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char *dir = slash ? strndup(path, slash - path + 1) : strdup(".");
	struct dirent *entry;
	int32_t pid;
	DIR *open;

	if (!dir)
		errx(EXIT_FAILURE, "out of memory");
	if (!access(path, F_OK))
		name_add(names, strdup(path), -1);
	open = opendir(dir);
	while (open && (entry = readdir(open))) {
		char *found = NULL;

		pid = name_pid(entry->d_name, base);
		if (pid < 0)
			continue;
		if (asprintf(&found, "%s%s", slash ? dir : "", entry->d_name) < 0)
			found = NULL;
		name_add(names, found, pid);
	}
	if (open)
		closedir(open);
	free(dir);
	if (names->nr > before)
		qsort(names->name + before, names->nr - before, sizeof(*names->name), name_compare);
	return names->nr - before;
}

/* A file that was asked for is read alone.  If it does not exist, those with _PID after its name are. */
static void names_add_asked(struct log_names *names, const char *asked)
{
	if (!access(asked, F_OK))
		name_add(names, strdup(asked), -1);
	else if (!names_add(names, asked))
		errx(EXIT_FAILURE, "%s: %s, and there is no %s_PID of a process", asked, strerror(ENOENT), asked);
}

/*
 * A file that has two names, or was named twice, is read once, by the name that has a PID.  Two copies have different
 * files: repeats.c recognises these.
 */
static void names_unite(struct log_names *names)
{
	struct stat one, other;
	size_t i, j;

	for (i = 1; i < names->nr; i++) {
		if (stat(names->name[i].path, &one))
			continue;
		for (j = 0; j < i; j++)
			if (!stat(names->name[j].path, &other) && one.st_dev == other.st_dev && one.st_ino == other.st_ino)
				break;
		if (j == i)
			continue;
		warnx("%s: the same file as %s: it is read once", names->name[i].path, names->name[j].path);
		if (names->name[j].pid < 0) {
			free(names->name[j].path);
			names->name[j] = names->name[i];
		} else {
			free(names->name[i].path);
		}
		memmove(&names->name[i], &names->name[i + 1], (--names->nr - i) * sizeof(*names->name));
		i--;
	}
}

/**
 * log_names_find() - which files to read; does not return if one that was asked for is missing
 * @names: filled in, to be freed with log_names_free(); maybe none
 * @view: the recording
 */
void log_names_find(struct log_names *names, const struct view *view)
{
	char *own = view->options->nr_amd_logs ? NULL : view_file(view->options, AMD_LOG_FILE);
	size_t i;

	*names = (struct log_names){ 0 };
	for (i = 0; i < view->options->nr_amd_logs; i++)
		names_add_asked(names, view->options->amd_logs[i]);
	if (own)
		names_add(names, own);
	names_unite(names);
	if (own && !names->nr && view_meta_value(view, "amd_log", json_type_object))
		warnx("%s: the program was recorded with --amd-log and wrote no log: no " AMD_LOG_FILE
		      ", and no " AMD_LOG_FILE "_PID",
		      view->options->dir);
	free(own);
}

/**
 * log_names_free() - free what log_names_find() allocated
 * @names: the names
 */
void log_names_free(struct log_names *names)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		free(names->name[i].path);
	free(names->name);
}

/**
 * log_open() - open a file that has an end; does not return if it cannot be read, or is something else
 * @name: the file
 *
 * Return: the file.
 */
FILE *log_open(const char *name)
{
	int fd = input_open(name);
	FILE *file;

	if (fd == -EINVAL)
		errx(EXIT_FAILURE, "%s: not a regular file", name);
	if (fd < 0)
		errx(EXIT_FAILURE, "%s: %s", name, strerror(-fd));
	file = fdopen(fd, "r");
	if (!file)
		err(EXIT_FAILURE, "%s", name);
	return file;
}

/**
 * log_warn() - report that a file was not understood, or has nothing to join
 * @log: at the end of the file
 * @name: the file
 * @before: the counters at its begin
 */
void log_warn(const struct amdlog *log, const char *name, const struct amdlog *before)
{
	if (log->cut_off > before->cut_off)
		warnx("%s: the last line has no newline: the log is cut off there, or ROCm is still writing it; what follows is missing, and the last line may not be whole",
		      name);
	if (log->cut > before->cut)
		warnx("%s: %" PRIu64 " %s longer than %d bytes: the rest is not read", name, log->cut - before->cut,
		      log->cut - before->cut == 1 ? "line is" : "lines are", AMDLOG_LINE - 1);
	if (log->partial > before->partial)
		warnx("%s: the end of %" PRIu64
		      " %s that a container runtime has cut (P) is missing: was the log filtered, sorted or cut?",
		      name, log->partial - before->partial, log->partial - before->partial == 1 ? "line" : "lines");
	if (log->shortened > before->shortened)
		warnx("%s: %" PRIu64
		      " messages about queues are left out, because they are not whole: was the log cut or folded to the width of a terminal? The first is: %s",
		      name, log->shortened - before->shortened, log->first_shortened);
	if (log->lines == before->lines)
		warnx("%s: empty: ROCm wrote no line", name);
	else if (log->headed == before->headed && trace_packed(log->first_line, strlen(log->first_line)))
		warnx("%s: %s", name, trace_packed(log->first_line, strlen(log->first_line)));
	else if (log->headed == before->headed)
		warnx("%s: no line is one of ROCm's log (:LEVEL:FILE :LINE : TIME us: MESSAGE); the first line is: %s",
		      name, log->first_line);
	else if (log->orphans > before->orphans)
		warnx("%s: %" PRIu64
		      " messages about queues are left out: which header of ROCm (:LEVEL:FILE :LINE : TIME us:) they belong to is not known, so they have no time; the first is: %s",
		      name, log->orphans - before->orphans, log->first_orphan);
	else if (log->dispatches > before->dispatches || log->shortened > before->shortened)
		return;
	else if (*log->first_packet)
		warnx("%s: no dispatch, but packets in a format that is not known; the first is: %s", name,
		      log->first_packet);
	else if (*log->first_detailed)
		warnx("%s: no dispatch, though there are lines of level 4: was the log filtered, or cut to the width of a terminal? The first of these lines is: %s",
		      name, log->first_detailed);
	else
		warnx("%s: no dispatch: ROCm writes dispatches with AMD_LOG_LEVEL=4 (kfdtrace record --amd-log=4); the first line of ROCm is: %s",
		      name, log->first_rocm);
}
