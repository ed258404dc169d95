/* SPDX-License-Identifier: GPL-2.0 */
/* The dump of runlists. */
#ifndef KFDTRACE_RECORD_RLS_H
#define KFDTRACE_RECORD_RLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct rls_count - queues of one process in one runlist
 * @gpu_id: of the GPU
 * @pasid: of the process
 * @queues: how many
 */
struct rls_count {
	uint32_t gpu_id, pasid, queues;
};

/**
 * struct rls - the runlists of all GPUs
 * @counts: array of @nr
 */
struct rls {
	struct rls_count *counts;
	size_t nr;
};

bool rls_parse(FILE *file, struct rls *rls);
bool rls_read(struct rls *rls);
uint32_t rls_queues(const struct rls *rls, uint32_t gpu_id, uint32_t pasid);
void rls_free(struct rls *rls);

#endif /* KFDTRACE_RECORD_RLS_H */
