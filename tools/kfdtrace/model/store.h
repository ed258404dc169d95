/* SPDX-License-Identifier: GPL-2.0 */
/* How model.c finds its GPUs, processes and queues. */
#ifndef KFDTRACE_MODEL_STORE_H
#define KFDTRACE_MODEL_STORE_H

#include "model.h"

struct gpu *store_gpu(struct model *model, uint32_t gpu_id);
struct process *store_process(struct model *model, int32_t pid);
struct client *store_client(struct model *model, uint32_t gpu_id, int32_t pid);
struct queue *store_find(const struct model *model, uint32_t gpu_id, int32_t pid, uint32_t queue_id);
struct queue *store_queue(struct model *model, uint32_t gpu_id, int32_t pid, uint32_t queue_id,
			  uint64_t ts);
void store_forget(struct model *model, struct queue *queue);
int32_t store_prio(const struct client *client);
struct pair *store_pair(struct client *client, int32_t pid);
int store_throttle(struct client *client, const struct throttling *throttling);
void store_throttles_free(struct client *client);

#endif /* KFDTRACE_MODEL_STORE_H */
