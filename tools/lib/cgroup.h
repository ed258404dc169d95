/* SPDX-License-Identifier: GPL-2.0 */
/* Cgroups of processes, in the hierarchy that systemd keeps its units in. */
#ifndef CGROUP_H
#define CGROUP_H

#include "kfdlib.h"

/*
 * Called for a process; @pid is 0 when the caller's PID namespace has no number for it.  @dir: descriptor of the
 * cgroup, for cgroup_has()
 */
typedef void (*cgroup_each_fn)(void *context, pid_t pid, int dir);

int cgroup_check(const char *text, char *path, size_t size, char *why);
int cgroup_open(const char *path);
int cgroup_name_open(const char *path, uint64_t *id);
bool cgroup_is_v2(int fd);
int cgroup_of(pid_t pid, char *path, size_t size);
bool cgroup_below(const char *cgroup, const char *path);
const char *cgroup_slurm_job(const char *cgroup, const char **number);
int cgroup_slurm(pid_t pid, char *path, size_t size, char *job, size_t job_size);

/**
 * struct cgroup_id - a cgroup by its number
 * @id: the inode number of its directory
 * @path: in the hierarchy, raw bytes, to be freed with free(3); NULL: it was not found
 */
struct cgroup_id {
	uint64_t id;
	char *path;
};

/* cgroup-walk.c */
int cgroup_pids(const char *path, cgroup_each_fn each, void *context, char *why);
void cgroup_find(struct cgroup_id *ids, size_t nr);
bool cgroup_has(int dir, pid_t pid);

#endif /* CGROUP_H */
