// SPDX-License-Identifier: GPL-2.0
/*
 * updates GPU N - N times a queue becomes inactive and active again, beside another one: unmaps without waves. In the pauses the
 * recorder may do its own work.
 */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>
#include "kfdclient.h"

int main(int argc, char **argv)
{
	struct kfdc_queue *q, *other;
	struct kfdc *c;
	int n;

	if (argc != 3)
		errx(2, "usage: updates GPU N");
	if (kfdc_open(&c, atoi(argv[1])) || kfdc_queue_create(c, NULL, &q) || kfdc_queue_create(c, NULL, &other))
		errx(1, "%s", kfdc_error());
	for (n = atoi(argv[2]); n > 0; n--) {
		usleep(20000);
		if (kfdc_queue_update(q, 0, 7) || kfdc_queue_update(q, 100, 7))
			errx(1, "%s", kfdc_error());
	}
	kfdc_queue_destroy(q);
	kfdc_queue_destroy(other);
	usleep(20000);
	kfdc_close(c);
	return 0;
}
