// SPDX-License-Identifier: GPL-2.0
/*
 * odd_queues - three queues that are not made and mapped at once: one that KFD refuses, one that is inactive until it is
 * updated, one that is inactive until its end.
 */
#include <err.h>
#include <stdlib.h>
#include "kfdclient.h"

int main(void)
{
	struct kfdc_queue_attr refused = KFDC_QUEUE_DEFAULT, inactive = KFDC_QUEUE_DEFAULT;
	struct kfdc_queue *later, *never;
	struct kfdc *c;

	if (kfdc_open(&c, 0))
		errx(1, "%s", kfdc_error());
	refused.priority = 99;
	inactive.percentage = 0;
	if (!kfdc_queue_create(c, &refused, &never))
		errx(1, "KFD has taken priority 99");
	if (kfdc_queue_create(c, &inactive, &later) || kfdc_queue_create(c, &inactive, &never) ||
	    kfdc_queue_update(later, 100, 7) || kfdc_queue_destroy(never) || kfdc_queue_destroy(later))
		errx(1, "%s", kfdc_error());
	kfdc_close(c);
	return 0;
}
