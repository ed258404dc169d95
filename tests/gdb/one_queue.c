// SPDX-License-Identifier: GPL-2.0
/*
 * one_queue PACKETS PRIORITY: creates an AQL queue with a ring of PACKETS, runs one dispatch of
 * a millisecond and destroys the queue.  Prints what it asked for; exit status 7, so that it
 * can be told from others, 1 if something fails.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include "kfdclient.h"

int main(int argc, char **argv)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;
	struct kfdc_dispatch dispatch = { .ns = 1000000 };
	struct kfdc_queue *q;
	struct kfdc_signal *s;
	struct kfdc *c;

	if (argc != 3)
		errx(1, "usage: one_queue PACKETS PRIORITY");
	attr.packets = strtoul(argv[1], NULL, 0);
	attr.priority = strtoul(argv[2], NULL, 0);
	if (kfdc_open(&c, 0) || kfdc_signal_create(c, true, &s) || kfdc_queue_create(c, &attr, &q))
		errx(1, "%s", kfdc_error());
	printf("queue %u gpu %u ring %#lx bytes %u priority %u\n", q->id, kfdc_gpu_id(c),
	       (unsigned long)q->ring, attr.packets * 64, attr.priority);
	fflush(stdout);
	kfdc_signal_set(s, 1);
	/* a minute: no deadline depends on how fast the VM is */
	dispatch.signal = s;
	if (kfdc_dispatch(q, &dispatch) || kfdc_signal_wait(s, 60000000000ULL) || kfdc_queue_destroy(q))
		errx(1, "%s", kfdc_error());
	kfdc_close(c);
	return 7;
}
