/* SPDX-License-Identifier: GPL-2.0 */
/* The user who called a tool that runs as root, through sudo(8), and becoming that user for a command. */
#ifndef CALLER_H
#define CALLER_H

#include <sys/types.h>

/**
 * struct caller - a user
 * @uid: effective UID
 * @gid: effective GID
 */
struct caller {
	uid_t uid;
	gid_t gid;
};

void caller_find(struct caller *caller);
int caller_become(const struct caller *caller);

#endif /* CALLER_H */
