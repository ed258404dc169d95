// SPDX-License-Identifier: GPL-2.0
/* The GPU nodes that KFD lists in sysfs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"

static unsigned int gpu_id_read(const char *node)
{
	FILE *file = kfd_node_fopen(node, "gpu_id");
	unsigned int gpu_id = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%u", &gpu_id) != 1)
		gpu_id = 0;
	fclose(file);
	return gpu_id;
}

static void name_read(const char *node, char *name)
{
	FILE *file = kfd_node_fopen(node, "name");

	if (!file)
		return;
	if (fgets(name, KFDLIB_NAME, file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

static void pci_read(const char *node, char *pci, size_t size)
{
	FILE *file = kfd_node_fopen(node, "properties");
	unsigned int location = 0, domain = 0;
	char line[128];

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "location_id %u", &location);
		sscanf(line, "domain %u", &domain);
	}
	fclose(file);
	/* location_id is bus, device and function as PCI packs them into 16 bits. */
	snprintf(pci, size, "%04x:%02x:%02x.%x", domain, location >> 8 & 0xff, location >> 3 & 0x1f,
		 location & 7);
}

static int node_compare(const void *left, const void *right)
{
	const struct kfd_gpu *a = left, *b = right;

	return a->node < b->node ? -1 : a->node > b->node;
}

/**
 * kfd_topology_read() - read the GPU nodes from sysfs, in their order
 * @topo: filled in, to be freed with kfd_topology_free()
 *
 * With their names and the numbers that other tools have for them; see kfd-names.c.
 * Nodes of CPUs, and those that a device cgroup hides, are left out.
 *
 * Return: 0, also when there is no topology at all, or -ENOMEM.
 */
int kfd_topology_read(struct kfd_topology *topo)
{
	struct kfd_gpu *grown;
	struct dirent *entry;
	DIR *dir;

	topo->gpus = NULL;
	topo->nr = 0;
	dir = opendir(kfd_topology_path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		struct kfd_gpu gpu = { 0 };

		if (sscanf(entry->d_name, "%u", &gpu.node) != 1)
			continue;
		gpu.gpu_id = gpu_id_read(entry->d_name);
		if (!gpu.gpu_id)
			continue;
		name_read(entry->d_name, gpu.name);
		pci_read(entry->d_name, gpu.pci, sizeof(gpu.pci));
		grown = reallocarray(topo->gpus, topo->nr + 1, sizeof(gpu));
		if (!grown) {
			closedir(dir);
			kfd_topology_free(topo);
			return -ENOMEM;
		}
		topo->gpus = grown;
		topo->gpus[topo->nr++] = gpu;
	}
	closedir(dir);
	if (topo->nr)
		qsort(topo->gpus, topo->nr, sizeof(*topo->gpus), node_compare);
	kfd_names_read(topo);
	return 0;
}

/**
 * kfd_topology_free() - free what kfd_topology_read() allocated
 * @topo: the topology
 */
void kfd_topology_free(struct kfd_topology *topo)
{
	free(topo->gpus);
	topo->gpus = NULL;
	topo->nr = 0;
}

/**
 * kfd_topology_find() - the node with a gpu_id
 * @topo: the topology
 * @gpu_id: what to look for
 *
 * Return: the node, owned by @topo, or NULL.
 */
const struct kfd_gpu *kfd_topology_find(const struct kfd_topology *topo, unsigned int gpu_id)
{
	size_t i;

	for (i = 0; i < topo->nr; i++)
		if (topo->gpus[i].gpu_id == gpu_id)
			return &topo->gpus[i];
	return NULL;
}
