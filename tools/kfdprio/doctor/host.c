// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor: the kernel and what is around it. No name of a user or of the host. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"

#define EFIVARS	"/sys/firmware/efi/efivars"
#define EFI_GLOBAL "8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* Bits of /proc/sys/kernel/tainted that tell of trouble; see tainted-kernels.rst */
#define TAINT_DIE  (1u << 7)
#define TAINT_WARN (1u << 9)

static void distribution(char *name, size_t size)
{
	char *text = doctor_slurp("/etc/os-release"), *at;

	snprintf(name, size, "unknown distribution");
	at = text ? strstr(text, "PRETTY_NAME=") : NULL;
	if (at) {
		at += strlen("PRETTY_NAME=");
		at += *at == '"';
		snprintf(name, size, "%.*s", (int)strcspn(at, "\"\n"), at);
	}
	free(text);
}

static void kernel(struct doctor *d)
{
	struct utsname uts;
	char name[128];

	distribution(name, sizeof(name));
	if (uname(&uts))
		return;
	doctor_say(d, FINDING_INFO, "kernel", NULL, "%s %s (%s), %s", uts.release, uts.machine,
		   uts.version, name);
}

static void taint(struct doctor *d)
{
	char text[32];
	unsigned long bits;

	if (!doctor_read(text, sizeof(text), "/proc/sys/kernel/tainted"))
		return;
	bits = strtoul(text, NULL, 10);
	if (bits & (TAINT_DIE | TAINT_WARN))
		doctor_say(d, FINDING_WARN, "kernel log",
			   "read it in 'dmesg'; if it names amdgpu, report it",
			   "the kernel has logged %s since boot",
			   bits & TAINT_DIE ? "an oops" : "a warning");
	else
		doctor_say(d, FINDING_OK, "kernel log", NULL, "no oops and no warning since boot");
}

static void container(struct doctor *d)
{
	char kind[64] = "";

	if (!doctor_read(kind, sizeof(kind), "/run/systemd/container")) {
		if (doctor_exists("/.dockerenv"))
			snprintf(kind, sizeof(kind), "docker");
		else if (doctor_exists("/run/.containerenv"))
			snprintf(kind, sizeof(kind), "podman");
	}
	if (*kind)
		doctor_say(d, FINDING_INFO, "container",
			   "modules, DKMS and Secure Boot belong to the host: run 'kfdprio doctor' there, too",
			   "%s: PIDs are numbers of the container", kind);
}

/**
 * doctor_secure_boot() - is Secure Boot on?
 *
 * Return: 1, 0, or -1 if that cannot be told.
 */
int doctor_secure_boot(void)
{
	char path[DOCTOR_PATH];
	unsigned char var[5];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s" EFIVARS "/SecureBoot-" EFI_GLOBAL, doctor_root);
	file = fopen(path, "re");
	if (!file)
		return -1;
	len = fread(var, 1, sizeof(var), file);
	fclose(file);
	/* Four bytes of attributes come before the value. */
	return len == sizeof(var) ? var[4] : -1;
}

static void boot(struct doctor *d)
{
	char text[128];
	int secure = doctor_secure_boot();

	if (secure > 0)
		doctor_say(d, FINDING_INFO, "Secure Boot", NULL,
			   "on: the kernel loads only signed modules; DKMS must sign them with an enrolled key (MOK)");
	else if (!secure)
		doctor_say(d, FINDING_OK, "Secure Boot", NULL, "off");
	else if (!doctor_exists("/sys/firmware/efi"))
		doctor_say(d, FINDING_OK, "Secure Boot", NULL, "off: the host did not boot through EFI");
	else
		doctor_say(d, FINDING_INFO, "Secure Boot", NULL,
			   "unknown: the EFI variables cannot be read");
	if (doctor_read(text, sizeof(text), "/sys/kernel/security/lockdown") &&
	    !strstr(text, "[none]"))
		doctor_say(d, FINDING_INFO, "lockdown", NULL,
			   "%s: the kernel refuses debugfs and unsigned modules", text);
}

static void iommu(struct doctor *d)
{
	char path[DOCTOR_PATH];
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/class/iommu", doctor_root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		nr += *entry->d_name != '.';
	if (dir)
		closedir(dir);
	if (nr)
		doctor_say(d, FINDING_INFO, "IOMMU", NULL, "on, %u unit%s", nr, nr == 1 ? "" : "s");
	else
		doctor_say(d, FINDING_INFO, "IOMMU", NULL, "off, or not present");
}

static void rights(struct doctor *d)
{
	if (!geteuid())
		doctor_say(d, FINDING_INFO, "run as", NULL, "root");
	else
		doctor_say(d, FINDING_INFO, "run as",
			   "as root, 'kfdprio doctor' also examines firmware versions, trace events, the kernel's messages and, with --test, preemption",
			   "an ordinary user");
}

/**
 * doctor_host() - examine the kernel and how it was booted
 * @d: the examination
 */
void doctor_host(struct doctor *d)
{
	kernel(d);
	container(d);
	taint(d);
	boot(d);
	iommu(d);
	rights(d);
}
