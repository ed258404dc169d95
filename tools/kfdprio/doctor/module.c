// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor: the module's file: which one modprobe would load, whose it is, whether it is
 * the one that is loaded, and what DKMS says.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <libkmod.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"

#define MODULE	"/sys/module/amdgpu"
#define DKMS	"/var/lib/dkms"
#define ID_MAX	64 /* bytes of a build ID; SHA-1 has 20 */

/**
 * struct module_file - what modinfo knows of the file that modprobe would load
 * @path: the file; empty if there is none
 * @kfdprio: "VERSION TREE" of our module, else empty
 * @version: of amdgpu-dkms, else empty
 * @signer: the name of the signer, or empty
 * @vermagic: the kernel it is for
 */
struct module_file {
	char path[DOCTOR_PATH];
	char kfdprio[128], version[64], signer[128], vermagic[128];
};

static void info_take(struct module_file *file, const char *key, const char *value)
{
	if (!strcmp(key, "kfdprio"))
		snprintf(file->kfdprio, sizeof(file->kfdprio), "%s", value);
	else if (!strcmp(key, "version"))
		snprintf(file->version, sizeof(file->version), "%s", value);
	else if (!strcmp(key, "signer"))
		snprintf(file->signer, sizeof(file->signer), "%s", value);
	else if (!strcmp(key, "vermagic"))
		snprintf(file->vermagic, sizeof(file->vermagic), "%.*s",
			 (int)strcspn(value, " "), value);
}

static bool module_find(struct module_file *file, const char *release)
{
	struct kmod_list *list = NULL, *info = NULL, *item;
	struct kmod_module *module = NULL;
	char path[DOCTOR_PATH];
	struct kmod_ctx *ctx;
	const char *found;

	memset(file, 0, sizeof(*file));
	snprintf(path, sizeof(path), "%s/lib/modules/%s", doctor_root, release);
	ctx = kmod_new(path, NULL);
	if (!ctx)
		return false;
	kmod_set_log_priority(ctx, 0);
	if (kmod_module_new_from_lookup(ctx, "amdgpu", &list) || !list)
		goto out;
	module = kmod_module_get_module(list);
	found = kmod_module_get_path(module);
	if (!found)
		goto out;
	snprintf(file->path, sizeof(file->path), "%s", found);
	if (kmod_module_get_info(module, &info) >= 0)
		for (item = info; item; item = kmod_list_next(info, item))
			info_take(file, kmod_module_info_get_key(item),
				  kmod_module_info_get_value(item));
	kmod_module_info_free_list(info);
out:
	kmod_module_unref(module);
	kmod_module_unref_list(list);
	kmod_unref(ctx);
	return *file->path;
}

/* The build ID in notes as ELF keeps them; its length, 0 if there is none. */
static size_t note_id(const unsigned char *notes, size_t size, unsigned char *id)
{
	Elf64_Nhdr note;
	size_t at = 0, name, desc;

	while (at + sizeof(note) <= size) {
		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		desc = name + ((note.n_namesz + 3ul) & ~3ul);
		if (desc + note.n_descsz > size)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && note.n_descsz <= ID_MAX) {
			memcpy(id, notes + desc, note.n_descsz);
			return note.n_descsz;
		}
		at = desc + ((note.n_descsz + 3ul) & ~3ul);
	}
	return 0;
}

static size_t loaded_id(unsigned char *id)
{
	char path[DOCTOR_PATH];
	unsigned char notes[256];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s" MODULE "/notes/.note.gnu.build-id", doctor_root);
	file = fopen(path, "re");
	if (!file)
		return 0;
	len = fread(notes, 1, sizeof(notes), file);
	fclose(file);
	return note_id(notes, len, id);
}

/* 0 also if the file is compressed. */
static size_t file_id(const char *path, unsigned char *id)
{
	FILE *file = fopen(path, "re");
	unsigned char notes[256];
	Elf64_Shdr section;
	Elf64_Ehdr header;
	size_t len = 0;
	unsigned int i;

	if (!file)
		return 0;
	if (fread(&header, sizeof(header), 1, file) != 1 ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64)
		goto out;
	for (i = 0; i < header.e_shnum && !len; i++) {
		if (fseek(file, header.e_shoff + i * sizeof(section), SEEK_SET) ||
		    fread(&section, sizeof(section), 1, file) != 1)
			break;
		if (section.sh_type != SHT_NOTE || section.sh_size > sizeof(notes) ||
		    fseek(file, section.sh_offset, SEEK_SET) ||
		    fread(notes, 1, section.sh_size, file) != section.sh_size)
			continue;
		len = note_id(notes, section.sh_size, id);
	}
out:
	fclose(file);
	return len;
}

static void compare(struct doctor *d, const struct module_file *file)
{
	unsigned char loaded[ID_MAX], on_disk[ID_MAX];
	size_t len = loaded_id(loaded);
	bool differ, compared;
	char build[128] = "";

	if (!doctor_exists(MODULE))
		return;
	doctor_read(build, sizeof(build), MODULE "/parameters/kfd_prio_build");
	differ = strcmp(build, file->kfdprio);
	/* Not if the file is compressed. */
	compared = len && file_id(file->path, on_disk) == len;
	if (!differ && compared)
		differ = memcmp(loaded, on_disk, len);
	if (differ)
		doctor_say(d, FINDING_WARN, "loaded module",
			   "reboot, or reload amdgpu; if this finding remains, the initramfs has another module: run update-initramfs -u",
			   "it differs from the module file: %s%s is loaded",
			   *build ? "kfdprio " : "a stock driver", build);
	else
		doctor_say(d, FINDING_OK, "loaded module", NULL, "%s", compared ?
			   "it is the module file: both have the same build ID" :
			   "no difference from the module file was found");
}

static void file_show(struct doctor *d, const char *release)
{
	struct module_file file;
	const char *shown;

	if (!module_find(&file, release)) {
		doctor_say(d, FINDING_WARN, "module file",
			   "in a container this is normal; on a host, run 'depmod' as root",
			   "modprobe finds no amdgpu for %s", release);
		return;
	}
	shown = file.path + strlen(doctor_root);
	if (*file.vermagic && strcmp(file.vermagic, release))
		doctor_say(d, FINDING_FAIL, "module file", "remove it, then build the driver for this kernel",
			   "%s was built for kernel %s", shown, file.vermagic);
	else if (*file.kfdprio)
		doctor_say(d, FINDING_OK, "module file", NULL, "%s, kfdprio %s%s%s", shown,
			   file.kfdprio, *file.signer ? ", signed by " : ", not signed", file.signer);
	else
		doctor_say(d, FINDING_WARN, "module file",
			   "install the driver of kfdprio for this kernel; see Documentation/install.rst",
			   "%s, a stock driver%s%s", shown,
			   *file.version ? " of amdgpu-dkms, version " : "", file.version);
	if (!*file.signer && doctor_secure_boot() > 0)
		doctor_say(d, FINDING_FAIL, "signature",
			   "have DKMS sign it and enrol DKMS's key; see Secure Boot in Documentation/install.rst",
			   "Secure Boot is on and %s is not signed: the kernel refuses it", shown);
	compare(d, &file);
}

/* The version of a DKMS package that is installed for this kernel: a link tells, VERSION/KERNEL/... */
static void dkms_installed(char *version, const char *package, const char *release,
			   const char *machine)
{
	char path[DOCTOR_PATH];
	ssize_t len;

	snprintf(path, sizeof(path), "%s" DKMS "/%s/kernel-%s-%s", doctor_root, package, release,
		 machine);
	len = readlink(path, version, DOCTOR_PATH - 1);
	version[len > 0 ? len : 0] = '\0';
	version[strcspn(version, "/")] = '\0';
}

/* Versions of a DKMS package, each with what was built of it for this kernel. */
static void dkms_show(struct doctor *d, const char *package, const char *release,
		      const char *machine)
{
	char path[DOCTOR_PATH], installed[DOCTOR_PATH];
	struct dirent **entries;
	int nr, i;

	snprintf(path, sizeof(path), "%s" DKMS "/%s", doctor_root, package);
	nr = scandir(path, &entries, NULL, versionsort);
	if (nr < 0)
		return;
	dkms_installed(installed, package, release, machine);
	for (i = 0; i < nr; i++) {
		const char *version = entries[i]->d_name;
		bool built;

		if (*version == '.' || !strncmp(version, "kernel-", 7) ||
		    !doctor_exists(DKMS "/%s/%s/source", package, version))
			continue;
		built = doctor_exists(DKMS "/%s/%s/%s/%s/module", package, version, release, machine);
		if (!strcmp(version, installed))
			doctor_say(d, FINDING_OK, "DKMS", NULL, "%s %s is installed for %s", package,
				   version, release);
		else if (*installed)
			doctor_say(d, FINDING_INFO, "DKMS", NULL, "%s %s is added%s, and not installed",
				   package, version, built ? " and built" : "");
		else
			doctor_say(d, FINDING_WARN, "DKMS",
				   "run 'kfdprio-driver status' (or 'make status') for the reason; the log of a build is make.log in /var/lib/dkms",
				   "%s %s is %s for %s", package, version,
				   built ? "built, but not installed" : "not built", release);
	}
	for (i = 0; i < nr; i++)
		free(entries[i]);
	free(entries);
}

/**
 * doctor_module() - examine the files of the module
 * @d: the examination
 */
void doctor_module(struct doctor *d)
{
	struct utsname uts;

	if (uname(&uts))
		return;
	file_show(d, uts.release);
	if (!doctor_exists(DKMS "/kfdprio") && !doctor_exists(DKMS "/amdgpu"))
		doctor_say(d, FINDING_INFO, "DKMS", NULL, "no version of kfdprio or amdgpu is added");
	dkms_show(d, "kfdprio", uts.release, uts.machine);
	dkms_show(d, "amdgpu", uts.release, uts.machine);
}
