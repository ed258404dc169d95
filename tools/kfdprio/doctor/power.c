// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor --power: power and clocks of a GPU beside processes without work, measured with parking off and on.
 *
 * Nothing runs on a GPU. Parking takes only processes without work off it (parking.rst), and idle_park_ms is set back at the
 * end, also after an error or one of the signals below. The figures are those of amdgpu in sysfs: power1_average, or power1_input where a GPU has only that
 * (MI300), freq1_input and freq2_input, temp1_input (hwmon), and gpu_busy_percent. They are of the whole GPU: the work of other
 * processes is in them.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"
#include "json-out.h"
#include "list.h"
#include "message.h"

#define PARK_ON		"1000"
#define SETTLE_S	5	/* before the first sample of a half: parking takes a second, clocks some more */

/* The files that are sampled. A figure is the number in the file, divided by the divisor */
enum figure { FIGURE_POWER, FIGURE_SHADER_CLOCK, FIGURE_MEMORY_CLOCK, FIGURE_BUSY, FIGURE_TEMPERATURE, NR_FIGURES };

static const struct {
	const char *name, *other;	/* @other: where there is no @name */
	double divisor;
	bool in_hwmon;
} figures[NR_FIGURES] = {
	[FIGURE_POWER] = { "power1_average", "power1_input", 1e6, true },
	[FIGURE_SHADER_CLOCK] = { "freq1_input", NULL, 1e6, true },
	[FIGURE_MEMORY_CLOCK] = { "freq2_input", NULL, 1e6, true },
	[FIGURE_BUSY] = { "gpu_busy_percent", NULL, 1, false },
	[FIGURE_TEMPERATURE] = { "temp1_input", NULL, 1e3, true },
};

/**
 * struct samples - the samples of one figure
 * @nr: how many could be read
 * @sum: of them
 * @min: the least
 * @max: the greatest
 */
struct samples {
	unsigned int nr;
	double sum, min, max;
};

/**
 * struct half - what was measured on a GPU with parking off, or on
 * @gpu: the GPU
 * @parks: parking was on
 * @of: by enum figure
 * @users: processes with queues on the GPU at the end
 * @parked: those of them that were parked then
 */
struct half {
	const struct kfd_gpu *gpu;
	bool parks;
	struct samples of[NR_FIGURES];
	size_t users, parked;
};

static volatile sig_atomic_t stopped_by;

static void stop(int sig)
{
	stopped_by = sig;
}

/* ---- sysfs of a GPU ---- */

/* The directory of hwmon; the first one. False if there is none */
static bool hwmon_of(uint64_t minor, char *path, size_t size)
{
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, size, "%s/sys/class/drm/renderD%" PRIu64 "/device/hwmon", doctor_root, minor);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		found = !strncmp(entry->d_name, "hwmon", 5);
		if (found)
			snprintf(path, size, "/sys/class/drm/renderD%" PRIu64 "/device/hwmon/%.64s", minor, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool value_of(const char *dir, const char *name, double *value)
{
	char text[32], *end;

	if (!name || !doctor_read(text, sizeof(text), "%s/%s", dir, name))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return end != text && !*end && !errno;
}

static void sample(struct half *h)
{
	char hwmon[DOCTOR_PATH], device[128];
	uint64_t minor;
	double value;
	bool has;
	int f;

	if (!kfd_topology_prop(h->gpu, "drm_render_minor", &minor))
		return;
	has = hwmon_of(minor, hwmon, sizeof(hwmon));
	snprintf(device, sizeof(device), "/sys/class/drm/renderD%" PRIu64 "/device", minor);
	for (f = 0; f < NR_FIGURES; f++) {
		const char *dir = figures[f].in_hwmon ? hwmon : device;
		struct samples *s = &h->of[f];

		if ((figures[f].in_hwmon && !has) ||
		    (!value_of(dir, figures[f].name, &value) && !value_of(dir, figures[f].other, &value)))
			continue;
		value /= figures[f].divisor;
		s->min = s->nr && s->min < value ? s->min : value;
		s->max = s->nr && s->max > value ? s->max : value;
		s->sum += value;
		s->nr++;
	}
}

/* Counts the processes with queues on a GPU, and those of them that are parked. False and errno if the driver does not list them */
static bool count(struct half *h, const struct doctor *d)
{
	struct kfd_prio_list_entry *entries;
	size_t nr, i;

	int ret = kfd_dev_list(&d->dev, &entries, &nr);

	if (ret) {
		errno = -ret;
		return false;
	}
	for (i = 0; i < nr; i++) {
		if (entries[i].gpu_id != h->gpu->gpu_id || !entries[i].nr_queues)
			continue;
		h->users++;
		h->parked += !!(entries[i].flags & KFD_PRIO_LIST_PARKED);
	}
	free(entries);
	return true;
}

/* ---- the two halves ---- */

static bool park_write(const char *value)
{
	char path[DOCTOR_PATH];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s" DOCTOR_PARK_MS, doctor_root);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = write(fd, value, strlen(value));
	close(fd);
	return n == (ssize_t)strlen(value);
}

/* A second, or less if a signal comes; shorter only in tests */
unsigned int doctor_second_ms = 1000;

static bool second(void)
{
	struct timespec left = { .tv_sec = doctor_second_ms / 1000, .tv_nsec = doctor_second_ms % 1000 * 1000000 };

	while (!stopped_by && nanosleep(&left, &left) && errno == EINTR)
		;
	return !stopped_by;
}

static void progress(const char *half, unsigned int at, unsigned int of)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (at < of)
		fprintf(stderr, "\r%s: %u of %u s", half, at, of);
	else
		fprintf(stderr, "\r\033[K");
}

/* False if a signal has ended it, or with errno */
static bool measure(const struct doctor *d, struct half *halves, size_t nr, bool parks)
{
	const char *what = parks ? "parking on" : "parking off";
	unsigned int at, all = SETTLE_S + d->seconds;
	size_t i;

	if (!isatty(STDERR_FILENO))
		fprintf(stderr, "%s: %u s\n", what, all);
	for (at = 0; at < all && second(); at++) {
		progress(what, at, all);
		for (i = 0; i < nr && at >= SETTLE_S; i++)
			sample(&halves[i]);
	}
	progress(what, all, all);
	for (i = 0; i < nr && !stopped_by; i++)
		if (!count(&halves[i], d))
			return false;
	return !stopped_by;
}

/* ---- the table ---- */

enum column {
	COLUMN_GPU, COLUMN_PARKING, COLUMN_POWER, COLUMN_POWER_MIN, COLUMN_POWER_MAX, COLUMN_SHADER_CLOCK, COLUMN_MEMORY_CLOCK,
	COLUMN_BUSY, COLUMN_TEMPERATURE, COLUMN_PROCESSES, COLUMN_PARKED, COLUMN_SAMPLES, NR_COLUMNS
};

static const struct list_column columns[NR_COLUMNS] = {
	[COLUMN_GPU] = { "GPU", "gpu_id", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_PARKING] = { "PARKING", "parking", LIST_WORD, LIST_EVERYWHERE },
	[COLUMN_POWER] = { "WATT", "power_w", LIST_REAL, LIST_EVERYWHERE },
	[COLUMN_POWER_MIN] = { "MIN", "power_min_w", LIST_REAL, LIST_EVERYWHERE },
	[COLUMN_POWER_MAX] = { "MAX", "power_max_w", LIST_REAL, LIST_EVERYWHERE },
	[COLUMN_SHADER_CLOCK] = { "SHADER-MHZ", "shader_clock_mhz", LIST_REAL, LIST_EVERYWHERE },
	[COLUMN_MEMORY_CLOCK] = { "MEMORY-MHZ", "memory_clock_mhz", LIST_REAL, LIST_EVERYWHERE },
	[COLUMN_BUSY] = { "BUSY", "busy_percent", LIST_PERCENT, LIST_EVERYWHERE },
	[COLUMN_TEMPERATURE] = { "CELSIUS", "temperature_c", LIST_REAL, LIST_EVERYWHERE },
	[COLUMN_PROCESSES] = { "PROCESSES", "process_count", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_PARKED] = { "PARKED", "parked_count", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_SAMPLES] = { "SAMPLES", "sample_count", LIST_COUNT, LIST_EVERYWHERE },
};

static void mean(struct list_value *value, const struct samples *s)
{
	list_real(value, s->nr, s->nr ? s->sum / s->nr : 0);
}

static void cell(void *context, size_t row, unsigned int column, struct list_value *value)
{
	const struct half *h = (const struct half *)context + row;
	const struct samples *power = &h->of[FIGURE_POWER];

	switch (column) {
	case COLUMN_GPU:
		list_count(value, h->gpu->gpu_id);
		break;
	case COLUMN_PARKING:
		list_text(value, h->parks ? "on" : "off");
		break;
	case COLUMN_POWER:
		mean(value, power);
		break;
	case COLUMN_POWER_MIN:
		list_real(value, power->nr, power->min);
		break;
	case COLUMN_POWER_MAX:
		list_real(value, power->nr, power->max);
		break;
	case COLUMN_SHADER_CLOCK:
		mean(value, &h->of[FIGURE_SHADER_CLOCK]);
		break;
	case COLUMN_MEMORY_CLOCK:
		mean(value, &h->of[FIGURE_MEMORY_CLOCK]);
		break;
	case COLUMN_BUSY:
		mean(value, &h->of[FIGURE_BUSY]);
		break;
	case COLUMN_TEMPERATURE:
		mean(value, &h->of[FIGURE_TEMPERATURE]);
		break;
	case COLUMN_PROCESSES:
		list_count(value, h->users);
		break;
	case COLUMN_PARKED:
		list_count(value, h->parked);
		break;
	case COLUMN_SAMPLES:
		list_count(value, power->nr);
		break;
	}
}

static void advise(const struct half *off, const struct half *on, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct samples *before = &off[i].of[FIGURE_POWER], *after = &on[i].of[FIGURE_POWER];

		printf("GPU %u: ", off[i].gpu->gpu_id);
		if (!before->nr || !after->nr)
			puts("its power cannot be read");
		else if (!on[i].users)
			puts("no process had queues on it: start those that only hold the GPU, and measure again");
		else if (!on[i].parked)
			puts("no process was parked: each has work now and then, or a process with work was on the GPU");
		else
			printf("%zu of %zu processes without work parked: %+.1f W\n", on[i].parked, on[i].users,
			       after->sum / after->nr - before->sum / before->nr);
	}
	puts("Power is that of the whole GPU. The developers of kfdprio have no GPU: whoever reports this table should add the output of\n"
	     "'kfdprio doctor', which has the firmware's versions.");
}

static void print(const struct doctor *d, struct half *halves, size_t nr, bool json)
{
	static const struct list_choice choice;
	struct list list = { .columns = columns, .nr_columns = NR_COLUMNS, .value = cell, .choice = &choice,
			     .nr_rows = 2 * nr, .context = halves };

	if (json) {
		json_stdout(JSON_ROWS);
		json_number("version", JSON_FORMAT);
		json_simulated("simulated", d->simulated);
		list_json(&list, "power");
		json_stdout_end();
		return;
	}
	if (d->simulated == SIMULATED_YES)
		puts("SIMULATED GPU: it has neither power nor clocks.");
	list_print(&list);
	advise(halves, halves + nr, nr);
}

/**
 * doctor_power() - measure each GPU with parking off, then on, and print the figures
 * @d: the examination: its GPUs, and --gpu and --time
 * @json: as JSON
 *
 * Takes twice @d->seconds, and ten seconds more. idle_park_ms is set back at the end.
 *
 * Return: the exit status: 1 if the driver has no parking, idle_park_ms cannot be written or not be set back, the driver does not
 * list its processes, or a signal came.
 */
int doctor_power(struct doctor *d, bool json)
{
	struct sigaction sa = { .sa_handler = stop };
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };
	struct half *halves;
	char was[32], why[KFDLIB_WHY];
	size_t i, nr = 0;
	bool whole, back;
	int error;

	if (!doctor_read(was, sizeof(was), DOCTOR_PARK_MS))
		errx(EXIT_FAILURE, "the loaded driver has no parking: %s: %s", DOCTOR_PARK_MS, strerror(errno));
	if (kfd_dev_open(&d->dev, why))
		errx(EXIT_FAILURE, "%s", why);
	halves = calloc(2 * d->topo.nr + 1, sizeof(*halves));
	if (!halves)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < d->topo.nr; i++)
		if (!d->only || d->only == d->topo.gpus[i].gpu_id)
			halves[nr++].gpu = &d->topo.gpus[i];
	if (!nr)
		errx(EXIT_FAILURE, "there is no GPU");
	for (i = 0; i < nr; i++)
		halves[nr + i] = (struct half){ .gpu = halves[i].gpu, .parks = true };
	d->simulated = kfd_simulated(doctor_root);
	/* Before anything is changed, so that it is set back */
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &sa, NULL);
	if (!park_write("0"))
		err(EXIT_FAILURE, "cannot write %s", DOCTOR_PARK_MS);
	whole = measure(d, halves, nr, false) && park_write(PARK_ON) && measure(d, halves + nr, nr, true);
	error = errno;
	back = park_write(was);
	if (!back)
		warn("cannot set idle_park_ms back to %s", was);
	if (whole)
		print(d, halves, nr, json);
	else if (stopped_by)
		warnx("ended by a signal%s%s", back ? "; idle_park_ms is again " : "", back ? was : "");
	else
		warnx("cannot measure: %s", strerror(error));
	kfd_dev_close(&d->dev);
	free(halves);
	return whole && back ? EXIT_SUCCESS : EXIT_FAILURE;
}
