/* SPDX-License-Identifier: GPL-2.0 */
/* DRM user queues, which KFD has no part in: which processes have some. */
#ifndef USER_QUEUES_H
#define USER_QUEUES_H

#include <stddef.h>
#include <sys/types.h>

#include "kfdlib.h"

/* What a user queue is for: the numbers of the kernel's AMDGPU_HW_IP_*, as far as user queues have them */
enum user_queue_type {
	USER_QUEUE_GRAPHICS,
	USER_QUEUE_COMPUTE,
	USER_QUEUE_SDMA,
	USER_QUEUE_OTHER, /* another type, or it cannot be read */
	USER_QUEUE_TYPES
};

/**
 * struct user_queue_client - a process that has user queues on a GPU
 * @pid: its number in the initial PID namespace; 0 if it has ended, or cannot be read
 * @pci: domain:bus:device.function of the GPU, empty if it is not known
 * @nr: how many user queues
 * @types: how many of each type
 */
struct user_queue_client {
	pid_t pid;
	char pci[32];
	unsigned int nr;
	unsigned int types[USER_QUEUE_TYPES];
};

/**
 * struct user_queues - all of them
 * @clients: array of @nr
 * @nr: how many
 * @parameter: amdgpu's user_queue; above 0: they are on
 */
struct user_queues {
	struct user_queue_client *clients;
	size_t nr;
	int parameter;
};

int user_queues_read(const char *root, struct user_queues *found, char *why);
void user_queues_free(struct user_queues *found);
void user_queues_text(const struct user_queue_client *client, char *text, size_t size);

#endif /* USER_QUEUES_H */
