// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor: the result as text, as JSON, and as a report for others to read */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"
#include "log.h"
#include "json-out.h"
#include "message.h"

#define KERNEL_LINES 200 /* lines of the kernel's messages in a report, the last ones */

static void soak_json(const struct soak *s)
{
	json_open(NULL, '{');
	json_count("gpu_id", s->gpu_id);
	json_text("work", s->work);
	json_text("no_shader_reason", *s->reason ? s->reason : NULL);
	json_count("round_count", s->rounds);
	json_count("preempted_count", s->preempted);
	json_count("saved_count", s->saved);
	json_text("stopped_by", s->stopped_by);
	json_close('}');
}

/**
 * doctor_json() - one JSON document on standard output; its form is in kfdprio-doctor(1)
 * @d: the examination
 */
void doctor_json(const struct doctor *d)
{
	size_t i, j;

	json_stdout(JSON_ROWS);
	json_number("version", JSON_FORMAT);
	json_text("program", KFDPRIO_VERSION);
	json_simulated("simulated", d->simulated);
	json_text("result", doctor_level_names[doctor_worst(d)]);
	json_open("findings", '[');
	for (i = 0; i < d->nr_findings; i++) {
		const struct finding *f = &d->findings[i];

		json_open(NULL, '{');
		json_text("level", doctor_level_names[f->level]);
		json_text("what", f->what);
		json_text("found", f->found);
		json_text("todo", f->todo);
		json_close('}');
	}
	json_close(']');
	json_open("measures", '[');
	for (i = 0; i < d->nr_measures; i++) {
		const struct measure *m = &d->measures[i];

		json_open(NULL, '{');
		json_text("what", m->name);
		json_count("gpu_id", m->gpu_id);
		json_open("durations_ns", '[');
		for (j = 0; j < m->nr; j++)
			json_count(NULL, m->ns[j]);
		json_close(']');
		json_close('}');
	}
	json_close(']');
	json_open("soaks", '[');
	for (i = 0; i < d->nr_soaks; i++)
		soak_json(&d->soaks[i]);
	json_close(']');
	json_stdout_end();
}

/* One record of /dev/kmsg for each read(2): "level,sequence,us,flags;text\n KEY=value". */
static void kernel_messages(FILE *out)
{
	char *lines[KERNEL_LINES] = { NULL }, record[8192], *text;
	size_t nr = 0, i;
	ssize_t len;
	int fd;

	fprintf(out, "\n== Messages in the kernel's log ==\n");
	fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		fprintf(out, "not readable: %s\n", strerror(errno));
		return;
	}
	for (;;) {
		unsigned long long us = 0;
		char *line = NULL;

		len = read(fd, record, sizeof(record) - 1);
		/* EPIPE: records were overwritten meanwhile; go on with the next. */
		if (len < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (len <= 0)
			break;
		record[len] = '\0';
		text = strchr(record, ';');
		if (!text)
			continue;
		text++;
		text[strcspn(text, "\n")] = '\0';
		/* The command line may contain private data. */
		if (!message_is_ours(text) || strstr(text, "ommand line:"))
			continue;
		if (sscanf(record, "%*u,%*u,%llu", &us) != 1)
			us = 0;
		message_anonymize(text);
		if (asprintf(&line, "[%llu.%06llu] %s", us / 1000000, us % 1000000, text) < 0)
			break;
		free(lines[nr % KERNEL_LINES]);
		lines[nr++ % KERNEL_LINES] = line;
	}
	close(fd);
	for (i = nr > KERNEL_LINES ? nr - KERNEL_LINES : 0; i < nr; i++) {
		text = text_printable(lines[i % KERNEL_LINES]);
		fprintf(out, "%s\n", text ? text : "");
		free(text);
	}
	for (i = 0; i < KERNEL_LINES; i++)
		free(lines[i]);
	if (!nr)
		fprintf(out, "none\n");
}

static void measures_print(FILE *out, const struct doctor *d)
{
	size_t i, k;

	for (i = 0; i < d->nr_measures; i++) {
		const struct measure *m = &d->measures[i];

		fprintf(out, "GPU %u: %s%s, us:", m->gpu_id, d->simulated == SIMULATED_YES ? "simulated " : "",
			m->name);
		for (k = 0; k < m->nr; k++)
			fprintf(out, " %.1f", m->ns[k] / 1000.0);
		fputc('\n', out);
	}
}

/**
 * doctor_report() - the report that one attaches to a bug
 * @out: where to; closed here
 * @d: the examination
 *
 * Return: 0, or -1 and errno.
 */
int doctor_report(FILE *out, const struct doctor *d)
{
	time_t now = time(NULL);
	char date[32] = "";
	struct tm tm;
	int failed;

	if (gmtime_r(&now, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &tm);
	fprintf(out,
		"kfdprio doctor " KFDPRIO_VERSION ", %s\n"
		"%s"
		"\n"
		"This file contains the findings of kfdprio doctor, the times that its test measured, and the\n"
		"kernel's messages about amdgpu, KFD and the IOMMU. It contains versions, module parameters,\n"
		"PCI addresses, and PIDs and priorities of processes that use KFD. It contains no name of a\n"
		"user or of the host, and no name or command line of another process. Read it before you\n"
		"pass it on.\n"
		"\n"
		"== Findings ==\n",
		date, d->simulated == SIMULATED_YES ? "SIMULATED GPU: no figure in this file was measured on hardware.\n" : "");
	doctor_print(out, d);
	if (d->nr_measures) {
		fprintf(out, "\n== All times measured, sorted ==\n");
		measures_print(out, d);
	}
	kernel_messages(out);
	failed = fflush(out) || ferror(out);
	if (out != stdout && fclose(out))
		failed = 1;
	return failed ? -1 : 0;
}
