/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the parts of kfdprio doctor. */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdio.h>
#include "kfdprio.h"

#define DOCTOR_PATH	1024	/* bytes of a path */
#define DOCTOR_PARK_MS	"/sys/module/amdgpu/parameters/idle_park_ms"
#define DOCTOR_TEXT	2048	/* bytes of what was found */

/* The prefix of every path in /proc, /sys, /dev, /var; not empty only in tests. */
extern const char *doctor_root;

/* The level of a finding; only FINDING_FAIL makes the exit status 1 */
enum finding_level { FINDING_OK, FINDING_INFO, FINDING_WARN, FINDING_FAIL };

/**
 * struct finding - one line of the result
 * @level: what it means
 * @what: what was looked at
 * @found: what there is
 * @todo: what to do about it, or NULL
 */
struct finding {
	enum finding_level level;
	char *what;
	char *found;
	char *todo;
};

/**
 * struct measure - a time, measured several times
 * @name: what was measured; the unit is in the name
 * @gpu_id: on which GPU
 * @ns: array of @nr times, sorted
 * @nr: how many
 */
struct measure {
	const char *name;
	unsigned int gpu_id;
	uint64_t *ns;
	size_t nr;
};

/**
 * struct soak - what kfdprio doctor --soak has done on a GPU
 * @gpu_id: of the GPU
 * @work: "shader", or "packets": no shader ran; a string that stays
 * @reason: why no shader ran; empty if one did
 * @rounds: of work, all of whose results were compared
 * @preempted: preemptions in them
 * @saved: those whose save the firmware has measured
 * @stopped_by: NULL, or what ended it early: "difference", "hang", "kernel log", "not preempted",
 *	"signal", "failure"; a string that stays
 */
struct soak {
	unsigned int gpu_id;
	const char *work;
	char reason[KFDLIB_WHY];
	uint64_t rounds, preempted, saved;
	const char *stopped_by;
};

/**
 * struct doctor - an examination
 * @findings: array of @nr_findings
 * @nr_findings: how many
 * @measures: array of @nr_measures
 * @nr_measures: how many
 * @soaks: array of @nr_soaks
 * @nr_soaks: how many
 * @live: print each finding when it is found
 * @dev: the device; its fd is -1 unless our driver answers
 * @topo: the GPUs
 * @only: of --gpu, 0 for all
 * @simulated: whether the loaded driver is the one of the simulated GPU
 * @force: of --force
 * @seconds: of --time
 * @test: of --test
 * @soak: of --soak, 0: it was not given
 */
struct doctor {
	struct finding *findings;
	size_t nr_findings;
	struct measure *measures;
	size_t nr_measures;
	struct soak *soaks;
	size_t nr_soaks;
	bool live;
	struct kfd_dev dev;
	struct kfd_topology topo;
	unsigned int only;
	enum simulated simulated;
	bool force;
	unsigned int seconds;
	bool test;
	unsigned int soak;
};

int kfdprio_doctor(int argc, char **argv);

/* find.c */
extern const char *const doctor_level_names[];
void doctor_print(FILE *out, const struct doctor *d);
void doctor_say(struct doctor *d, enum finding_level level, const char *what, const char *todo,
		const char *format, ...) __attribute__((format(printf, 5, 6)));
const struct measure *doctor_measure(struct doctor *d, const char *name, unsigned int gpu_id,
				     const uint64_t *ns, size_t nr);
struct soak *doctor_soak(struct doctor *d, unsigned int gpu_id);
enum finding_level doctor_worst(const struct doctor *d);
void doctor_free(struct doctor *d);
bool doctor_exists(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool doctor_read(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
char *doctor_slurp(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* report.c */
void doctor_json(const struct doctor *d);
int doctor_report(FILE *out, const struct doctor *d);

/* host.c, driver.c, module.c, gpu.c: the checks */
void doctor_host(struct doctor *d);
int doctor_secure_boot(void);
void doctor_driver(struct doctor *d);
void doctor_module(struct doctor *d);
void doctor_gpus(struct doctor *d);
void doctor_processes(struct doctor *d);

/* groups.c */
void doctor_groups(struct doctor *d);

/* crowd.c */
void doctor_crowd(struct doctor *d, const struct kfd_gpu *gpu);

/* power.c */
extern unsigned int doctor_second_ms;
int doctor_power(struct doctor *d, bool json);

/* slots.c */
size_t doctor_users(unsigned int gpu_id);
size_t doctor_queues(const char *pid, unsigned int gpu_id, bool compute);
void doctor_slots(struct doctor *d, const struct kfd_gpu *gpu);

/* mqds.c */
int doctor_mqds(const char *path, bool json);

/* test.c */
void doctor_test(struct doctor *d);

#endif /* DOCTOR_H */
