// SPDX-License-Identifier: GPL-2.0
/* Which driver a recording is of: the one with kfdprio, one with KFD's own trace events (contrib/rfc), or a stock one. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kfdlib.h"
#include "record.h"
#include "upstream-names.h"

#define DRIVER	   "/sys/module/amdgpu"
#define OUR_DRIVER DRIVER "/parameters/kfd_preempt"

/* In the instance that the user names, because the user may have access to that one alone */
static bool has_upstream_events(const char *root, const char *instance)
{
	struct tracing tracing;
	char path[2 * KFDLIB_PATH];
	int ret = tracing_find(root, &tracing);

	/* libtracefs mounts tracefs where it is not mounted */
	if (ret == -ENOENT && !*root && tracefs_tracing_dir())
		ret = tracing_find(root, &tracing);
	if (ret)
		return false;
	snprintf(path, sizeof(path), "%.200s%s/%s%.100s%sevents/" UPSTREAM_SYSTEM "/" UPSTREAM_EVENT, root, tracing.dir,
		 instance ? "instances/" : "", instance ? instance : "", instance ? "/" : "");
	return !access(path, F_OK);
}

static bool has(const char *root, const char *path)
{
	char name[2 * KFDLIB_PATH];

	snprintf(name, sizeof(name), "%.200s%s", root, path);
	return !access(name, F_OK);
}

/**
 * record_driver_find() - whose events are meant
 * @root: prefix of all paths, for tests; "" for this host
 * @driver: of --driver. RECORD_AUTO means kfdprio's driver if it is loaded, else the events of the series in contrib/rfc if
 *	amdgpu has them, else a stock amdgpu
 * @instance: name of a trace instance that was prepared for the user, or NULL
 *
 * Return: any but RECORD_AUTO; RECORD_KFDPRIO without a driver, whose error messages say what to do.
 */
enum record_driver record_driver_find(const char *root, enum record_driver driver, const char *instance)
{
	if (driver != RECORD_AUTO)
		return driver;
	if (has(root, OUR_DRIVER) || !has(root, DRIVER))
		return RECORD_KFDPRIO;
	return has_upstream_events(root, instance) ? RECORD_UPSTREAM : RECORD_STOCK;
}

/**
 * record_driver_lacks_upstream() - why a kernel has no events of the series in contrib/rfc, and what to do
 * @root: prefix of all paths, for tests; "" for this host
 *
 * Return: the reason; NULL if no amdgpu is loaded.
 */
const char *record_driver_lacks_upstream(const char *root)
{
	if (has(root, OUR_DRIVER))
		return "the driver of kfdprio is loaded, which has its own; use --driver=kfdprio";
	return has(root, DRIVER) ? "amdgpu has neither them nor kfdprio; use --driver=stock" : NULL;
}

/**
 * record_driver_is_ours() - whether the loaded driver is that of kfdprio
 *
 * An open of the device of another driver would make a KFD process of this program.
 *
 * Return: whether; true without a driver.
 */
bool record_driver_is_ours(void)
{
	return has("", OUR_DRIVER) || !has("", DRIVER);
}
