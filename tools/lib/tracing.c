// SPDX-License-Identifier: GPL-2.0
/* Where tracefs is mounted, and whether events can be recorded there. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kfdlib.h"

#define USUAL	 "/sys/kernel/tracing"
#define DEBUGFS	 "/sys/kernel/debug/tracing"
#define LOCKDOWN "/sys/kernel/security/lockdown"

static FILE *root_open(const char *root, const char *path)
{
	char name[KFDLIB_PATH];

	snprintf(name, sizeof(name), "%s%s", root, path);
	return fopen(name, "re");
}

static bool has(const char *root, const char *dir, const char *file)
{
	char name[2 * KFDLIB_PATH];

	snprintf(name, sizeof(name), "%s%s/%s", root, dir, file);
	return !access(name, F_OK);
}

/**
 * lockdown_is_confidentiality() - whether the kernel reports the lockdown that forbids tracing
 * @root: prefix of all paths, for tests
 *
 * Return: whether; false as well if securityfs is not mounted here, which tells nothing.
 */
bool lockdown_is_confidentiality(const char *root)
{
	FILE *file = root_open(root, LOCKDOWN);
	char line[256] = "";

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		*line = '\0';
	fclose(file);
	return strstr(line, "[confidentiality]");
}

/* The usual place before others, and one that can be written before one that cannot */
static bool better(const struct tracing *found, bool found_ro, const char *dir, bool ro)
{
	if (!*found->dir)
		return true;
	if (found_ro != ro)
		return found_ro;
	return strcmp(found->dir, USUAL) && !strcmp(dir, USUAL);
}

/* Of the mounts of this mount namespace.  The last one at a place hides those before. */
static bool mounted(const char *root, struct tracing *found, bool *read_only)
{
	FILE *file = root_open(root, "/proc/self/mounts");
	struct mntent entry;
	char text[8192];

	*found = (struct tracing){ 0 };
	while (file && getmntent_r(file, &entry, text, sizeof(text))) {
		bool ro = hasmntopt(&entry, "ro"), same = !strcmp(entry.mnt_dir, found->dir);

		if (same && strcmp(entry.mnt_type, "tracefs"))
			*found->dir = '\0';
		if (strcmp(entry.mnt_type, "tracefs") || (!same && !better(found, *read_only, entry.mnt_dir, ro)))
			continue;
		snprintf(found->dir, sizeof(found->dir), "%s", entry.mnt_dir);
		*read_only = ro;
	}
	if (file)
		fclose(file);
	return *found->dir;
}

/* In lockdown, opening any file is refused to root with another error than where rights are missing */
static bool refuses_all(const char *root, const char *dir)
{
	char name[2 * KFDLIB_PATH];
	int fd;

	snprintf(name, sizeof(name), "%s%s/trace_clock", root, dir);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EPERM;
}

static bool kernel_has(const char *root)
{
	FILE *file = root_open(root, "/proc/filesystems");
	char line[128];
	bool there = !file;

	while (file && fgets(line, sizeof(line), file))
		there |= strstr(line, "\ttracefs\n") != NULL;
	if (file)
		fclose(file);
	return there;
}

/**
 * tracing_find() - find tracefs, and what keeps it from being used
 * @root: prefix of all paths, for tests; "" for this host
 * @tracing: filled in
 *
 * Whether the caller has the rights to files there is another question.
 *
 * Return: 0, -ENOENT if there is no tracefs, -EROFS if it is read-only, -EPERM if the kernel's lockdown forbids tracing.
 */
int tracing_find(const char *root, struct tracing *tracing)
{
	bool read_only = false;

	if (!mounted(root, tracing, &read_only)) {
		if (has(root, USUAL, "events"))
			snprintf(tracing->dir, sizeof(tracing->dir), USUAL);
		else if (has(root, DEBUGFS, "events"))
			snprintf(tracing->dir, sizeof(tracing->dir), DEBUGFS);
	}
	if (lockdown_is_confidentiality(root) || (*tracing->dir && refuses_all(root, tracing->dir))) {
		snprintf(tracing->why, sizeof(tracing->why),
			 "kernel lockdown is 'confidentiality' (" LOCKDOWN "), which forbids trace events to everyone");
		snprintf(tracing->todo, sizeof(tracing->todo), "boot with lockdown=integrity, or without lockdown=");
		return -EPERM;
	}
	if (!*tracing->dir) {
		if (kernel_has(root)) {
			snprintf(tracing->why, sizeof(tracing->why), "tracefs is not mounted");
			snprintf(tracing->todo, sizeof(tracing->todo), "run 'mount -t tracefs tracefs " USUAL "'");
		} else {
			snprintf(tracing->why, sizeof(tracing->why), "this kernel has no tracefs");
			snprintf(tracing->todo, sizeof(tracing->todo), "use a kernel with CONFIG_FTRACE");
		}
		return -ENOENT;
	}
	if (read_only) {
		snprintf(tracing->why, sizeof(tracing->why), "tracefs is mounted read-only on %.200s", tracing->dir);
		snprintf(tracing->todo, sizeof(tracing->todo),
			 "run 'mount -o remount,rw %.200s'; in a container, run it on the host", tracing->dir);
		return -EROFS;
	}
	return 0;
}
