// SPDX-License-Identifier: GPL-2.0
/*
 * security [-t] - tries every row of the table in Documentation/security.rst: who may do what to whose
 * processes.  Runs as root in the VM; TAP.  -t prints the table, as it stands there.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient.h"
#include "security.h"
#include "tap.h"

static const struct row *const tables[] = { rows_users, rows_namespaces, rows_processes };
static const char *const columns[WHATS] = {
	"get", "lower", "raise", "list", "sysfs", "debugfs", "events",
};

#define TABLES	(sizeof(tables) / sizeof(tables[0]))
#define WIDTH	61

static const char *word(int found)
{
	switch (found) {
	case 0:		return "yes";
	case HIDDEN:	return "no";
	case NOT_TRIED:	return "-";
	}
	return strerrorname_np(found) ?: "?";
}

/* ---- the table ---- */

static void rule(void)
{
	int i;

	for (i = 0; i < WIDTH; i++)
		putchar('=');
	for (i = 0; i < WHATS; i++)
		printf(" =======");
	putchar('\n');
}

static void print_table(void)
{
	const struct row *r;
	char word[8];
	unsigned int i;
	int c, n;

	rule();
	printf("%-*s", WIDTH, "caller, target");
	for (c = 0; c < WHATS; c++)
		printf(" %s%-*s", c == WHATS - 1 ? columns[c] : "", c == WHATS - 1 ? 0 : 7,
		       c == WHATS - 1 ? "" : columns[c]);
	putchar('\n');
	rule();
	for (i = 0; i < TABLES; i++)
		for (r = tables[i]; r->who; r++) {
			const char *s = r->want;

			printf("%-*s", WIDTH, r->who);
			for (c = 0; sscanf(s, "%7s%n", word, &n) == 1; c++, s += n)
				printf(c == WHATS - 1 ? " %s" : " %-7s", word);
			putchar('\n');
		}
	rule();
}

/* ---- one row ---- */

/* All descendants: those whose parents are gone have become ours */
static void end_all(void)
{
	char path[64];
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	do {
		f = fopen(path, "re");
		if (!f)
			tap_bail("%s: %s", path, strerror(errno));
		while (fscanf(f, "%d", &pid) == 1)
			kill(pid, SIGKILL);
		fclose(f);
	} while (waitpid(-1, NULL, 0) > 0);
}

static bool wait_done(struct attempt *a, pid_t pid)
{
	uint64_t end = kfdc_now() + 60000000000ULL;
	siginfo_t info;

	while (!a->done && kfdc_now() < end) {
		memset(&info, 0, sizeof(info));
		if (!waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid)
			break;
		usleep(1000);
	}
	return a->done;
}

/* What a target's priority must be now: what was refused has changed nothing */
static int priority_after(const struct attempt *a)
{
	return !a->found[RAISE] ? 9 : !a->found[LOWER] ? 4 : 5;
}

static void try_row(const struct row *r, struct attempt *a)
{
	char have[128] = "";
	pid_t pid;
	int c;

	memset(a, 0, sizeof(*a));
	a->kfd = -1;
	a->pidfd = -1;
	if (chmod("/dev/kfd", 0666))
		tap_bail("/dev/kfd: %s", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		r->set(a);
		for (;;)
			pause();
	}
	if (!wait_done(a, pid)) {
		tap_ok(false, "%s", r->who);
		tap_diag("%s", a->failed[0] ? a->failed : "it came to no end");
		end_all();
		return;
	}
	for (c = 0; c < WHATS; c++)
		snprintf(have + strlen(have), sizeof(have) - strlen(have), "%s%s", c ? " " : "",
			 word(a->found[c]));
	if (!tap_ok(!strcmp(have, r->want), "%s: %s", r->who, r->want))
		tap_diag("it is: %s", have);
	if (a->host)
		tap_eq(kfd_get(a->host).priority, priority_after(a), "%s: nothing else has changed", r->who);
	end_all();
}

int main(int argc, char **argv)
{
	const struct row *r;
	struct attempt *a;
	struct stat st;
	unsigned int i;

	if (argc == 2 && !strcmp(argv[1], "-t")) {
		print_table();
		return 0;
	}
	if (geteuid() || stat("/dev/kfd", &st))
		tap_bail("to be run by tests/vm/run, as root");
	a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (a == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (i = 0; i < TABLES; i++)
		for (r = tables[i]; r->who; r++)
			try_row(r, a);
	chmod("/dev/kfd", st.st_mode & 07777);
	test_addresses();
	return tap_done();
}
