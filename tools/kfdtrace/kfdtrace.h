/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the verbs of kfdtrace. */
#ifndef KFDTRACE_H
#define KFDTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "kfdlib.h"

/* Of all JSON; raised when the meaning of a member changes, not for new members. */
#define JSON_FORMAT 2

/* Of a recording: ROCm's log. */
#define AMD_LOG_FILE "amd.log"

/* argv[0] is the verb. */
int kfdtrace_record(int argc, char **argv);
int kfdtrace_report(int argc, char **argv);
int kfdtrace_queues(int argc, char **argv);
int kfdtrace_path(int argc, char **argv);
int kfdtrace_compare(int argc, char **argv);
int kfdtrace_timeline(int argc, char **argv);
int kfdtrace_live(int argc, char **argv);
int kfdtrace_doctor(int argc, char **argv);
int kfdtrace_btf(int argc, char **argv);

__attribute__((noreturn, format(printf, 2, 3))) void usage_error(const char *verb,
								 const char *format, ...);
/**
 * struct pids - processes that were asked for
 * @pid: array of @nr
 * @nr: how many; 0: all
 */
struct pids {
	pid_t *pid;
	size_t nr;
};

pid_t option_pid(const char *text);
void option_pids(struct pids *pids, const char *text);
bool pids_have(const struct pids *pids, pid_t pid);
void option_version(void);
const char *option_instance(const char *verb, const char *name);

#endif /* KFDTRACE_H */
