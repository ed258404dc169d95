/* SPDX-License-Identifier: GPL-2.0 */
/* A FUSE file system with one program, whose execve(2) stalls after the change of the mm. */
#ifndef TESTS_LIB_STALLFS_H
#define TESTS_LIB_STALLFS_H

#include <stdbool.h>

#define STALLFS_PROGRAM	"/run/stallfs/program"

/**
 * stallfs_start() - mount it, as root
 * @stalled: set to 1 when an exec has come to where it stalls; in memory that is shared over fork(2)
 *
 * Return: whether it is there; a kernel without FUSE has none
 */
bool stallfs_start(volatile int *stalled);

/* Unmount it: what stalls is killed. */
void stallfs_end(void);

#endif
