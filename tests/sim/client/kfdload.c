// SPDX-License-Identifier: GPL-2.0
/*
 * kfdload: a client with a known load, for tests and the demo. Needs the simulated GPU:
 * a dispatch takes the time that it asks for.
 */
#define _GNU_SOURCE
#include "kfdclient.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_DEPTH	64
#define TIMEOUT_NS	60000000000ULL

struct opts {
	const char *name;
	double secs, rate;
	uint64_t ns;
	uint32_t waves, depth, gpu, queues;
	struct kfdc_queue_attr attr;
	bool json, poll, verbose;
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void usage(FILE *out)
{
	fputs("usage: kfdload [options]\n"
	      " --name NAME        label of the output (kfdload)\n"
	      " --secs S           how long (2)\n"
	      " --dispatch-ns NS   time of one dispatch (1000000)\n"
	      " --rate R           R dispatches per second, each waited for; latency counts from\n"
	      "                    the moment at which it was due; service_us of --json from\n"
	      "                    its submission\n"
	      " --full             as many as possible (default), --depth of them in flight\n"
	      " --depth N          with --full (4)\n"
	      " --priority P       queue priority 0..15 (7)\n"
	      " --waves N          waves of a dispatch (the whole GPU)\n"
	      " --queues N         queues, used in turn (1)\n"
	      " --gpu N            which GPU (0)\n"
	      " --poll             poll signals instead of waiting for events\n"
	      " --verbose          a line per second on stderr\n"
	      " --json             one JSON object\n", out);
	exit(out == stdout ? 0 : 2);
}

static double number(const char *s, const char *what, double min, double max)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(s, &end);
	if (errno || end == s || *end || v < min || v > max)
		errx(2, "%s: '%s' is not a number from %g to %g", what, s, min, max);
	return v;
}

static struct opts parse(int argc, char **argv)
{
	enum { NAME = 256, SECS, NS, RATE, FULL, DEPTH, PRIO, WAVES, QUEUES, GPU, POLL, VERB, JSON };
	static const struct option longs[] = {
		{ "name", 1, NULL, NAME }, { "secs", 1, NULL, SECS },
		{ "dispatch-ns", 1, NULL, NS }, { "rate", 1, NULL, RATE },
		{ "full", 0, NULL, FULL }, { "depth", 1, NULL, DEPTH },
		{ "priority", 1, NULL, PRIO }, { "waves", 1, NULL, WAVES },
		{ "queues", 1, NULL, QUEUES }, { "gpu", 1, NULL, GPU },
		{ "poll", 0, NULL, POLL }, { "verbose", 0, NULL, VERB },
		{ "json", 0, NULL, JSON }, { "help", 0, NULL, 'h' }, {}
	};
	struct opts o = {
		.name = "kfdload", .secs = 2, .ns = 1000000, .depth = 4, .queues = 1,
		.attr = KFDC_QUEUE_DEFAULT,
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case NAME: o.name = optarg; break;
		case SECS: o.secs = number(optarg, "--secs", 0, 1e6); break;
		case NS: o.ns = number(optarg, "--dispatch-ns", 1, 1e12); break;
		case RATE: o.rate = number(optarg, "--rate", 1e-3, 1e6); break;
		case FULL: o.rate = 0; break;
		case DEPTH: o.depth = number(optarg, "--depth", 1, MAX_DEPTH); break;
		case PRIO: o.attr.priority = number(optarg, "--priority", 0, 15); break;
		case WAVES: o.waves = number(optarg, "--waves", 1, 1e7); break;
		case QUEUES: o.queues = number(optarg, "--queues", 1, 16); break;
		case GPU: o.gpu = number(optarg, "--gpu", 0, 63); break;
		case POLL: o.poll = true; break;
		case VERB: o.verbose = true; break;
		case JSON: o.json = true; break;
		case 'h': usage(stdout); break;
		default: usage(stderr);
		}
	}
	if (optind != argc)
		usage(stderr);
	if (o.rate)
		o.depth = 1;
	return o;
}

static int cmp_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

struct results {
	uint64_t *lat, *srv, n, room, start, end;
};

static void record(struct results *r, uint64_t lat, uint64_t srv)
{
	if (r->n == r->room) {
		r->room = r->room ? 2 * r->room : 1024;
		r->lat = realloc(r->lat, r->room * sizeof(*r->lat));
		r->srv = realloc(r->srv, r->room * sizeof(*r->srv));
		if (!r->lat || !r->srv)
			err(1, "memory for %" PRIu64 " latencies", r->room);
	}
	r->lat[r->n] = lat;
	r->srv[r->n++] = srv;
}

static double pct(const struct results *r, const uint64_t *v, double p)
{
	uint64_t i = (uint64_t)(p / 100 * r->n);

	return r->n ? v[i < r->n ? i : r->n - 1] / 1e3 : 0;
}

static void json_times(const char *name, const struct results *r, const uint64_t *v)
{
	double mean = 0;
	uint64_t i;

	for (i = 0; i < r->n; i++)
		mean += v[i] / 1e3 / r->n;
	printf(", \"%s\": {\"mean\": %.1f, \"min\": %.1f, \"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"max\": %.1f}",
	       name, mean, pct(r, v, 0), pct(r, v, 50), pct(r, v, 90), pct(r, v, 99), pct(r, v, 100));
}

static void report(const struct opts *o, struct results *r)
{
	double secs = (r->end - r->start) / 1e9;

	if (r->n) {
		qsort(r->lat, r->n, sizeof(*r->lat), cmp_u64);
		qsort(r->srv, r->n, sizeof(*r->srv), cmp_u64);
	}
	if (o->json) {
		printf("{\"name\": \"%s\", \"pid\": %d, \"simulated\": true, \"priority\": %u, "
		       "\"dispatch_ns\": %" PRIu64 ", \"dispatches\": %" PRIu64 ", \"secs\": %.6f, "
		       "\"per_sec\": %.3f, \"gpu_share\": %.5f", o->name, getpid(),
		       o->attr.priority, o->ns, r->n, secs, r->n / secs,
		       r->n * (o->ns / 1e9) / secs);
		json_times("latency_us", r, r->lat);
		json_times("service_us", r, r->srv);
		puts("}");
		return;
	}
	printf("%s: %" PRIu64 " dispatches of %.3f ms in %.2f s, %.1f/s, %.1f %% of the GPU; latency us: p50 %.0f p90 %.0f p99 %.0f max %.0f (simulated)\n",
	       o->name, r->n, o->ns / 1e6, secs, r->n / secs, r->n * (o->ns / 1e7) / secs,
	       pct(r, r->lat, 50), pct(r, r->lat, 90), pct(r, r->lat, 99), pct(r, r->lat, 100));
}

static void sleep_until(uint64_t t)
{
	struct timespec ts = { .tv_sec = t / 1000000000, .tv_nsec = t % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR && !stop)
		;
}

static void run(const struct opts *o, struct kfdc *c, struct kfdc_queue **q, struct results *r)
{
	struct kfdc_signal *sig[MAX_DEPTH];
	uint64_t due[MAX_DEPTH], out[MAX_DEPTH], end, now, tick, sent = 0, done = 0;
	unsigned int i;

	for (i = 0; i < o->depth; i++)
		if (kfdc_signal_create(c, !o->poll, &sig[i]))
			errx(1, "%s: %s", o->name, kfdc_error());
	r->start = tick = kfdc_now();
	end = r->start + (uint64_t)(o->secs * 1e9);
	while (done < sent || (!stop && kfdc_now() < end)) {
		while (sent - done < o->depth && !stop && kfdc_now() < end) {
			i = sent % o->depth;
			due[i] = kfdc_now();
			if (o->rate) {
				due[i] = r->start + (uint64_t)(sent * (1e9 / o->rate));
				if (due[i] >= end) {
					end = 0;
					break;
				}
				sleep_until(due[i]);
				/* it is not due yet: no request, and no latency */
				if (stop)
					break;
			}
			kfdc_signal_set(sig[i], 1);
			out[i] = kfdc_now();
			if (kfdc_dispatch(q[sent % o->queues],
					  &(struct kfdc_dispatch){ .ns = o->ns, .waves = o->waves,
								   .signal = sig[i] }))
				errx(1, "%s: %s", o->name, kfdc_error());
			sent++;
		}
		if (done == sent)
			continue;
		i = done % o->depth;
		if (kfdc_signal_wait(sig[i], TIMEOUT_NS))
			errx(1, "%s: dispatch %" PRIu64 ": %s", o->name, done, kfdc_error());
		now = kfdc_now();
		record(r, now - due[i], now - out[i]);
		done++;
		if (o->verbose && now - tick >= 1000000000) {
			fprintf(stderr, "%s: %" PRIu64 " dispatches, last %.3f ms\n", o->name, done,
				(now - due[i]) / 1e6);
			tick = now;
		}
	}
	r->end = kfdc_now();
	for (i = 0; i < o->depth; i++)
		kfdc_signal_destroy(sig[i]);
}

int main(int argc, char **argv)
{
	struct opts o = parse(argc, argv);
	struct kfdc_queue *q[16];
	struct results r = {};
	struct kfdc *c;
	uint32_t i;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (kfdc_open(&c, o.gpu))
		errx(1, "%s: %s", o.name, kfdc_error());
	for (i = 0; i < o.queues; i++)
		if (kfdc_queue_create(c, &o.attr, &q[i]))
			errx(1, "%s: %s", o.name, kfdc_error());
	run(&o, c, q, &r);
	for (i = 0; i < o.queues; i++)
		if (kfdc_queue_destroy(q[i]))
			errx(1, "%s: %s", o.name, kfdc_error());
	report(&o, &r);
	kfdc_close(c);
	free(r.lat);
	free(r.srv);
	return 0;
}
