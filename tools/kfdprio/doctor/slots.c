// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor: which processes have queues on a GPU; are there more compute queues than hardware queue slots (HQDs), whose are
 * they, and what would help?
 *
 * KFD lists the queues of each process (proc/PID/queues in its sysfs), also those that are parked or preempted, and the slots of
 * a GPU in its topology (num_cp_queues, of one XCC; a queue has a slot on each). amdgpu keeps num_kcq of the slots of the first
 * MEC for the kernel, and KFD has the others.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define PROC		"/sys/class/kfd/kfd/proc"
#define NUM_KCQ		"/sys/module/amdgpu/parameters/num_kcq"
#define KCQ_DEFAULT	8	/* amdgpu takes a num_kcq below 0 or above 8 for this number, amdgpu_gfx_compute_queue_acquire() */
#define NAMED		6	/* processes that the finding names */
#define TYPE_COMPUTE	"0"	/* enum kfd_queue_type */

/**
 * struct holder - a process with compute queues on the GPU
 * @pid: its PID, as KFD lists it
 * @queues: how many
 * @parked: it is parked, and its queues have no slot
 */
struct holder {
	unsigned long pid;
	unsigned int queues;
	bool parked;
};

/**
 * struct holders - the processes with compute queues on a GPU
 * @of: array of @nr, that with most queues first
 * @queues: all their queues
 */
struct holders {
	struct holder *of;
	size_t nr;
	unsigned int queues;
};

static bool is_compute(const char *pid, const char *queue)
{
	char type[16];

	return doctor_read(type, sizeof(type), PROC "/%s/queues/%s/type", pid, queue) && !strcmp(type, TYPE_COMPUTE);
}

/**
 * doctor_queues() - how many queues a process has on a GPU
 * @pid: its PID, the name of its directory
 * @gpu_id: the GPU, 0: any
 * @compute: count compute queues only
 *
 * KFD lists the PIDs of the initial namespace here: in a container those of others are counted as well.
 */
size_t doctor_queues(const char *pid, unsigned int gpu_id, bool compute)
{
	char path[DOCTOR_PATH], id[16];
	struct dirent *entry;
	size_t nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s" PROC "/%s/queues", doctor_root, pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		nr += *entry->d_name != '.' &&
		      doctor_read(id, sizeof(id), PROC "/%s/queues/%s/gpuid", pid, entry->d_name) &&
		      (!gpu_id || strtoul(id, NULL, 10) == gpu_id) &&
		      (!compute || is_compute(pid, entry->d_name));
	if (dir)
		closedir(dir);
	return nr;
}

/**
 * doctor_users() - how many processes have queues on a GPU
 * @gpu_id: the GPU
 */
size_t doctor_users(unsigned int gpu_id)
{
	char path[DOCTOR_PATH];
	struct dirent *entry;
	size_t nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s" PROC, doctor_root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		nr += *entry->d_name != '.' && doctor_queues(entry->d_name, gpu_id, false);
	if (dir)
		closedir(dir);
	return nr;
}

static int by_queues(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	if (x->queues != y->queues)
		return x->queues < y->queues ? 1 : -1;
	return x->pid > y->pid ? 1 : -1;
}

static void holders_add(struct holders *h, const char *pid, unsigned int queues)
{
	struct holder *of = reallocarray(h->of, h->nr + 1, sizeof(*of));

	if (!of)
		return;
	h->of = of;
	h->of[h->nr++] = (struct holder){ .pid = strtoul(pid, NULL, 10), .queues = queues };
	h->queues += queues;
}

static void holders_read(struct holders *h, unsigned int gpu_id)
{
	char path[DOCTOR_PATH];
	struct dirent *entry;
	unsigned int queues;
	DIR *dir;

	*h = (struct holders){ 0 };
	snprintf(path, sizeof(path), "%s" PROC, doctor_root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		queues = *entry->d_name == '.' ? 0 : doctor_queues(entry->d_name, gpu_id, true);
		if (queues)
			holders_add(h, entry->d_name, queues);
	}
	if (dir)
		closedir(dir);
	if (h->nr)
		qsort(h->of, h->nr, sizeof(*h->of), by_queues);
}

/* Our driver tells which are parked */
static void holders_parked(struct holders *h, const struct doctor *d, unsigned int gpu_id)
{
	struct kfd_prio_list_entry *entries;
	size_t nr, i, k;

	if (d->dev.fd < 0 || kfd_dev_list(&d->dev, &entries, &nr))
		return;
	for (i = 0; i < nr; i++)
		for (k = 0; k < h->nr && entries[i].gpu_id == gpu_id; k++)
			h->of[k].parked |= entries[i].pid == (int32_t)h->of[k].pid && entries[i].flags & KFD_PRIO_LIST_PARKED;
	free(entries);
}

static void name_them(char *text, size_t size, const struct holders *h)
{
	size_t len = 0, i;

	for (i = 0; i < h->nr && i < NAMED && len < size; i++)
		len += snprintf(text + len, size - len, "%sPID %lu %u%s", i ? ", " : "", h->of[i].pid, h->of[i].queues,
				h->of[i].parked ? " parked" : "");
	if (h->nr > NAMED && len < size)
		snprintf(text + len, size - len, ", and %zu more", h->nr - NAMED);
}

/* Advises num_kcq=1, with the number of slots that KFD would have. @text stays empty if num_kcq is not known, or 0 or 1 already */
static void fewer_for_kernel(char *text, size_t size, uint64_t slots, unsigned int queues)
{
	char set[16];
	long kcq;

	if (!doctor_read(set, sizeof(set), NUM_KCQ))
		return;
	kcq = strtol(set, NULL, 10);
	if (kcq < 0 || kcq > KCQ_DEFAULT)
		kcq = KCQ_DEFAULT;
	if (kcq < 2)
		return;
	snprintf(text, size,
		 "; amdgpu.num_kcq=1 on the kernel's command line instead of %ld would leave %" PRIu64 " slots%s", kcq,
		 slots + kcq - 1, slots + kcq - 1 < queues ? ", which are still too few" : "");
}

/**
 * doctor_slots() - examine whether processes have more compute queues on a GPU than it has slots for
 * @d: the examination
 * @gpu: the GPU
 *
 * Needs no debugfs, and works beside the stock driver. Says nothing if there are slots for all, or the topology does not tell how
 * many there are.
 */
void doctor_slots(struct doctor *d, const struct kfd_gpu *gpu)
{
	char what[64], names[256] = "", kcq[160] = "", todo[512], park[16];
	struct holders h;
	uint64_t slots;
	bool parks;

	if (!kfd_topology_prop(gpu, "num_cp_queues", &slots) || !slots)
		return;
	holders_read(&h, gpu->gpu_id);
	snprintf(what, sizeof(what), "GPU %u: queue slots", gpu->gpu_id);
	if (h.queues > slots) {
		holders_parked(&h, d, gpu->gpu_id);
		parks = doctor_read(park, sizeof(park), DOCTOR_PARK_MS) && strcmp(park, "0");
		name_them(names, sizeof(names), &h);
		fewer_for_kernel(kcq, sizeof(kcq), slots, h.queues);
		snprintf(todo, sizeof(todo), "%sgive each process fewer queues (GPU_MAX_HW_QUEUES=1 for HIP)%s",
			 parks ? "" : "park processes without work (parking.rst), or ", kcq);
		doctor_say(d, parks ? FINDING_INFO : FINDING_WARN, what, todo,
			   "%zu processes have %u compute queues (%s), and there are %" PRIu64 " slots for them: %s",
			   h.nr, h.queues, names, slots,
			   parks ? "if many have work at the same time, their queues take turns" :
				   "their queues take turns, with or without work");
	}
	free(h.of);
}
