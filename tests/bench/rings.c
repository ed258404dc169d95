// SPDX-License-Identifier: GPL-2.0
/*
 * rings RINGS GAP_US NS SEED - from the doorbell to the UNMAP_QUEUES packet on the HIQ.
 *
 * Rings its doorbell for one dispatch of NS, waits for it, sleeps GAP_US (half to one and a half of it; SEED), and
 * again. The time of a ring is read from the time stamp counter just before the store; that of the packet is when
 * amdkfd says that it rings the HIQ's doorbell, kept by the simulated GPU (debugfs file submits): the
 * first one after the store and before the dispatch is complete. Nothing is traced. If that is a RUN_LIST, an operation
 * of KFD held the DQM lock and had unmapped all queues already: its runlist is the one
 * that preempts, and the time until then is kept apart (locked). Rings
 * without either are counted (missed): those preempted nobody.
 * Prints "NAME VALUE" lines, times in ns; what the store itself took is one of them.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include "bench.h"

/* Without those that put queues back on MES: that is no preemption. @since: the first that must be known */
static unsigned int read_submits(struct submit *v, uint64_t since)
{
	unsigned int i, n = bench_submits(v), k = 0;

	if (n == MAX_SUBMITS && v[0].tsc > since)
		errx(1, "only the last %u packets are known, and not those of the first rings", n);
	for (i = 0; i < n; i++)
		if (v[i].what != 'A')
			v[k++] = v[i];
	return k;
}

/* packets that the HIQ has seen */
static long long hiq_packets(void)
{
	return sim_counter(0, "write_data") + sim_counter(0, "unmaps") + sim_counter(0, "queries") + sim_counter(0, "runlists");
}

int main(int argc, char **argv)
{
	uint64_t rings, gap, ns, state, *ring, *seen;
	unsigned int i, j, k, n, missed = 0;
	long long packets;
	struct samples to_unmap, locked, to_runlist, to_launch, store;
	struct submit *submit;
	struct kfdc_signal *s;
	struct kfdc_queue *q;
	double per_us;
	struct kfdc *c;

	if (argc != 5)
		errx(2, "usage: rings RINGS GAP_US NS SEED");
	rings = bench_number(argv[1], "RINGS");
	gap = bench_number(argv[2], "GAP_US") * 1000;
	ns = bench_number(argv[3], "NS");
	state = bench_number(argv[4], "SEED");
	if (rings > MAX_SUBMITS / 4)
		errx(2, "RINGS is at most %u", MAX_SUBMITS / 4);
	prctl(PR_SET_TIMERSLACK, 1);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	samples_init(&to_unmap, rings);
	samples_init(&locked, rings);
	samples_init(&to_runlist, rings);
	samples_init(&to_launch, rings);
	samples_init(&store, rings);
	ring = calloc(rings, sizeof(*ring));
	seen = calloc(rings, sizeof(*seen));
	submit = calloc(MAX_SUBMITS, sizeof(*submit));
	if (!ring || !seen || !submit)
		err(1, "memory");
	per_us = bench_tsc_per_us();
	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q) || kfdc_signal_create(c, true, &s))
		errx(1, "%s", kfdc_error());
	bench_sleep_until(kfdc_now() + NSEC / 20);
	packets = hiq_packets();
	for (i = 0; i < rings; i++) {
		uint64_t out, start, end;

		bench_sleep_until(kfdc_now() + gap / 2 + sim_random(&state) % (gap + 1));
		kfdc_signal_set(s, 1);
		if (kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = ns, .signal = s, .no_ring = true }))
			errx(1, "%s", kfdc_error());
		out = kfdc_now();
		ring[i] = bench_tsc();
		kfdc_ring(q);
		samples_add(&store, (bench_tsc() - ring[i]) * 1e3 / per_us);
		if (kfdc_signal_wait(s, WAIT_NS))
			errx(1, "ring %u: %s", i, kfdc_error());
		seen[i] = bench_tsc();
		kfdc_signal_times(s, &start, &end);
		samples_add(&to_launch, start - out);
	}
	bench_sleep_until(kfdc_now() + NSEC / 20);	/* until those are back who were preempted */
	packets = hiq_packets() - packets;
	n = read_submits(submit, ring[0]);
	for (i = 0, k = 0; i < rings; i++) {
		while (k < n && submit[k].tsc < ring[i])
			k++;
		if (k == n || submit[k].tsc > seen[i])
			missed++;
		else
			samples_add(submit[k].what == 'U' ? &to_unmap : &locked,
				    (submit[k].tsc - ring[i]) * 1e3 / per_us);
		for (j = k; j < n && submit[j].what != 'R';)
			j++;
		if (j < n)
			samples_add(&to_runlist, (submit[j].tsc - ring[i]) * 1e3 / per_us);
	}
	samples_print(&to_unmap, "", "ns", 1);
	samples_print(&locked, "locked_", "ns", 1);
	samples_print(&to_runlist, "runlist_", "ns", 1);
	samples_print(&to_launch, "launch_", "ns", 1);
	samples_print(&store, "store_", "ns", 1);
	printf("tsc_per_us %.6g\n", per_us);
	printf("missed %u\n", missed);
	printf("hiq_packets %lld\n", packets);
	return 0;
}
