// SPDX-License-Identifier: GPL-2.0
/* Which driver a recording is of: the one with kfdprio, or a stock one. */
#define _GNU_SOURCE
#include <unistd.h>

#include "record.h"

#define DRIVER	   "/sys/module/amdgpu"
#define OUR_DRIVER DRIVER "/parameters/kfd_preempt"

/**
 * record_driver_is_stock() - whose events are meant
 * @driver: of --driver; auto is ours if it is loaded
 *
 * Return: whether those of a driver that has none.
 */
bool record_driver_is_stock(enum record_driver driver)
{
	if (driver != RECORD_AUTO)
		return driver == RECORD_STOCK;
	return access(OUR_DRIVER, F_OK) && !access(DRIVER, F_OK);
}
