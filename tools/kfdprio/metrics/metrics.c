// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio metrics: totals of each GPU, its processes now, and groups of processes, in the text format of Prometheus.
 *
 * The number of series is bounded: a fixed number for a GPU, three for each of --cgroups cgroups, and four for a group.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "kfdprio.h"
#include "metrics.h"
#include "message.h"
#include "output.h"

#define CGROUPS	    64	 /* of --cgroups */
#define CGROUPS_MAX 1000

/**
 * struct options - the command line
 * @output: of --output, or NULL
 * @cgroups: of --cgroups
 * @containers: of --containers
 */
struct options {
	const char *output;
	unsigned int cgroups;
	bool containers;
};

/**
 * struct owner - the processes of a cgroup on a GPU
 * @gpu_id: of the GPU
 * @cgroup: its path, escaped; of a Slurm job without what is below the job; "" if it is not known, or one of
 *	more than --cgroups; with --containers, of a container without what is below it
 * @job: of a Slurm job: its number, else ""
 * @container: with --containers, that they are in
 * @processes: that have queues there
 * @queues: of these
 */
struct owner {
	unsigned int gpu_id;
	char *cgroup;
	char job[16];
	struct container container;
	unsigned int processes, queues;
};

/**
 * struct owners - all of them
 * @all: array of @nr
 * @nr: how many
 */
struct owners {
	struct owner *all;
	size_t nr;
};

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdprio metrics [options]\n"
	      "\n"
	      "Print totals of each GPU since amdgpu was loaded, its processes now, and the groups that\n"
	      "share GPU time, in the text format of Prometheus.\n"
	      "\n"
	      "Options:\n"
	      " -o, --output FILE    replace FILE in one step: for the textfile collector of\n"
	      "                        node_exporter\n"
	      "     --cgroups N      with at most N cgroups (64), three series each; processes of\n"
	      "                        further ones are counted with an empty cgroup\n"
	      "     --containers     with the labels namespace, pod and container\n"
	      " -h, --help           display this help\n"
	      " -V, --version        display the version of this program\n"
	      "\n"
	      "For more details see kfdprio-metrics(1).\n",
	      stdout);
}

static void options_parse(int argc, char **argv, struct options *options)
{
	enum { CGROUPS_OPTION = 256, CONTAINERS_OPTION };
	static const struct option list[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "cgroups", required_argument, NULL, CGROUPS_OPTION },
		{ "containers", no_argument, NULL, CONTAINERS_OPTION },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	unsigned long number;
	char *end;
	int option;

	while ((option = option_next(argc, argv, "o:hV", list)) != -1) {
		switch (option) {
		case 'o':
			options->output = optarg;
			break;
		case CGROUPS_OPTION:
			number = strtoul(optarg, &end, 10);
			if (*optarg < '0' || *optarg > '9' || *end || number > CGROUPS_MAX)
				errx(EXIT_USAGE, "--cgroups is a number from 0 to %d, not '%s'", CGROUPS_MAX, optarg);
			options->cgroups = number;
			break;
		case CONTAINERS_OPTION:
			options->containers = true;
			break;
		case 'h':
			usage();
			exit(stdout_check(EXIT_SUCCESS));
		case 'V':
			puts("kfdprio " KFDPRIO_VERSION);
			exit(stdout_check(EXIT_SUCCESS));
		default:
			fputs("Try 'kfdprio metrics --help' for more information.\n", stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc)
		errx(EXIT_USAGE, "metrics takes no argument '%s'", argv[optind]);
}

static struct owner *owner_find(struct owners *owners, unsigned int gpu_id, const char *cgroup)
{
	size_t i;

	for (i = 0; i < owners->nr; i++) {
		if (owners->all[i].gpu_id == gpu_id && !strcmp(owners->all[i].cgroup, cgroup))
			return &owners->all[i];
	}
	return NULL;
}

static struct owner *owner_add(struct owners *owners, unsigned int gpu_id, const char *cgroup)
{
	struct owner *more = realloc(owners->all, (owners->nr + 1) * sizeof(*more));

	if (!more)
		err(EXIT_FAILURE, "cannot count processes");
	owners->all = more;
	more += owners->nr++;
	*more = (struct owner){ .gpu_id = gpu_id, .cgroup = strdup(cgroup) };
	if (!more->cgroup)
		err(EXIT_FAILURE, "cannot count processes");
	return more;
}

/* The cgroup of a process, as the label has it, its job and, with @known, its container */
static void process_place(pid_t pid, struct containers *known, char *cgroup, size_t size, struct owner *of)
{
	if (!cgroup_slurm(pid, cgroup, size, of->job, sizeof(of->job)))
		return;
	if (cgroup_of(pid, cgroup, size))
		*cgroup = '\0';
	else if (known && container_find(known, cgroup, &of->container))
		cgroup[of->container.place.length] = '\0';
}

/* @known: containers, or NULL: they were not asked for */
static void owners_read(const struct kfd_prio_list_entry *entries, size_t nr, unsigned int limit,
			struct containers *known, struct owners *owners)
{
	char cgroup[KFDLIB_PATH];
	unsigned int named = 0;
	struct owner of;
	struct owner *owner;
	char *text;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!entries[i].nr_queues || kfd_entry_again(entries, i))
			continue;
		*cgroup = '\0';
		of = (struct owner){ .gpu_id = 0 };
		/* the last PID of an orphan may be that of another process */
		if (limit && (!(entries[i].flags & KFD_PRIO_LIST_ORPHAN) || entries[i].nr_groups))
			process_place(entries[i].pid, known, cgroup, sizeof(cgroup), &of);
		text = text_escape(cgroup, TEXT_UTF8);
		if (!text)
			err(EXIT_FAILURE, "cannot count processes");
		owner = owner_find(owners, entries[i].gpu_id, text);
		if (!owner && *text && named++ >= limit) {
			*text = '\0';
			of = (struct owner){ .gpu_id = 0 };
			owner = owner_find(owners, entries[i].gpu_id, text);
		}
		if (!owner) {
			owner = owner_add(owners, entries[i].gpu_id, text);
			memcpy(owner->job, of.job, sizeof(of.job));
			owner->container = of.container;
		}
		owner->processes++;
		owner->queues += entries[i].nr_queues;
		free(text);
	}
}

static void gpu_print(FILE *out, const char *name, unsigned int gpu_id, const struct kfd_topology *topo)
{
	const struct kfd_gpu *gpu = kfd_topology_find(topo, gpu_id);

	fprintf(out, "%s{gpu_id=\"%u\",pci=\"", name, gpu_id);
	metrics_label(out, gpu ? gpu->pci : "");
	putc('"', out);
}

/* Where in an entry a metric is: a count of 32 or 64 bits, or nanoseconds. */
enum kind { COUNT32, COUNT64, NS, FLAG };

static const struct metric {
	const char *name, *help;
	size_t at;
	enum kind kind;
	bool gauge;
} metrics[] = {
#define METRIC(field, kind, gauge, name, help) { name, help, offsetof(struct kfd_prio_gpu_entry, field), kind, gauge }
	METRIC(preemption_count, COUNT64, false, "kfdprio_preemptions_total",
	       "Preemptions that have begun on the GPU; one may take several processes off it."),
	METRIC(preempted_count, COUNT64, false, "kfdprio_preempted_processes_total",
	       "How often a process was preempted."),
	METRIC(preempted_ns, NS, false, "kfdprio_preempted_seconds_total",
	       "How long processes were preempted, summed over processes."),
	METRIC(update_ns, NS, false, "kfdprio_switch_seconds_total",
	       "How long changes for preemption and parking took, with the save of waves, without their restore."),
	METRIC(saved_count, COUNT64, false, "kfdprio_saves_total",
	       "Preemptions of a process whose save of waves the firmware has measured."),
	METRIC(saved_ns, NS, false, "kfdprio_save_seconds_total",
	       "How long these saves took, the longest queue of each process."),
	METRIC(saved_max_ns, NS, true, "kfdprio_save_longest_seconds",
	       "The longest of these saves since amdgpu was loaded."),
	METRIC(parked_count, COUNT64, false, "kfdprio_parked_processes_total",
	       "How often a process was parked."),
	METRIC(parked_ns, NS, false, "kfdprio_parked_seconds_total",
	       "How long processes were parked, summed over processes."),
	METRIC(throttled_count, COUNT64, false, "kfdprio_throttled_processes_total",
	       "How often a process with work was off the GPU because of its group."),
	METRIC(throttled_ns, NS, false, "kfdprio_throttled_seconds_total",
	       "How long processes with work were off the GPU because of their groups, summed over processes."),
	METRIC(nr_preempted, COUNT32, true, "kfdprio_preempted_processes", "Processes that are preempted now."),
	METRIC(nr_parked, COUNT32, true, "kfdprio_parked_processes", "Processes that are parked now."),
	METRIC(flags, FLAG, true, "kfdprio_preemption_off",
	       "1 if the circuit breaker is open: no process is preempted on the GPU."),
};

static void value_print(FILE *out, const struct kfd_prio_gpu_entry *entry, const struct metric *metric)
{
	const void *at = (const char *)entry + metric->at;
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (metric->kind == COUNT64 || metric->kind == NS)
		memcpy(&wide, at, sizeof(wide));
	else
		memcpy(&narrow, at, sizeof(narrow));
	if (metric->kind == NS)
		metrics_seconds(out, wide);
	else if (metric->kind == FLAG)
		fprintf(out, "%d\n", !!(narrow & KFD_PRIO_GPU_PREEMPT_OFF));
	else
		fprintf(out, "%" PRIu64 "\n", wide + narrow);
}

enum owner_metric { PROCESSES, QUEUES };

static void owners_print(FILE *out, const struct owners *owners, const struct kfd_topology *topo, bool containers,
			 enum owner_metric metric)
{
	static const struct {
		const char *name, *help;
	} all[] = {
		[PROCESSES] = { "kfdprio_processes", "Processes that have queues on the GPU, by cgroup." },
		[QUEUES] = { "kfdprio_queues", "Queues of processes on the GPU, by cgroup." },
	};
	const char *name = all[metric].name;
	size_t i;

	metrics_family(out, name, "gauge", all[metric].help);
	for (i = 0; i < owners->nr; i++) {
		gpu_print(out, name, owners->all[i].gpu_id, topo);
		fputs(",cgroup=\"", out);
		metrics_label(out, owners->all[i].cgroup);
		fprintf(out, "\",slurm_job_id=\"%s\"", owners->all[i].job);
		if (containers)
			metrics_container(out, &owners->all[i].container);
		fputs("} ", out);
		fprintf(out, "%u\n", metric == QUEUES ? owners->all[i].queues : owners->all[i].processes);
	}
}

/* @groups: NULL: the driver has none */
static void all_print(FILE *out, const struct kfd_dev *dev, const struct kfd_prio_gpu_entry *gpus, size_t nr,
		      const struct owners *owners, bool containers, const struct metrics_groups *groups)
{
	struct kfd_topology topo = { 0 };
	size_t i, j;

	kfd_topology_read(&topo);
	metrics_family(out, "kfdprio_build_info", "gauge", "Versions of kfdprio and of the driver's interface.");
	fprintf(out, "kfdprio_build_info{version=\"%s\",interface=\"%u.%u\"} 1\n", KFDPRIO_VERSION,
		dev->version.major, dev->version.minor);
	for (i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		/* A driver without groups has no such totals */
		if (!groups && metrics[i].at >= offsetof(struct kfd_prio_gpu_entry, throttled_count))
			continue;
		metrics_family(out, metrics[i].name, metrics[i].gauge ? "gauge" : "counter", metrics[i].help);
		for (j = 0; j < nr; j++) {
			gpu_print(out, metrics[i].name, gpus[j].gpu_id, &topo);
			fputs("} ", out);
			value_print(out, &gpus[j], &metrics[i]);
		}
	}
	owners_print(out, owners, &topo, containers, PROCESSES);
	owners_print(out, owners, &topo, containers, QUEUES);
	if (groups)
		metrics_groups(out, groups);
	kfd_topology_free(&topo);
}

/* A device or a FIFO is written to, and stays what it is. */
static FILE *device_open(const char *path)
{
	char why[KFDLIB_WHY] = "";
	int fd = output_inherited(path);
	FILE *file;

	if (fd < 0)
		fd = output_device(path, why);
	if (fd < 0)
		errx(EXIT_FAILURE, "cannot write %s: %s", path, why);
	file = fdopen(fd, "w");
	if (!file)
		err(EXIT_FAILURE, "cannot write %s", path);
	return file;
}

/* A reader of @path sees the old file or the new one, never a part. */
static FILE *output_open(const char *path, char **temp)
{
	struct stat status;
	FILE *file;
	int fd;

	if (!strcmp(path, "-"))
		return stdout;
	if (!stat(path, &status) && !S_ISREG(status.st_mode))
		return device_open(path);
	if (!lstat(path, &status) && S_ISLNK(status.st_mode))
		errx(EXIT_FAILURE, "cannot write %s: it is a symbolic link: name the file itself", path);
	if (asprintf(temp, "%s.XXXXXX", path) < 0)
		err(EXIT_FAILURE, "cannot write %s", path);
	fd = mkostemp(*temp, O_CLOEXEC);
	if (fd < 0)
		err(EXIT_FAILURE, "cannot write %s", path);
	file = fchmod(fd, 0644) ? NULL : fdopen(fd, "w");
	if (!file) {
		warn("cannot write %s", path);
		unlink(*temp);
		exit(EXIT_FAILURE);
	}
	return file;
}

static void output_close(FILE *out, const char *path, char *temp)
{
	int failed = ferror(out);

	failed |= fclose(out);
	if (!failed && (!temp || !rename(temp, path))) {
		free(temp);
		return;
	}
	warn("cannot write %s", path);
	if (temp)
		unlink(temp);
	exit(EXIT_FAILURE);
}

/**
 * kfdprio_metrics() - kfdprio metrics
 * @argc: of the arguments, "metrics" first
 * @argv: the arguments
 *
 * Return: the exit status.
 */
int kfdprio_metrics(int argc, char **argv)
{
	struct options options = { .cgroups = CGROUPS };
	struct kfd_prio_list_entry *entries;
	struct kfd_prio_gpu_entry *gpus;
	struct metrics_groups groups = { 0 };
	struct containers known = { 0 };
	struct owners owners = { 0 };
	size_t nr, nr_gpus, i;
	char why[KFDLIB_WHY];
	struct kfd_dev dev;
	char *temp = NULL;
	bool has_groups;
	FILE *out;
	int ret;

	argv[0] = "kfdprio metrics";
	options_parse(argc, argv, &options);
	if (kfd_dev_open(&dev, why) || kfd_dev_gpus(&dev, &gpus, &nr_gpus, why))
		errx(EXIT_FAILURE, "%s", why);
	ret = kfd_dev_list(&dev, &entries, &nr);
	if (ret)
		errx(EXIT_FAILURE, "cannot list the processes: %s", strerror(-ret));
	owners_read(entries, nr, options.cgroups, options.containers ? &known : NULL, &owners);
	has_groups = kfd_dev_has_shares(&dev, NULL);
	if (has_groups && metrics_groups_read(&dev, options.cgroups, &groups, why))
		errx(EXIT_FAILURE, "%s", why);
	if (has_groups && options.containers)
		metrics_groups_containers(&groups, &known);

	out = options.output ? output_open(options.output, &temp) : stdout;
	all_print(out, &dev, gpus, nr_gpus, &owners, options.containers, has_groups ? &groups : NULL);
	if (options.output && out != stdout)
		output_close(out, options.output, temp);
	for (i = 0; i < owners.nr; i++)
		free(owners.all[i].cgroup);
	free(owners.all);
	metrics_groups_free(&groups);
	containers_free(&known);
	free(entries);
	free(gpus);
	kfd_dev_close(&dev);
	return EXIT_SUCCESS;
}
