/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of one GPU in user space, on which the policy decides: one online process of priority 12
 * with requests, beside offline work of rank 7 that never ends. One dispatch owns the GPU at a time.
 */
#ifndef POLICY_RATE_H
#define POLICY_RATE_H

#include "fixture.h"

/* For how long an offline dispatch runs, where it is not preempted */
#define RATE_DISPATCH	(20 * MS)

enum rate_arrivals {
	RATE_EVEN,	/* open: one request each @every_ns */
	RATE_POISSON,	/* open: one each @every_ns on average, independent of each other */
	RATE_CLOSED,	/* the next request comes @every_ns after the end of the last one */
	RATE_BURSTS,	/* @burst requests @every_ns apart, and then a pause of 20 times that */
	RATE_RISES,	/* @burst requests 8 times @every_ns apart, all others @every_ns */
};

/**
 * struct rate_run - a run of the model
 * @k: module parameters, before kfd_prio_policy_cost()
 * @save_ns: time of a save; a restore takes as long
 * @request_ns: GPU time of a request
 * @ns: length of the run, after a first second that does not count
 */
struct rate_run {
	struct kfd_prio_params k;
	enum rate_arrivals arrivals;
	u64 every_ns, save_ns, request_ns, ns;
	u32 burst;
};

/**
 * struct rate_result - what came of it
 * @n: number of requests that ended
 * @p50, @p99, @p999, @max: their latency, ns
 * @offline: share of the time in which the offline work ran
 * @switches: number of saves of the offline work
 * @blocks: how often the online process was off for a floor
 * @block_max: the longest time for which the online process was off for a floor, ns
 * @floor_least: the least time for which the offline work ran in any period, ns
 */
struct rate_result {
	u32 n;
	u64 p50, p99, p999, max;
	double offline;
	u32 switches, blocks;
	u64 block_max, floor_least;
};

void rate_play(const struct rate_run *r, struct rate_result *out);
void rate_tables(void);

#endif
