// SPDX-License-Identifier: GPL-2.0
/* record --mqd: whether queues had work, as members of meta.json. */
#include "claimed-work.h"
#include "json-out.h"
#include "record.h"

/**
 * claimed_json() - the members of meta.json
 * @claimed: the samples
 */
void claimed_json(const struct claimed *claimed)
{
	const struct claimed_queue *queues;
	uint64_t left_out;
	size_t i, nr, blocked;

	queues = claimed_queues(claimed, &nr);
	claimed_lost(claimed, &left_out, &blocked);
	json_count("left_out_claimed_sample_count", left_out);
	json_count("claimed_blocked_process_count", blocked);
	json_open("claimed_work", '[');
	for (i = 0; i < nr; i++) {
		const struct claimed_queue *queue = &queues[i];

		json_open(NULL, '{');
		json_count("pid", queue->pid);
		json_count("gpu_id", queue->gpu_id);
		json_count("compute_queue_index", queue->queue);
		if (queue->wptr)
			json_address("write_index_addr", queue->wptr);
		else
			json_null("write_index_addr");
		json_count("claimed_sample_count", queue->samples);
		json_count("claimed_unknown_count", queue->unknown);
		json_known_count("claimed_work_count", queue->samples > queue->unknown, queue->work);
		json_count("claimed_first_sample_ts_ns", queue->first);
		json_count("claimed_last_sample_ts_ns", queue->last);
		json_known_count("claimed_work_first_ts_ns", queue->work, queue->first_work);
		json_known_count("claimed_work_last_ts_ns", queue->work, queue->last_work);
		json_close('}');
	}
	json_close(']');
}
