// SPDX-License-Identifier: GPL-2.0
/*
 * Why our driver does not answer on /dev/kfd: one answer for each cause, for all tools.
 *
 * The errno of open(2) or ioctl(2) alone does not say it: a device of another number answers what it likes.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kfdlib.h"
#include "upstream-names.h"

static __attribute__((format(printf, 2, 3))) void say(char *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(to, KFDLIB_CAUSE, format, args);
	va_end(args);
}

static bool system_read(const char *path, char *text, size_t size)
{
	char full[KFDLIB_PATH];

	snprintf(full, sizeof(full), "%s%s", kfd_system_root, path);
	return !proc_text_read(full, text, size);
}

static bool system_exists(const char *path)
{
	char full[KFDLIB_PATH];

	snprintf(full, sizeof(full), "%s%s", kfd_system_root, path);
	return !access(full, F_OK);
}

/*
 * The number of KFD's device: 1 and @number; 0: the kernel has no KFD; -1: that is not known.  The minor is 0.
 */
static int kfd_number(dev_t *number)
{
	char text[KFDLIB_PATH], *line, *rest = text, name[64];
	unsigned int major, minor;

	if (system_read("/sys/class/kfd/kfd/dev", text, sizeof(text)) && sscanf(text, "%u:%u", &major, &minor) == 2) {
		*number = makedev(major, minor);
		return 1;
	}
	if (!system_read("/proc/devices", text, sizeof(text)))
		return -1;
	while ((line = strsep(&rest, "\n")) && strncmp(line, "Block", 5))
		if (sscanf(line, "%u %63s", &major, name) == 2 && !strcmp(name, "kfd")) {
			*number = makedev(major, 0);
			return 1;
		}
	return 0;
}

/* How many display or compute controllers of AMD the host has. */
static unsigned int pci_gpus(void)
{
	char path[KFDLIB_PATH], vendor[16], class[16];
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", kfd_system_root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.64s/vendor", entry->d_name);
		if (!system_read(path, vendor, sizeof(vendor)) || strncmp(vendor, "0x1002", 6))
			continue;
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.64s/class", entry->d_name);
		/* Display controllers are class 03, processing accelerators 12. */
		nr += system_read(path, class, sizeof(class)) &&
		      (!strncmp(class, "0x03", 4) || !strncmp(class, "0x12", 4));
	}
	if (dir)
		closedir(dir);
	return nr;
}

static void not_loaded(struct kfd_trouble *t)
{
	unsigned int nr = pci_gpus();

	t->cause = KFD_CAUSE_NO_DRIVER;
	if (system_exists("/sys/module/amdgpu")) {
		say(t->what, "amdgpu is loaded without KFD, its compute driver");
		say(t->todo, "use a kernel with CONFIG_HSA_AMD, and see 'dmesg | grep -i -e amdgpu -e kfd'");
	} else if (nr) {
		say(t->what, "amdgpu is not loaded, and PCI has %u AMD GPU%s", nr, nr == 1 ? "" : "s");
		say(t->todo, "run 'modprobe amdgpu' as root, then see 'dmesg | grep -i amdgpu'");
	} else {
		say(t->what, "amdgpu is not loaded, and PCI has no AMD GPU");
		say(t->todo, "use a host with an AMD GPU");
	}
}

static void no_device(struct kfd_trouble *t)
{
	dev_t number;

	if (kfd_number(&number) != 1) {
		not_loaded(t);
		return;
	}
	t->cause = KFD_CAUSE_NO_DEVICE;
	say(t->what, "amdgpu is loaded, and there is no " KFDLIB_DEVICE);
	say(t->todo,
	    "in a container, start it with --device=" KFDLIB_DEVICE " --device=/dev/dri; on the host, run 'udevadm trigger /sys/class/kfd/kfd' as root");
}

/* Says whom the device belongs to, which is what one must join or become. */
static void no_access(struct kfd_trouble *t, const struct stat *st)
{
	struct group *group;
	char name[KFDLIB_NAME];

	t->cause = KFD_CAUSE_NO_ACCESS;
	if (!st) {
		say(t->what, "no permission to open " KFDLIB_DEVICE);
		say(t->todo, "use sudo");
		return;
	}
	if ((st->st_mode & 0060) != 0060) {
		say(t->what, "no permission to open " KFDLIB_DEVICE ", whose mode %04o gives access to its owner only",
		    st->st_mode & 07777);
		say(t->todo, "use sudo, or change the udev rule");
		return;
	}
	/* group_member() looks at the supplementary ones only. */
	if (getegid() == st->st_gid || group_member(st->st_gid)) {
		say(t->what, "no permission to open " KFDLIB_DEVICE ", although you are in its group");
		say(t->todo, "check its ACL and the security modules");
		return;
	}
	group = getgrgid(st->st_gid);
	if (group)
		snprintf(name, sizeof(name), "%s", group->gr_name);
	else
		snprintf(name, sizeof(name), "%u", st->st_gid);
	say(t->what, "no permission to open " KFDLIB_DEVICE ": you are not in its group '%s'", name);
	say(t->todo, "use sudo, or run 'usermod -aG %s USER' as root and log in again", name);
}

static void no_open(struct kfd_trouble *t, int err, const struct stat *st)
{
	t->cause = KFD_CAUSE_NO_OPEN;
	switch (err) {
	case ENXIO:
	case ENODEV:
		t->cause = KFD_CAUSE_NO_DRIVER;
		say(t->what, KFDLIB_DEVICE " exists, and no driver serves it: amdgpu is not loaded, or is being unloaded");
		say(t->todo, "see 'lsmod | grep amdgpu'");
		break;
	case EACCES:
		no_access(t, st);
		break;
	case EPERM:
		t->cause = KFD_CAUSE_NO_ACCESS;
		say(t->what, "cannot open " KFDLIB_DEVICE ": %s", strerror(err));
		say(t->todo, "start the container with the device, for example with --device=" KFDLIB_DEVICE);
		break;
	case EAGAIN:
	case EBUSY:
		say(t->what, "cannot open " KFDLIB_DEVICE " at present: %s; KFD refuses processes while a GPU is reset or suspended",
		    strerror(err));
		say(t->todo, "try again, and see 'dmesg'");
		break;
	default:
		say(t->what, "cannot open " KFDLIB_DEVICE ": %s", strerror(err));
		say(t->todo, "see 'dmesg'");
	}
}

/* Is the device that of KFD?  False: says what it is. */
static bool is_kfd(struct kfd_trouble *t, const struct stat *st)
{
	dev_t number;
	int known;

	if (!S_ISCHR(st->st_mode)) {
		t->cause = KFD_CAUSE_OTHER_DEVICE;
		say(t->what, KFDLIB_DEVICE " is not a device");
		say(t->todo, "remove the file, then reload amdgpu");
		return false;
	}
	known = kfd_number(&number);
	if (known < 0 || (known && number == st->st_rdev))
		return true;
	if (!known) {
		not_loaded(t);
		return false;
	}
	t->cause = KFD_CAUSE_OTHER_DEVICE;
	say(t->what, KFDLIB_DEVICE " is device %u:%u, and KFD is device %u:%u: it was made before amdgpu was loaded anew, or by hand",
	    major(st->st_rdev), minor(st->st_rdev), major(number), minor(number));
	say(t->todo,
	    "start the container again; on the host, remove " KFDLIB_DEVICE " and run 'udevadm trigger /sys/class/kfd/kfd' as root");
	return false;
}

/**
 * kfd_trouble_open() - why /dev/kfd cannot be opened
 * @t: filled in
 * @err: the errno of open(2)
 */
void kfd_trouble_open(struct kfd_trouble *t, int err)
{
	struct stat st;
	bool known = !stat(KFDLIB_DEVICE, &st);

	if (err == ENOENT)
		no_device(t);
	/* one that may not be opened may be KFD's under another number, too; st_rdev is 0 where that is not known */
	else if (!known || !st.st_rdev || is_kfd(t, &st))
		no_open(t, err, known ? &st : NULL);
}

/**
 * kfd_trouble_version() - why what was opened does not have our interface
 * @t: filled in
 * @fd: of /dev/kfd
 * @err: the errno of KFD_PRIO_IOC_VERSION
 */
void kfd_trouble_version(struct kfd_trouble *t, int fd, int err)
{
	char version[64] = "";
	const char *lacks;
	struct stat st;

	if (!fstat(fd, &st) && !is_kfd(t, &st))
		return;
	t->cause = KFD_CAUSE_NO_IOCTL;
	/* Some old KFDs answer EINVAL to a number they do not know. */
	if (err != ENOTTY && err != EINVAL) {
		say(t->what, KFDLIB_DEVICE ": cannot read the version of the kfdprio interface: %s", strerror(err));
		say(t->todo, "see 'dmesg', and in a container its seccomp filter");
		return;
	}
	if (system_exists("/sys/module/amdgpu/parameters/kfd_prio_build")) {
		say(t->what, "the driver of kfdprio is loaded, and its ioctls are refused: %s", strerror(err));
		say(t->todo, "check the seccomp filter or the sandbox that this program runs in");
		return;
	}
	t->cause = KFD_CAUSE_STOCK;
	/* events of KFD itself, with the series that contrib/rfc offers upstream; root alone sees them */
	lacks = system_exists("/sys/kernel/tracing/events/" UPSTREAM_SYSTEM "/" UPSTREAM_EVENT) ? "no priorities" :
											       "neither priorities nor trace events";
	/* a module has an initstate; amdgpu-dkms has a version */
	if (system_exists("/sys/module/amdgpu/parameters") && !system_exists("/sys/module/amdgpu/initstate") &&
	    !system_exists("/sys/module/amdgpu/version")) {
		say(t->what, "the stock amdgpu driver is built into this kernel, which has %s", lacks);
		say(t->todo,
		    "no module can replace it: boot a kernel with CONFIG_DRM_AMDGPU=m, and install the package kfdprio-dkms for that kernel (or run 'make install')");
		return;
	}
	if (system_read("/sys/module/amdgpu/version", version, sizeof(version)))
		version[strcspn(version, "\n")] = '\0';
	say(t->what, "the stock amdgpu driver is loaded%s%s%s, which has %s", *version ? " (from amdgpu-dkms, version " : "",
	    version, *version ? ")" : "", lacks);
	say(t->todo,
	    "'kfdtrace record' shows with it which process has the GPU; for priorities, install the package kfdprio-dkms for this kernel (or run 'make install'), then reboot or reload amdgpu");
}

/**
 * kfd_trouble_text() - the cause and the next step in one line
 * @t: the trouble
 * @why: out, KFDLIB_WHY bytes
 */
void kfd_trouble_text(const struct kfd_trouble *t, char *why)
{
	snprintf(why, KFDLIB_WHY, "%s: %s", t->what, t->todo);
}
