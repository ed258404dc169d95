/* SPDX-License-Identifier: GPL-2.0 */
/* A driver made of text files, see fake-kfd.c: declarations that its parts have in common. */
#ifndef FAKE_KFD_H
#define FAKE_KFD_H

#include "kfdlib.h"

/* fake-kfd.c */
void path_of(char *path, const char *name);
FILE *file_open(const char *name, const char *mode);
bool exists(const char *name);
int fault(const char *name);
int fail(int err);
int version(struct kfd_prio_version_args *args);
int target_check(pid_t pid, int pidfd, uint64_t start_ns, unsigned int flags);

/* fake-table.c */
bool entry_read(FILE *table, struct kfd_prio_list_entry *entry);
void process_read(pid_t pid, int *priority, int *effective, unsigned int *nr_queues);
unsigned int flags_of(pid_t pid);
int list(struct kfd_prio_list_args *args);
int gpus(struct kfd_prio_gpus_args *args);

/* fake-share.c */
void entry_share(struct kfd_prio_list_entry *entry);
int share(struct kfd_prio_share_args *args);
int shares(struct kfd_prio_shares_args *args);

#endif /* FAKE_KFD_H */
