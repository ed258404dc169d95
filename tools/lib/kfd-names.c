// SPDX-License-Identifier: GPL-2.0
/*
 * The names of a GPU, and its numbers in HIP and in rocm-smi.
 *
 * Target	gfx_target_version of the topology.
 * Product	libdrm's amdgpu.ids, by PCI device and revision, as ROCm and Mesa do it.
 * HIP		ROCr gives out the GPUs in the order of KFD's nodes, and HIP takes them so; amd-smi
 *		computes hip_id from that, too (amdsmi_get_gpu_enumeration_info()).
 * rocm-smi	the DRM cards of AMD in the order of their PCI addresses
 *		(rocm_smi_lib, RocmSMI::Initialize(): "Sort index based on the BDF").
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfdlib.h"

#define VENDOR_AMD 0x1002
#define MAX_CARDS  1024

/* A variable only so that tests can show another one: it is put before each path. */
const char *kfd_system_root = "";

/* A number in hexadecimal, as sysfs has the IDs of PCI. */
static bool hex_read(const char *path, unsigned int *value)
{
	FILE *file = fopen(path, "re");
	bool found;

	if (!file)
		return false;
	found = fscanf(file, "%x", value) == 1;
	fclose(file);
	return found;
}

/* major * 10000 + minor * 100 + stepping, of which the last two are written in hexadecimal */
static void gfx_name(struct kfd_gpu *gpu)
{
	uint64_t gfx = 0;

	if (kfd_topology_prop(gpu, "gfx_target_version", &gfx) && gfx)
		snprintf(gpu->gfx, sizeof(gpu->gfx), "gfx%u%x%x", (unsigned int)(gfx / 10000 % 1000),
			 (unsigned int)(gfx / 100 % 100), (unsigned int)(gfx % 100));
}

/* Lines are "DEVICE, REVISION, NAME" with any blanks after the commas. */
static bool product_find(const char *ids, unsigned int device, unsigned int revision, char *product)
{
	unsigned int its_device, its_revision;
	char path[PATH_MAX], line[256];
	bool found = false;
	FILE *file;
	int at;

	snprintf(path, sizeof(path), "%s%s", kfd_system_root, ids);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		at = 0;
		found = sscanf(line, "%x , %x , %n", &its_device, &its_revision, &at) == 2 && at &&
			line[at] && its_device == device && its_revision == revision;
		if (found)
			snprintf(product, KFDLIB_NAME, "%.*s", KFDLIB_NAME - 1, line + at);
	}
	fclose(file);
	return found;
}

static void product_read(struct kfd_gpu *gpu)
{
	unsigned int device, revision;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/device", kfd_system_root, gpu->pci);
	if (!hex_read(path, &device))
		return;
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/revision", kfd_system_root, gpu->pci);
	if (!hex_read(path, &revision))
		return;
	/* the distribution's libdrm, then that of ROCm's packages */
	if (!product_find("/usr/share/libdrm/amdgpu.ids", device, revision, gpu->product))
		product_find("/opt/amdgpu/share/libdrm/amdgpu.ids", device, revision, gpu->product);
}

/* A PCI address as a number, in the order of domain, bus, device, function. */
static bool place_parse(const char *pci, uint64_t *place)
{
	unsigned int domain, bus, device, function;

	if (sscanf(pci, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return false;
	*place = (uint64_t)domain << 32 | bus << 8 | device << 3 | function;
	return true;
}

/* The places of AMD's DRM cards; how many. */
static size_t cards_read(uint64_t *places)
{
	char path[PATH_MAX], target[PATH_MAX];
	unsigned int vendor;
	struct dirent *entry;
	const char *base;
	size_t nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/class/drm", kfd_system_root);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (nr < MAX_CARDS && (entry = readdir(dir))) {
		/* not card0-HDMI-A-1 */
		if (strncmp(entry->d_name, "card", 4) || strchr(entry->d_name, '-'))
			continue;
		snprintf(path, sizeof(path), "%s/sys/class/drm/%s/device/vendor", kfd_system_root,
			 entry->d_name);
		if (!hex_read(path, &vendor) || vendor != VENDOR_AMD)
			continue;
		*strrchr(path, '/') = '\0';
		if (!realpath(path, target))
			continue;
		base = strrchr(target, '/') + 1;
		if (place_parse(base, &places[nr]))
			nr++;
	}
	closedir(dir);
	return nr;
}

/* Partitions of a GPU share its place, and which one rocm-smi lists first is not documented. */
static bool partitioned(const struct kfd_topology *topo)
{
	size_t i, j;

	for (i = 0; i < topo->nr; i++)
		for (j = 0; j < i; j++)
			if (!strcmp(topo->gpus[i].pci, topo->gpus[j].pci))
				return true;
	return false;
}

static int smi_index(const struct kfd_gpu *gpu, const uint64_t *places, size_t nr)
{
	bool found = false;
	uint64_t place;
	int index = 0;
	size_t i;

	if (!place_parse(gpu->pci, &place))
		return -1;
	for (i = 0; i < nr; i++) {
		found |= places[i] == place;
		index += places[i] < place;
	}
	return found ? index : -1;
}

/**
 * kfd_names_read() - find the names of GPUs and their numbers in other tools
 * @topo: the GPU nodes, in their order; what is not known stays empty, or is -1
 */
void kfd_names_read(struct kfd_topology *topo)
{
	uint64_t places[MAX_CARDS];
	size_t nr = 0, i;

	if (topo->nr && !partitioned(topo))
		nr = cards_read(places);
	for (i = 0; i < topo->nr; i++) {
		gfx_name(&topo->gpus[i]);
		product_read(&topo->gpus[i]);
		topo->gpus[i].hip_index = i;
		topo->gpus[i].smi_index = smi_index(&topo->gpus[i], places, nr);
	}
}

/**
 * kfd_gpu_name() - what to call a GPU in one word
 * @gpu: the GPU
 *
 * Return: its target, or, of a kernel that does not tell that, the driver's name; raw bytes.
 */
const char *kfd_gpu_name(const struct kfd_gpu *gpu)
{
	return *gpu->gfx ? gpu->gfx : gpu->name;
}
