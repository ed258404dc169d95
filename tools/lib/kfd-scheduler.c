// SPDX-License-Identifier: GPL-2.0
/* The scheduler of the queues of a GPU, and whether the GPU is simulated. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kfdlib.h"

#define DEBUGFS	   "/sys/kernel/debug/kfd/preempt"
#define PARAMETERS "/sys/module/amdgpu/parameters"
#define GFX11	   110000 /* gfx_target_version from which on KFD uses MES */

static FILE *file_open(const char *root, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", root, name);
	return fopen(path, "re");
}

/* "GPU 26544 (HWS)" in debugfs, which only root may read. */
static bool scheduler_told(const struct kfd_gpu *gpu, const char *root, enum kfd_scheduler *told)
{
	FILE *file = file_open(root, DEBUGFS);
	char line[128], word[32];
	unsigned int gpu_id;
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		if (sscanf(line, "GPU %u (%31[^)])", &gpu_id, word) == 2 && gpu_id == gpu->gpu_id) {
			*told = !strcmp(word, "MES")			? KFD_SCHEDULER_MES
				: !strcmp(word, "HWS")			? KFD_SCHEDULER_HWS
				: !strcmp(word, "no hardware scheduler") ? KFD_SCHEDULER_NONE
									: KFD_SCHEDULER_UNKNOWN;
			found = true;
		}
	if (file)
		fclose(file);
	return found;
}

static bool scheduler_off(const char *root)
{
	FILE *file = file_open(root, PARAMETERS "/sched_policy");
	char line[16];
	bool off;

	if (!file)
		return false;
	off = fgets(line, sizeof(line), file) && (!strcmp(line, "2\n") || !strcmp(line, "2"));
	fclose(file);
	return off;
}

/**
 * kfd_scheduler() - what schedules the queues of a GPU
 * @gpu: the GPU
 * @root: put before the paths, "" but for tests
 * @how: out: how that is known, for the user; may be NULL
 *
 * Return: the scheduler as the driver reports it in debugfs, else as concluded from the generation
 * of the GPU and the parameters.
 */
enum kfd_scheduler kfd_scheduler(const struct kfd_gpu *gpu, const char *root, const char **how)
{
	enum kfd_scheduler scheduler;
	uint64_t gfx = 0;
	const char *text;

	if (scheduler_told(gpu, root, &scheduler)) {
		text = scheduler == KFD_SCHEDULER_UNKNOWN ? "the driver reports one in debugfs that this program does not know" :
							    "the driver reports it in debugfs";
	} else if (scheduler_off(root)) {
		scheduler = KFD_SCHEDULER_NONE;
		text = "sched_policy is 2";
	} else if (!kfd_topology_prop(gpu, "gfx_target_version", &gfx)) {
		scheduler = KFD_SCHEDULER_UNKNOWN;
		text = "the kernel does not show the generation of the GPU";
	} else if (gfx >= GFX11) {
		scheduler = KFD_SCHEDULER_MES;
		text = "concluded from the generation, gfx11 or later";
	} else {
		scheduler = KFD_SCHEDULER_HWS;
		text = "concluded from the generation, before gfx11";
	}
	if (how)
		*how = text;
	return scheduler;
}

/**
 * kfd_simulated() - whether the driver is that of the simulated GPU
 * @root: put before the path, "" but for tests
 *
 * Return: whether it has the parameter that no other has, see simulator.rst; not known where the
 * parameters of amdgpu cannot be seen.
 */
enum simulated kfd_simulated(const char *root)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s" PARAMETERS "/reserved2_ns", root);
	if (!access(path, F_OK))
		return SIMULATED_YES;
	snprintf(path, sizeof(path), "%s" PARAMETERS, root);
	return access(path, X_OK) ? SIMULATED_UNKNOWN : SIMULATED_NO;
}
