/* SPDX-License-Identifier: GPL-2.0 */
/* Names of threads for trace.dat. */
#ifndef RECORD_NAMES_H
#define RECORD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define NAME_MAX_BYTES 64 /* of a name, with the 0 */

/**
 * struct record_name - a thread and its name
 * @pid: of the thread
 * @name: raw bytes
 */
struct record_name {
	pid_t pid;
	const char *name;
};

/* Reads the name that a thread has now: false: there is no such thread. */
typedef bool (*record_name_fn)(pid_t pid, char *name, size_t size);

char *record_names(const char *kernel, const struct record_name *known, size_t nr, record_name_fn read);
bool record_name_read(pid_t pid, char *name, size_t size);

#endif /* RECORD_NAMES_H */
