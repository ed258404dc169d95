// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor - examine the driver and the GPUs of a host
 *
 * This file: options in, the checks in order, the result out.  Without --test or --soak nothing is
 * changed and no KFD process is made.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "message.h"
#include "output.h"

#define SECONDS_DEFAULT	10
#define SECONDS_MAX	60
#define POWER_SECONDS	55	/* twice, and twice five to settle, are two minutes */
#define SOAK_MAX	1000000

/**
 * struct wish - the command line
 * @json: --json
 * @report: the file of --report, or NULL
 * @mqds: the file of --mqds, or NULL
 * @power: --power
 * @other: an option that does not go with --mqds, or NULL
 */
struct wish {
	bool json, power;
	const char *report, *mqds, *other;
};

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdprio doctor [options]\n"
	      "\n"
	      "Examine the amdgpu driver, /dev/kfd and the AMD GPUs of this host.\n"
	      "Without --test or --soak, nothing is changed and nothing runs on a GPU.\n"
	      "\n"
	      "Options:\n"
	      " -t, --test           test each GPU: queues, priorities, preemption\n"
	      " -s, --soak N         preempt work N times and compare its results, 1..1000000\n"
	      " -g, --gpu ID         only this GPU, by its gpu_id, which findings show\n"
	      " -T, --time SECONDS   time limit for the test of a GPU, 1..60 (default 10);\n"
	      "                      with --power length of each half (default 55)\n"
	      " -f, --force          test even if other processes use the GPU; preempts them\n"
	      " -p, --power          measure the power of idle GPUs, parking off and on: two\n"
	      "                      minutes, as root; nothing runs on a GPU\n"
	      " -o, --report FILE    write a report for a bug report; - is standard output\n"
	      " -m, --mqds FILE      print the times of saves and restores in a dump\n"
	      "                      of /sys/kernel/debug/kfd/mqds; - is standard input\n"
	      " -J, --json           print JSON\n"
	      " -h, --help           display this help\n"
	      " -V, --version        display the version of this program\n"
	      "\n"
	      "Exit status: 0 no finding is 'fail', 1 a finding is, 2 wrong usage.\n"
	      "For more details see kfdprio-doctor(1).\n",
	      stdout);
}

static __attribute__((noreturn)) void usage_hint(void)
{
	fputs("Try 'kfdprio doctor --help' for more information.\n", stderr);
	exit(EXIT_USAGE);
}

static unsigned int number(const char *text, const char *what, unsigned int min, unsigned int max)
{
	unsigned long value;
	char *shown;

	errno = 0;
	value = strtoul(text, NULL, 10);
	if (*text && !text[strspn(text, "0123456789")] && !errno && value >= min && value <= max)
		return value;
	shown = text_printable(text);
	warnx("%s '%s': give a decimal number from %u to %u", what, shown ? shown : "", min, max);
	free(shown);
	usage_hint();
}

static void options_parse(int argc, char **argv, struct doctor *d, struct wish *wish)
{
	static const struct option options[] = {
		{ "test", no_argument, NULL, 't' },
		{ "soak", required_argument, NULL, 's' },
		{ "gpu", required_argument, NULL, 'g' },
		{ "time", required_argument, NULL, 'T' },
		{ "force", no_argument, NULL, 'f' },
		{ "report", required_argument, NULL, 'o' },
		{ "mqds", required_argument, NULL, 'm' },
		{ "power", no_argument, NULL, 'p' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char *only_test = NULL, *only_run = NULL;
	int option;

	while ((option = option_next(argc, argv, "+ts:g:T:fo:m:pJhV", options)) != -1) {
		switch (option) {
		case 't':
			d->test = true;
			wish->other = "--test";
			break;
		case 's':
			d->soak = number(optarg, "--soak", 1, SOAK_MAX);
			wish->other = "--soak";
			break;
		case 'g':
			wish->other = "--gpu";
			d->only = number(optarg, "--gpu", 1, 0xffffffff);
			break;
		case 'T':
			d->seconds = number(optarg, "--time", 1, SECONDS_MAX);
			only_test = "--time";
			break;
		case 'f':
			d->force = true;
			only_run = "--force";
			break;
		case 'o':
			wish->report = optarg;
			wish->other = "--report";
			break;
		case 'm':
			wish->mqds = optarg;
			break;
		case 'p':
			wish->power = true;
			break;
		case 'J':
			wish->json = true;
			break;
		case 'h':
			usage();
			exit(stdout_check(EXIT_SUCCESS));
		case 'V':
			puts("kfdprio " KFDPRIO_VERSION);
			exit(stdout_check(EXIT_SUCCESS));
		default:
			usage_hint();
		}
	}
	if (optind < argc) {
		char *shown = text_printable(argv[optind]);

		warnx("doctor takes no argument: remove '%s'", shown ? shown : "");
		free(shown);
		usage_hint();
	}
	if (wish->mqds && (wish->other || only_test || only_run)) {
		warnx("--mqds cannot be combined with %s",
		      wish->other ? wish->other : only_test ? only_test : only_run);
		usage_hint();
	}
	if (wish->power && (d->test || d->soak || wish->report || wish->mqds || only_run)) {
		warnx("--power cannot be combined with %s",
		      d->test ? "--test" : d->soak ? "--soak" : wish->report ? "--report" : wish->mqds ? "--mqds" : only_run);
		usage_hint();
	}
	if (!d->seconds)
		d->seconds = wish->power ? POWER_SECONDS : SECONDS_DEFAULT;
	if (only_test && !d->test && !wish->power) {
		warnx("%s needs --test or --power", only_test);
		usage_hint();
	}
	if (only_run && !d->test && !d->soak) {
		warnx("%s needs --test or --soak", only_run);
		usage_hint();
	}
	if (wish->json && wish->report && !strcmp(wish->report, "-")) {
		warnx("--json and --report - both write to standard output: give a file to one of them");
		usage_hint();
	}
}

/* Opened before anything is tested, so that a wrong path costs no time. It has the kernel's log in it. */
static FILE *report_open(const char *path)
{
	char why[KFDLIB_WHY];
	FILE *file;
	int fd;

	if (!strcmp(path, "-"))
		return stdout;
	fd = output_private(path, why);
	if (fd < 0)
		errx(EXIT_FAILURE, "cannot write the report to '%s': %s", path, why);
	file = fdopen(fd, "w");
	if (!file)
		err(EXIT_FAILURE, "cannot write the report to '%s'", path);
	return file;
}

static void gpu_check(struct doctor *d)
{
	size_t i;

	if (!d->only || kfd_topology_find(&d->topo, d->only))
		return;
	warnx("--gpu %u: no GPU has this gpu_id", d->only);
	for (i = 0; i < d->topo.nr; i++)
		warnx("gpu_id %u is %s at PCI %s", d->topo.gpus[i].gpu_id, kfd_gpu_name(&d->topo.gpus[i]),
		      d->topo.gpus[i].pci);
	exit(EXIT_USAGE);
}

static void summary(const struct doctor *d)
{
	size_t nr[FINDING_FAIL + 1] = { 0 };
	size_t i;

	for (i = 0; i < d->nr_findings; i++)
		nr[d->findings[i].level]++;
	printf("%s: %zu ok, %zu info, %zu warn, %zu fail\n",
	       nr[FINDING_FAIL] ? "result: problems found" : "result: no problem found", nr[FINDING_OK],
	       nr[FINDING_INFO], nr[FINDING_WARN], nr[FINDING_FAIL]);
}

/**
 * kfdprio_doctor() - kfdprio doctor
 * @argc: of the arguments, "doctor" first
 * @argv: the arguments
 *
 * Return: the exit status: 0 no finding is FINDING_FAIL, 1 one is, 2 wrong usage.
 */
int kfdprio_doctor(int argc, char **argv)
{
	struct doctor d = { .dev.fd = -1 };
	struct wish wish = { 0 };
	FILE *report = NULL;
	int status;

	argv[0] = "kfdprio doctor";
	options_parse(argc, argv, &d, &wish);
	if (wish.mqds)
		return doctor_mqds(wish.mqds, wish.json);
	if (kfd_topology_read(&d.topo))
		errx(EXIT_FAILURE, "out of memory");
	gpu_check(&d);
	if (wish.power) {
		status = doctor_power(&d, wish.json);
		doctor_free(&d);
		return status;
	}
	if (wish.report)
		report = report_open(wish.report);
	d.live = !wish.json && report != stdout;

	doctor_host(&d);
	doctor_driver(&d);
	doctor_groups(&d);
	doctor_module(&d);
	doctor_gpus(&d);
	doctor_processes(&d);
	if (d.test || d.soak)
		doctor_test(&d);

	status = doctor_worst(&d) == FINDING_FAIL ? EXIT_FAILURE : EXIT_SUCCESS;
	if (wish.json)
		doctor_json(&d);
	else if (d.live)
		summary(&d);
	if (report && doctor_report(report, &d)) {
		warn("cannot write the report to '%s'", wish.report);
		status = EXIT_FAILURE;
	}
	doctor_free(&d);
	return status;
}
