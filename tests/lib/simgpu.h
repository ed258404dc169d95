/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests of the simulated GPU do to it: its debugfs, its module, and children that use it.
 *
 * The program itself must not open /dev/kfd: a removed GPU ends all processes that have.
 */
#ifndef TESTS_LIB_SIMGPU_H
#define TESTS_LIB_SIMGPU_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A file of a GPU's debugfs directory, in a static buffer; NULL with errno if it cannot be read */
const char *sim_read(unsigned int gpu, const char *file);

/* Write one; returns 0 or an errno */
int sim_write(unsigned int gpu, const char *file, const char *text);

/* A value of counters; ends the program if there is none of that name */
long long sim_counter(unsigned int gpu, const char *name);

/* Set a fault, "0" for none; ends the program if it is refused */
void sim_fault_set(unsigned int gpu, const char *name, const char *setting);

/* How often it has struck since the module was loaded */
long long sim_fault_struck(unsigned int gpu, const char *name);

/* Write to a file in sysfs or procfs; returns 0 or an errno */
int sim_poke(const char *path, const char *text);

/**
 * sim_clean() - is nothing of any process left on a GPU?
 * @gpu: the GPU
 * @pages: its counter ram_pages when it was idle
 *
 * Waits up to 20 s for that; prints what is left if it does not come.
 */
bool sim_clean(unsigned int gpu, long long pages);

/* The seed of this run (tests/vm/run --seed), and random numbers made from one */
uint64_t sim_seed(void);
uint64_t sim_random(uint64_t *state);

/* Is the driver that of Linux 6.1? */
bool sim_old_kernel(void);

/* Is it that of ROCm's amdgpu-dkms? */
bool sim_rocm(void);

/* Is it a 7.x, or a later one? */
bool sim_new_kernel(void);

/* Is it one of tests/vm/run --debug? */
bool sim_debug_kernel(void);

/* insmod with the VM's GPUs and these parameters, rmmod; return 0 or an errno */
int sim_load(const char *params);
int sim_unload(void);

/**
 * struct sim_child - a child process
 * @pid: its PID
 * @fd: what it says
 */
struct sim_child {
	pid_t pid;
	int fd;
};

/**
 * sim_child() - run a function in a child
 * @fn: gets a descriptor to which it can say something, and @arg; returns the exit status, 0..255
 * @arg: its argument
 */
struct sim_child sim_child(int (*fn)(int fd, void *arg), void *arg);

/* What the child says next, @n bytes of it; false if it does not within @ms or ends */
bool sim_child_hear(const struct sim_child *ch, void *buf, unsigned int n, int ms);

/* Its wait status; kills it if it does not end within @ms and returns -1 */
int sim_child_end(struct sim_child *ch, int ms);

/* SIGKILL, and wait */
void sim_child_kill(struct sim_child *ch);

/**
 * sim_use() - use a GPU in a child as a small program would: open, queue, SDMA queue if @sdma,
 * memory of either kind, dispatch, event, and release it all
 *
 * Return: 0 or an errno; ECANCELED if the child was killed or did not end
 */
int sim_use(unsigned int gpu, bool sdma);

#endif
