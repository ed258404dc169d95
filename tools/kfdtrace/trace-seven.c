// SPDX-License-Identifier: GPL-2.0
/*
 * trace.dat of version 7, which trace-cmd 3 writes and may compress: libtracecmd reads it.
 *
 * Unlike version 6, which we write ourselves, such a file is read by a library that trusts it: damage
 * is refused, or not noticed. The clock and the kernel's count of lost events are not in the
 * library's interface.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace-read.h"

#ifdef HAVE_TRACECMD
#include <trace-cmd.h>

/**
 * struct trace_seven - a file of version 7
 * @input: libtracecmd's
 * @next: of each CPU the record that comes next, or NULL
 * @last: of each CPU the time of the last record
 * @given: the CPU whose record was given out and is done with, -1: none
 */
struct trace_seven {
	struct tracecmd_input *input;
	struct tep_record **next;
	uint64_t *last;
	int given;
};

/* An open file of its own: libtracecmd moves the offset, and closes the descriptor. */
static struct tracecmd_input *open_again(int fd)
{
	struct tracecmd_input *input;
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	if (again < 0)
		return NULL;
	input = tracecmd_open_fd(again, TRACECMD_FL_LOAD_NO_PLUGINS | TRACECMD_FL_LOAD_NO_SYSTEM_PLUGINS);
	if (!input)
		close(again);
	return input;
}

/*
 * Read all of it in a child first: some damaged files kill the library.
 * Return: whether it can be read.
 */
static bool try_first(int fd)
{
	struct tracecmd_input *input;
	struct tep_record *record;
	int status, cpu, cpus;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return false;
	if (!child) {
		const struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		input = open_again(fd);
		cpus = input ? tep_get_cpus(tracecmd_get_tep(input)) : 0;
		for (cpu = 0; cpu < cpus; cpu++) {
			record = tracecmd_read_cpu_first(input, cpu);
			for (; record; record = tracecmd_read_data(input, cpu))
				tracecmd_free_record(record);
		}
		_exit(!input);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/**
 * trace_seven_open() - open a file of version 7
 * @file: open
 *
 * Return: 0 or -errno.
 */
int trace_seven_open(struct trace_file *file)
{
	struct trace_seven *seven = calloc(1, sizeof(*seven));
	struct tep_handle *tep;
	int ret, i;

	if (!seven)
		return trace_fail(file, ENOMEM, "out of memory");
	file->seven = seven;
	seven->given = -1;
	tracecmd_set_loglevel(TEP_LOG_NONE);
	if (try_first(file->fd))
		seven->input = open_again(file->fd);
	if (!seven->input)
		return trace_fail(file, EPROTO,
				  "damaged or truncated: libtracecmd cannot read this file of version 7");
	tep = tracecmd_get_tep(seven->input);
	file->nr_cpus = tep_get_cpus(tep);
	if (file->nr_cpus < 1)
		return trace_fail(file, EPROTO, "the file has no events");
	seven->next = calloc(file->nr_cpus, sizeof(struct tep_record *));
	seven->last = calloc(file->nr_cpus, sizeof(*seven->last));
	if (!seven->next || !seven->last)
		return trace_fail(file, ENOMEM, "out of memory");
	ret = kfd_decoder_init(&file->decoder, tep);
	if (ret < 0)
		return trace_fail(file, EPROTO, "the kfd events lack fields: the file is from another release of kfdprio");
	if (!ret)
		return trace_fail(file, EPROTO, "the file has no kfd events: record with '-e kfd'");
	for (i = 0; i < file->nr_cpus; i++)
		seven->next[i] = tracecmd_read_cpu_first(seven->input, i);
	return 0;
}

/**
 * trace_seven_close() - close what trace_seven_open() opened
 * @file: the file
 */
void trace_seven_close(struct trace_file *file)
{
	struct trace_seven *seven = file->seven;
	int i;

	if (!seven)
		return;
	for (i = 0; seven->next && i < file->nr_cpus; i++)
		tracecmd_free_record(seven->next[i]);
	free(seven->next);
	free(seven->last);
	if (seven->input)
		tracecmd_close(seven->input);
	free(seven);
}

/**
 * trace_seven_next() - the next record of all CPUs, in the order of time
 * @file: the file
 * @record: filled in; valid until the next call
 *
 * Return: 1; 0 at the end.
 */
int trace_seven_next(struct trace_file *file, struct trace_record *record)
{
	struct trace_seven *seven = file->seven;
	struct tep_record *r;
	int i, cpu = -1;

	if (seven->given >= 0) {
		i = seven->given;
		seven->last[i] = seven->next[i]->ts;
		tracecmd_free_record(seven->next[i]);
		seven->next[i] = tracecmd_read_data(seven->input, i);
		seven->given = -1;
	}
	for (i = 0; i < file->nr_cpus; i++)
		if (seven->next[i] && (cpu < 0 || seven->next[i]->ts < seven->next[cpu]->ts))
			cpu = i;
	if (cpu < 0)
		return 0;
	r = seven->next[cpu];
	if (r->missed_events) {
		file->loss.gaps++;
		trace_gap_add(file, cpu, seven->last[cpu], r->ts);
	}
	seven->given = cpu;
	*record = (struct trace_record) { r->ts, cpu, r->data, r->size };
	return 1;
}

/**
 * trace_seven_comm() - the name that a thread had when it recorded an event
 * @file: the file
 * @pid: the thread
 *
 * Return: its name, owned by @file, or NULL.
 */
const char *trace_seven_comm(const struct trace_file *file, int32_t pid)
{
	struct tep_handle *tep = tracecmd_get_tep(file->seven->input);

	return tep_is_pid_registered(tep, pid) ? tep_data_comm_from_pid(tep, pid) : NULL;
}

#else /* built without libtracecmd */

int trace_seven_open(struct trace_file *file)
{
	return trace_fail(file, EPROTO,
			  "trace.dat of version 7, and kfdtrace was built without libtracecmd: convert the file with"
			  " 'trace-cmd convert --file-version 6 -i FILE -o NEW'");
}

void trace_seven_close(struct trace_file *file)
{
	(void)file;
}

int trace_seven_next(struct trace_file *file, struct trace_record *record)
{
	(void)file;
	(void)record;
	return 0;
}

const char *trace_seven_comm(const struct trace_file *file, int32_t pid)
{
	(void)file;
	(void)pid;
	return NULL;
}

#endif
