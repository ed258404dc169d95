/* SPDX-License-Identifier: GPL-2.0 */
/* What happens to one GPU, and when, as the model is told of it. */
#ifndef KFDTRACE_STORY_H
#define KFDTRACE_STORY_H

#include "model/model.h"

enum { GPU = 7, HIGH = 100, LOW = 200 };
enum { DYNAMIC = 2, MES = 0x80, WORK = 1, IDLE = 2 };

extern struct model model;
extern uint64_t now; /* ns; the time of what is told next */

#define TELL(type, ...) tell(type, (const int64_t[][2]){ __VA_ARGS__, { -1, 0 } })

void tell(enum kfd_event_type type, const int64_t (*fields)[2]);
void create(int pid, unsigned int queue, int prio);
void map(int pid, unsigned int queue, int prio);
void destroy(int pid, unsigned int queue, int reason, int ret);
void unmap_all(uint64_t took);
void unmap_one(int pid, unsigned int queue, uint64_t took);
void begin(int seq, int queues);
void end(int seq, int64_t dur);
struct client *client_of(int pid);
int story_setup(void **state);
int story_teardown(void **state);

#endif /* KFDTRACE_STORY_H */
