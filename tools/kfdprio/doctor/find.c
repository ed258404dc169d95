// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor: what was found, and how files are read */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "message.h"

#define SLURP_MAX (4 << 20) /* bytes of a file that is read whole */

const char *doctor_root = "";

static void *checked(void *memory)
{
	if (!memory)
		errx(EXIT_FAILURE, "out of memory");
	return memory;
}

const char *const doctor_level_names[] = {
	[FINDING_OK] = "ok",
	[FINDING_INFO] = "info",
	[FINDING_WARN] = "warn",
	[FINDING_FAIL] = "fail",
};

/**
 * doctor_print() - all findings, one line each
 * @out: where to
 * @d: the examination
 */
void doctor_print(FILE *out, const struct doctor *d)
{
	size_t i;

	for (i = 0; i < d->nr_findings; i++) {
		const struct finding *f = &d->findings[i];

		fprintf(out, "%-4s  %s: %s%s%s%s\n", doctor_level_names[f->level], f->what, f->found,
			f->todo ? " (" : "", f->todo ? f->todo : "", f->todo ? ")" : "");
	}
}

/**
 * doctor_say() - a finding
 * @d: the examination
 * @level: what it means
 * @what: what was looked at
 * @todo: what to do about it, or NULL
 * @format: what there is, as for printf(3)
 */
void doctor_say(struct doctor *d, enum finding_level level, const char *what, const char *todo,
		const char *format, ...)
{
	struct finding *finding;
	char text[DOCTOR_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	d->findings = checked(reallocarray(d->findings, d->nr_findings + 1, sizeof(*d->findings)));
	finding = &d->findings[d->nr_findings++];
	finding->level = level;
	finding->what = checked(text_printable(what));
	finding->found = checked(text_printable(text));
	finding->todo = todo ? checked(text_printable(todo)) : NULL;
	if (d->live) {
		const struct doctor one = { .findings = finding, .nr_findings = 1 };

		doctor_print(stdout, &one);
		fflush(stdout);
	}
}

static int ns_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/**
 * doctor_measure() - keep times that were measured
 * @d: the examination
 * @name: what was measured; a string that stays
 * @gpu_id: on which GPU
 * @ns: the times
 * @nr: how many, may be 0
 *
 * Return: the measure, with its times sorted; NULL if there are none.
 */
const struct measure *doctor_measure(struct doctor *d, const char *name, unsigned int gpu_id,
				     const uint64_t *ns, size_t nr)
{
	struct measure *m;

	if (!nr)
		return NULL;
	d->measures = checked(reallocarray(d->measures, d->nr_measures + 1, sizeof(*d->measures)));
	m = &d->measures[d->nr_measures++];
	*m = (struct measure){ .name = name, .gpu_id = gpu_id, .nr = nr };
	m->ns = checked(calloc(nr, sizeof(*ns)));
	memcpy(m->ns, ns, nr * sizeof(*ns));
	qsort(m->ns, nr, sizeof(*ns), ns_compare);
	return m;
}

/**
 * doctor_soak() - a soak begins
 * @d: the examination
 * @gpu_id: on which GPU
 *
 * Return: what is to be filled in; valid until the next call.
 */
struct soak *doctor_soak(struct doctor *d, unsigned int gpu_id)
{
	d->soaks = checked(reallocarray(d->soaks, d->nr_soaks + 1, sizeof(*d->soaks)));
	d->soaks[d->nr_soaks] = (struct soak){ .gpu_id = gpu_id, .work = "packets" };
	return &d->soaks[d->nr_soaks++];
}

/**
 * doctor_worst() - the worst level of all findings
 * @d: the examination
 */
enum finding_level doctor_worst(const struct doctor *d)
{
	enum finding_level worst = FINDING_OK;
	size_t i;

	for (i = 0; i < d->nr_findings; i++)
		if (d->findings[i].level > worst)
			worst = d->findings[i].level;
	return worst;
}

/**
 * doctor_free() - free all that was found
 * @d: the examination
 */
void doctor_free(struct doctor *d)
{
	size_t i;

	for (i = 0; i < d->nr_findings; i++) {
		free(d->findings[i].what);
		free(d->findings[i].found);
		free(d->findings[i].todo);
	}
	free(d->findings);
	for (i = 0; i < d->nr_measures; i++)
		free(d->measures[i].ns);
	free(d->measures);
	free(d->soaks);
	kfd_topology_free(&d->topo);
	kfd_dev_close(&d->dev);
}

static void path_make(char *path, const char *format, va_list args)
{
	int len = snprintf(path, DOCTOR_PATH, "%s", doctor_root);

	if (len >= 0 && len < DOCTOR_PATH)
		vsnprintf(path + len, DOCTOR_PATH - len, format, args);
}

/**
 * doctor_exists() - is there such a file?
 * @format: its path, as for printf(3)
 *
 * Return: false also if a directory on the way may not be searched.
 */
bool doctor_exists(const char *format, ...)
{
	char path[DOCTOR_PATH];
	va_list args;

	va_start(args, format);
	path_make(path, format, args);
	va_end(args);
	return !access(path, F_OK);
}

/* -1 and errno if it cannot be read */
static ssize_t file_read(const char *path, char *text, size_t size)
{
	size_t len = 0;
	ssize_t ret;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -1;
	do {
		ret = read(fd, text + len, size - 1 - len);
		if (ret > 0)
			len += ret;
	} while (ret > 0 && len < size - 1);
	close(fd);
	text[len] = '\0';
	return ret < 0 && !len ? -1 : (ssize_t)len;
}

/**
 * doctor_read() - the first line of a file
 * @text: out, without the end of the line; empty if the file cannot be read
 * @size: bytes of @text
 * @format: its path, as for printf(3)
 *
 * Return: whether it could be read; else errno says why.
 */
bool doctor_read(char *text, size_t size, const char *format, ...)
{
	char path[DOCTOR_PATH];
	va_list args;

	va_start(args, format);
	path_make(path, format, args);
	va_end(args);
	if (file_read(path, text, size) < 0) {
		*text = '\0';
		return false;
	}
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/**
 * doctor_slurp() - a whole file, as far as 4 MiB
 * @format: its path, as for printf(3)
 *
 * Return: to be freed with free(3); NULL if it cannot be read, errno says why.
 */
char *doctor_slurp(const char *format, ...)
{
	char path[DOCTOR_PATH];
	char *text;
	va_list args;

	va_start(args, format);
	path_make(path, format, args);
	va_end(args);
	text = checked(malloc(SLURP_MAX));
	if (file_read(path, text, SLURP_MAX) < 0) {
		int err = errno;

		free(text);
		errno = err;
		return NULL;
	}
	return text;
}
