// SPDX-License-Identifier: GPL-2.0
/* kfdprio metrics: the text format of Prometheus. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics.h"
#include "message.h"

/**
 * metrics_label() - print the value of a label
 * @out: where
 * @raw: any bytes; after text_escape() there is no end of a line in it
 */
void metrics_label(FILE *out, const char *raw)
{
	char *text = text_escape(raw, TEXT_UTF8);
	const char *at;

	if (!text)
		errx(EXIT_FAILURE, "out of memory");
	for (at = text; *at; at++) {
		if (*at == '"' || *at == '\\')
			putc('\\', out);
		putc(*at, out);
	}
	free(text);
}

/**
 * metrics_container() - print the labels of a container, which are those of cAdvisor and of kube-state-metrics
 * @out: where; the labels before them are printed
 * @container: empty: its labels are
 */
void metrics_container(FILE *out, const struct container *container)
{
	fputs(",namespace=\"", out);
	metrics_label(out, container->namespace);
	fputs("\",pod=\"", out);
	metrics_label(out, container->pod);
	fputs("\",container=\"", out);
	metrics_label(out, container->container);
	putc('"', out);
}

/**
 * metrics_family() - print what is before the values of a metric
 * @out: where
 * @name: of the metric
 * @type: "gauge" or "counter"
 * @help: one line
 */
void metrics_family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/**
 * metrics_seconds() - print a value
 * @out: where
 * @ns: the value, ns
 */
void metrics_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}
