// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor: groups whose limit or weight is not enforced on a GPU, and their work that does not go through KFD */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "share.h"

#define NAMED	    8	   /* groups, or processes, that a finding names */
#define DESCRIPTORS 100000 /* that are examined at most. A process may have a million */

/**
 * struct drm_work - work of processes in groups that does not go through KFD
 * @names: the processes, and which engines each has used, ", " between them
 * @nr: how many processes
 * @unknown: processes whose descriptors the caller may not examine
 * @left: descriptors that may be examined yet
 */
struct drm_work {
	char names[NAMED * 64];
	size_t nr;
	size_t unknown;
	unsigned int left;
};

/*
 * The name of an engine of amdgpu that an open file was used for, of 23 characters at most: "drm-engine-compute:\t1234 ns" in
 * @fdinfo, see drm-usage-stats.rst of the kernel
 */
static bool engine_of(char *fdinfo, char *engine)
{
	char *line, *next, driver[8] = "";
	unsigned long long ns;

	for (line = strtok_r(fdinfo, "\n", &next); line; line = strtok_r(NULL, "\n", &next))
		if (sscanf(line, "drm-driver: %7s", driver) != 1 && !strcmp(driver, "amdgpu") &&
		    sscanf(line, "drm-engine-%23[a-z0-9_]: %llu ns", engine, &ns) == 2 && ns)
			return true;
	return false;
}

static void process_examine(struct drm_work *w, pid_t pid)
{
	char path[DOCTOR_PATH], engine[24], *fdinfo;
	struct dirent *entry;
	bool found = false;
	size_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc/%d/fdinfo", doctor_root, pid);
	dir = opendir(path);
	if (!dir) {
		w->unknown += errno != ENOENT;
		return;
	}
	while (!found && w->left && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		w->left--;
		fdinfo = doctor_slurp("/proc/%d/fdinfo/%s", pid, entry->d_name);
		found = fdinfo && engine_of(fdinfo, engine);
		free(fdinfo);
	}
	closedir(dir);
	if (!found || w->nr++ >= NAMED)
		return;
	len = strlen(w->names);
	snprintf(w->names + len, sizeof(w->names) - len, "%s%d (%s)", len ? ", " : "", pid, engine);
}

/* Do processes in groups give the GPU work through DRM? No limit or weight reaches that */
static void drm_work(struct doctor *d)
{
	struct drm_work w = { .left = DESCRIPTORS };
	struct kfd_prio_list_entry *entries;
	size_t nr, i, j;

	if (kfd_dev_list(&d->dev, &entries, &nr))
		return;
	for (i = 0; i < nr; i++) {
		if (!entries[i].share && !entries[i].cgroup_share)
			continue;
		/* it has an entry for each GPU */
		for (j = 0; j < i && entries[j].pid != entries[i].pid; j++)
			;
		if (j == i)
			process_examine(&w, entries[i].pid);
	}
	free(entries);
	if (w.nr)
		doctor_say(d, FINDING_WARN, "work through DRM",
			   "with Vulkan, OpenGL or ioctls on the render node: Documentation/shares.rst, What a share does not reach",
			   "%zu process%s in groups gave a GPU work that no limit and no weight reaches: %s%s", w.nr,
			   w.nr == 1 ? "" : "es", w.names, w.nr > NAMED ? " and others" : "");
	if (w.unknown)
		doctor_say(d, FINDING_INFO, "work through DRM", "ask as root",
			   "not known for %zu process%s in groups: the descriptors of others are not shown to this user",
			   w.unknown, w.unknown == 1 ? "" : "es");
	if (!w.left)
		doctor_say(d, FINDING_INFO, "work through DRM", NULL,
			   "not known for all processes in groups: they have more than %d open descriptors", DESCRIPTORS);
}

/**
 * doctor_groups() - is the limit, or the weight, of each group enforced, and do they reach all of its work?
 * @d: the examination; the driver is known
 */
void doctor_groups(struct doctor *d)
{
	struct kfd_prio_share_entry *entries;
	char names[NAMED * 24] = "";
	size_t nr, i, bad = 0, len = 0;

	if (d->dev.fd < 0 || !kfd_dev_has_shares(&d->dev, NULL) || kfd_dev_shares(&d->dev, &entries, &nr))
		return;
	for (i = 0; i < nr; i++) {
		if (!share_entry_unenforced(&entries[i]))
			continue;
		if (bad++ < NAMED)
			len += snprintf(names + len, sizeof(names) - len, "%s%llu", len ? ", " : "",
					(unsigned long long)entries[i].group);
	}
	free(entries);
	if (bad)
		doctor_say(d, FINDING_WARN, "groups",
			   "kfd_preempt=0, cwsr_enable=0, sched_policy=2 and an open circuit breaker do that: see the findings on these, and kfd/preempt in debugfs",
			   "%zu of %zu groups have their limit or weight not enforced on a GPU: group%s %s%s", bad, nr,
			   bad == 1 ? "" : "s", names, bad > NAMED ? " and others" : "");
	if (nr)
		drm_work(d);
}
