// SPDX-License-Identifier: GPL-2.0
/*
 * stock_faults NAME - what the stock driver does, and contrib/rfc mends or asks about. Runs in the VM. TAP.
 *
 *	bad_packet	MES: a process exits whose queue had a packet with a bad opcode: is it released?
 *	occupancy	several XCCs: cu_occupancy while one work-group runs, on each of two queues in turn
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define PROC "/sys/class/kfd/kfd/proc"
#define QUEUES 2

static void nap_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

static void bad_packet_of_child(void)
{
	uint16_t packet[32] = { 0x0007 };
	struct kfdc_queue *q;
	struct kfdc *c;

	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q) || kfdc_packet(q, packet, true))
		_exit(1);
	nap_ms(200);
	_exit(0);
}

static void bad_packet(void)
{
	long long pages = sim_counter(0, "ram_pages"), errors = sim_counter(0, "queue_errors");
	int status, tries = 100;
	char dir[64];
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		bad_packet_of_child();
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		tap_bail("bad_packet: the process failed");
	tap_eq(sim_counter(0, "queue_errors") - errors, 1, "bad_packet: the GPU has met the packet");
	snprintf(dir, sizeof(dir), PROC "/%d", pid);
	while (!access(dir, F_OK) && tries--)
		nap_ms(50);
	tap_ok(access(dir, F_OK), "bad_packet: the process is released after its end");
	tap_ok(sim_clean(0, pages), "bad_packet: nothing is left on the GPU");
}

static long occupancy_now(const struct kfdc *c)
{
	char path[128], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), PROC "/%d/stats_%u/cu_occupancy", getpid(), kfdc_gpu_id(c));
	f = fopen(path, "re");
	if (!f || !fgets(text, sizeof(text), f))
		tap_bail("%s: %s", path, strerror(errno));
	fclose(f);
	return strtol(text, NULL, 10);
}

static void occupancy(void)
{
	struct kfdc_queue *q[QUEUES];
	struct kfdc_signal *s;
	struct kfdc *c;
	bool zero = false;
	int i;

	if (kfdc_open(&c, 0) || kfdc_signal_create(c, true, &s))
		tap_bail("%s", kfdc_error());
	for (i = 0; i < QUEUES; i++)
		if (kfdc_queue_create(c, NULL, &q[i]))
			tap_bail("%s", kfdc_error());
	for (i = 0; i < QUEUES; i++) {
		long n;

		kfdc_signal_set(s, 1);
		if (kfdc_dispatch(q[i], &(struct kfdc_dispatch){ .ns = 400000000, .waves = 1, .signal = s }))
			tap_bail("%s", kfdc_error());
		nap_ms(100);
		n = occupancy_now(c);
		/* it runs, before and behind the reading */
		tap_ok(kfdc_signal_wait(s, 1000000) && !kfdc_signal_wait(s, 5000000000),
		       "occupancy: one work-group runs on queue %d", i);
		tap_diag("cu_occupancy: %ld", n);
		zero |= !n;
	}
	tap_ok(zero, "occupancy: cu_occupancy is 0 meanwhile, for one of the queues");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "bad_packet"))
		bad_packet();
	else if (argc == 2 && !strcmp(argv[1], "occupancy"))
		occupancy();
	else
		tap_bail("usage: stock_faults bad_packet|occupancy");
	return tap_done();
}
