// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/kfd: opening it, finding out which driver serves it, and the ioctls.
 *
 * The device is opened with O_ACCMODE, so that looking at priorities does not
 * make a KFD process of the tool (see linux/kfd_prio.h).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kfdlib.h"

#define LIST_ROOM_FIRST 64 /* entries asked for at the first attempt */
#define LIST_ROOM_MAX	(1 << 20)

static int version_ask(struct kfd_dev *dev, struct kfd_trouble *t)
{
	int err;

	memset(&dev->version, 0, sizeof(dev->version));
	if (ioctl(dev->fd, KFD_PRIO_IOC_VERSION, &dev->version)) {
		err = errno;
		kfd_trouble_version(t, dev->fd, err);
		return -err;
	}
	if (dev->version.major != KFD_PRIO_VERSION_MAJOR) {
		t->cause = KFD_CAUSE_VERSION;
		snprintf(t->what, sizeof(t->what),
			 "the driver has version %u.%u of the kfdprio interface, and this program has version %d.%d",
			 dev->version.major, dev->version.minor, KFD_PRIO_VERSION_MAJOR, KFD_PRIO_VERSION_MINOR);
		snprintf(t->todo, sizeof(t->todo), "install both from the same release of kfdprio");
		return -EPROTO;
	}
	return 0;
}

/**
 * kfd_dev_try() - open /dev/kfd and make sure that our driver answers
 * @dev: filled in
 * @t: on failure, the cause
 *
 * Return: as kfd_dev_open().
 */
int kfd_dev_try(struct kfd_dev *dev, struct kfd_trouble *t)
{
	int ret;

	dev->fd = open(KFDLIB_DEVICE, O_ACCMODE | O_CLOEXEC);
	if (dev->fd < 0) {
		ret = -errno;
		kfd_trouble_open(t, -ret);
		return ret;
	}
	ret = version_ask(dev, t);
	if (ret)
		kfd_dev_close(dev);
	return ret;
}

/**
 * kfd_dev_open() - open /dev/kfd and make sure that our driver answers
 * @dev: filled in
 * @why: on failure, what is wrong and what to do; KFDLIB_WHY bytes
 *
 * Return: 0; -EPROTO if the driver's interface is of another major version; else
 * what open(2) or the version ioctl answered, which alone does not tell the cause.
 */
int kfd_dev_open(struct kfd_dev *dev, char *why)
{
	struct kfd_trouble trouble;
	int ret = kfd_dev_try(dev, &trouble);

	if (ret)
		kfd_trouble_text(&trouble, why);
	return ret;
}

/**
 * kfd_dev_missing() - whether the host has no driver of ours that serves KFD, and why
 * @why: out, KFDLIB_WHY bytes: what is wrong and what to do; not changed if there is such a driver, or if that is not
 *	known, as where the device may not be opened
 *
 * Return: whether.
 */
bool kfd_dev_missing(char *why)
{
	struct kfd_trouble trouble;
	struct kfd_dev dev;

	if (!kfd_dev_try(&dev, &trouble)) {
		kfd_dev_close(&dev);
		return false;
	}
	if (trouble.cause != KFD_CAUSE_NO_DRIVER && trouble.cause != KFD_CAUSE_STOCK)
		return false;
	kfd_trouble_text(&trouble, why);
	return true;
}

/**
 * kfd_dev_close() - close what kfd_dev_open() opened
 * @dev: the device; may be closed already
 */
void kfd_dev_close(struct kfd_dev *dev)
{
	if (dev->fd >= 0)
		close(dev->fd);
	dev->fd = -1;
}

/**
 * kfd_dev_set() - KFD_PRIO_IOC_SET
 * @dev: the device
 * @args: see linux/kfd_prio.h
 *
 * Return: 0 or -errno as linux/kfd_prio.h lists them.
 */
int kfd_dev_set(const struct kfd_dev *dev, struct kfd_prio_set_args *args)
{
	return ioctl(dev->fd, KFD_PRIO_IOC_SET, args) ? -errno : 0;
}

/**
 * kfd_dev_get() - KFD_PRIO_IOC_GET
 * @dev: the device
 * @args: see linux/kfd_prio.h
 *
 * Return: 0 or -errno as linux/kfd_prio.h lists them.
 */
int kfd_dev_get(const struct kfd_dev *dev, struct kfd_prio_get_args *args)
{
	return ioctl(dev->fd, KFD_PRIO_IOC_GET, args) ? -errno : 0;
}

/**
 * kfd_dev_notify() - a descriptor that reports processes which open KFD, KFD_PRIO_IOC_NOTIFY
 * @dev: the device
 * @fd: out: it does not wait for records
 * @why: on failure, what is wrong and what to do; KFDLIB_WHY bytes
 *
 * Return: 0 or -errno; -EOPNOTSUPP: the driver is too old.
 */
int kfd_dev_notify(const struct kfd_dev *dev, int *fd, char *why)
{
	struct kfd_prio_notify_args args = { .record_size = sizeof(struct kfd_prio_notify_record),
					     .flags = KFD_PRIO_NOTIFY_NO_GONE };
	int ret;

	if (!(dev->version.features & KFD_PRIO_FEATURE_RULES) || dev->version.minor < KFDLIB_ORPHAN_MINOR) {
		snprintf(why, KFDLIB_WHY,
			 "the driver has version %u.%u of the kfdprio interface, in which users of /dev/kfd can map any memory of the host, and rules need 1.6: install the driver of kfdprio " KFDPRIO_VERSION ", then reboot or reload amdgpu",
			 dev->version.major, dev->version.minor);
		return -EOPNOTSUPP;
	}
	if (ioctl(dev->fd, KFD_PRIO_IOC_NOTIFY, &args)) {
		ret = -errno;
		snprintf(why, KFDLIB_WHY, "cannot get notifications of processes that open " KFDLIB_DEVICE ": %s%s",
			 strerror(-ret), ret == -EPERM ? "; that needs CAP_SYS_NICE (as root has)" : "");
		return ret;
	}
	/* a longer record than we asked for does not exist; a shorter one is of no use */
	if (args.record_size != sizeof(struct kfd_prio_notify_record)) {
		close(args.fd);
		snprintf(why, KFDLIB_WHY, "the driver's records have %u bytes, not %zu", args.record_size,
			 sizeof(struct kfd_prio_notify_record));
		return -EPROTO;
	}
	if (fcntl(args.fd, F_SETFL, O_NONBLOCK)) {
		ret = -errno;
		close(args.fd);
		snprintf(why, KFDLIB_WHY, "cannot read records without waiting: %s", strerror(-ret));
		return ret;
	}
	*fd = args.fd;
	return 0;
}

/**
 * set_by_name() - how a priority was set, as all output says it
 * @by: KFD_PRIO_BY_*
 *
 * Return: "rule", "user" or "admin"; NULL: none is set, or the driver does not tell.
 */
const char *set_by_name(unsigned int by)
{
	switch (by) {
	case KFD_PRIO_BY_RULE:
		return "rule";
	case KFD_PRIO_BY_USER:
		return "user";
	case KFD_PRIO_BY_ADMIN:
		return "admin";
	default:
		return NULL;
	}
}

static int entry_compare(const void *left, const void *right)
{
	const struct kfd_prio_list_entry *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->gpu_id != b->gpu_id)
		return a->gpu_id < b->gpu_id ? -1 : 1;
	return 0;
}

/**
 * kfd_dev_list() - all processes that use KFD, with KFD_PRIO_IOC_LIST
 * @dev: the device
 * @entries: out: array sorted by PID and GPU, to be freed with free(3)
 * @nr: out: how many
 *
 * Asks again with more room for as long as there are more processes than fit.
 *
 * Return: 0 or -errno.
 */
int kfd_dev_list(const struct kfd_dev *dev, struct kfd_prio_list_entry **entries, size_t *nr)
{
	struct kfd_prio_list_args args;
	struct kfd_prio_list_entry *room;
	size_t want = LIST_ROOM_FIRST;
	int ret;

	for (;;) {
		/* Zeroed: an older driver leaves the end of each entry alone. */
		room = calloc(want, sizeof(*room));
		if (!room)
			return -ENOMEM;
		memset(&args, 0, sizeof(args));
		args.entries = (uintptr_t)room;
		args.entry_size = sizeof(*room);
		args.nr_entries = want;
		if (ioctl(dev->fd, KFD_PRIO_IOC_LIST, &args)) {
			ret = -errno;
			goto err_free;
		}
		if (args.nr_entries <= want)
			break;
		if (args.nr_entries > LIST_ROOM_MAX) {
			ret = -EOVERFLOW;
			goto err_free;
		}
		free(room);
		/* Some more than there were, for those that arrive meanwhile. */
		want = args.nr_entries + LIST_ROOM_FIRST;
	}
	*nr = args.nr_entries;
	*entries = room;
	qsort(room, *nr, sizeof(*room), entry_compare);
	return 0;

err_free:
	free(room);
	return ret;
}

/**
 * kfd_entry_again() - is an entry one that only repeats an entry before it?
 * @entries: of kfd_dev_list()
 * @at: its index
 *
 * An orphan has its entries for each thread group that shares its memory.  What is summed over entries
 * must count it once.
 *
 * Return: whether there is an entry of the same orphan on the same GPU before it.
 */
bool kfd_entry_again(const struct kfd_prio_list_entry *entries, size_t at)
{
	size_t i;

	if (!(entries[at].flags & KFD_PRIO_LIST_ORPHAN))
		return false;
	for (i = 0; i < at; i++)
		if (entries[i].serial == entries[at].serial && entries[i].gpu_id == entries[at].gpu_id)
			return true;
	return false;
}

/**
 * kfd_dev_gpus() - totals of all GPUs, with KFD_PRIO_IOC_GPUS
 * @dev: the device
 * @entries: out: array in the order of the driver, to be freed with free(3)
 * @nr: out: how many
 * @why: on failure, what is wrong and what to do; KFDLIB_WHY bytes
 *
 * Return: 0 or -errno; -ENOTTY: the driver is too old.
 */
int kfd_dev_gpus(const struct kfd_dev *dev, struct kfd_prio_gpu_entry **entries, size_t *nr, char *why)
{
	struct kfd_prio_gpus_args args = { .entry_size = sizeof(**entries) };
	int ret;

	/* more than a host has: no GPU comes between two calls */
	args.nr_entries = 256;
	*entries = calloc(args.nr_entries, sizeof(**entries));
	args.entries = (uintptr_t)*entries;
	ret = !*entries ? -ENOMEM : ioctl(dev->fd, KFD_PRIO_IOC_GPUS, &args) ? -errno : 0;
	if (!ret) {
		*nr = args.nr_entries < 256 ? args.nr_entries : 256;
		return 0;
	}
	free(*entries);
	if (ret == -ENOTTY)
		snprintf(why, KFDLIB_WHY,
			 "the driver has version %u.%u of the kfdprio interface, which has no totals of GPUs: install the driver of kfdprio " KFDPRIO_VERSION ", then reboot or reload amdgpu",
			 dev->version.major, dev->version.minor);
	else
		snprintf(why, KFDLIB_WHY, "cannot read the totals of the GPUs: %s", strerror(-ret));
	return ret;
}
