/* SPDX-License-Identifier: GPL-2.0 */
/* Whether queues had work, as their processes claim: what record --mqd has sampled, of meta.json. */
#ifndef KFDTRACE_CLAIMED_VIEW_H
#define KFDTRACE_CLAIMED_VIEW_H

#include "view.h"

/**
 * struct claim - the samples of a queue
 * @pid, @gpu_id: its process and GPU
 * @index: its place among the compute queues of the process on the GPU, at the first sample
 * @wptr: address of its write index, or 0
 * @samples, @unknown: number of samples; of those without an answer
 * @work: number of samples with claimed work, -1 if no sample has an answer
 * @first, @last: ns, of the samples
 * @first_work, @last_work: ns, of those with claimed work, or -1
 * @queue: the queue of the recording, or NULL: it is not certain which one
 */
struct claim {
	int64_t pid, gpu_id, index;
	uint64_t wptr;
	int64_t samples, unknown, work;
	int64_t first, last, first_work, last_work;
	const struct queue *queue;
};

/**
 * struct claims - all of a recording
 * @known: it was made with --mqd, by a kfdtrace that takes these samples
 * @list: by GPU, process and address, array of @nr
 * @nr: how many
 * @damaged: those that were left out
 */
struct claims {
	bool known;
	struct claim *list;
	size_t nr, damaged;
};

bool claims_known(const struct view *view);
void claims_read(struct claims *claims, const struct view *view);
const struct claim *claims_of(const struct claims *claims, const struct queue *queue);
void claims_warn(const struct view *view);
void claims_free(struct claims *claims);

#endif /* KFDTRACE_CLAIMED_VIEW_H */
