// SPDX-License-Identifier: GPL-2.0
/* The files of a node of KFD's topology. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kfdlib.h"

/* A variable only so that tests can show another one. */
const char *kfd_topology_path = "/sys/class/kfd/kfd/topology/nodes";

/**
 * kfd_node_fopen() - a file of a node
 * @node: its number, or its name in the directory
 * @file: name of the file
 *
 * Return: as fopen(3).
 */
FILE *kfd_node_fopen(const char *node, const char *file)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s/%s", kfd_topology_path, node, file);
	return fopen(path, "re");
}

/**
 * kfd_topology_prop() - a property of a GPU's node
 * @gpu: the GPU
 * @name: as in the node's file properties
 * @value: out; unchanged if there is no such property
 *
 * Return: whether the kernel tells it.
 */
bool kfd_topology_prop(const struct kfd_gpu *gpu, const char *name, uint64_t *value)
{
	char node[16], line[128];
	size_t len = strlen(name);
	bool found = false;
	FILE *file;

	snprintf(node, sizeof(node), "%u", gpu->node);
	file = kfd_node_fopen(node, "properties");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = !strncmp(line, name, len) && line[len] == ' ' &&
			sscanf(line + len, "%" SCNu64, value) == 1;
	fclose(file);
	return found;
}
