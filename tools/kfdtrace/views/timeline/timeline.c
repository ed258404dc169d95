// SPDX-License-Identifier: GPL-2.0
/*
 * kfdtrace timeline: which process had the GPU when, as a page or as JSON for a viewer.
 *
 * Written as it is read: memory depends on the number of queues and processes alone.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kfdtrace.h"
#include "message.h"
#include "output.h"
#include "timeline.h"
#include "views/common/options.h"

/* The temporary file, until it is complete; NULL if the output is not a regular file. */
static char *part;

static void slice(void *context, const struct queue *queue, enum slice_kind kind, uint64_t from,
		  uint64_t to)
{
	struct timeline *timeline = context;

	if (!view_shows(&timeline->view, queue->client) &&
	    (kind != SLICE_MAPPED || !timeline->format->others))
		return;
	/* a damaged file may say anything */
	if (from > to)
		from = to;
	/* without the events it is not known from when, and until when */
	if (!view_knows_maps(&timeline->view)) {
		if (kind == SLICE_MAPPED || kind == SLICE_UNKNOWN)
			return;
		if (kind == SLICE_ALIVE)
			timeline->format->slice(timeline, queue, SLICE_UNKNOWN, from, to);
	}
	if (kind == SLICE_PREEMPTED && !view_knows_victims(&timeline->view))
		return;
	timeline->format->slice(timeline, queue, kind, from, to);
}

static void preemption_begin(struct timeline *timeline, const struct kfd_event *event)
{
	struct open_preemption *open = malloc(sizeof(*open));

	if (!open)
		errx(EXIT_FAILURE, "out of memory");
	*open = (struct open_preemption){
		.gpu_id = event->v[F_GPU_ID],
		.begin = { .ts = event->ts, .seq = event->v[F_SEQ], .pid = event->v[F_PID],
			   .prio = event->v[F_PRIO], .reason = event->v[F_REASON],
			   .victims = event->v[F_VICTIMS], .queues = event->v[F_QUEUES] },
		.next = timeline->open,
	};
	timeline->open = open;
}

/* The one that takes over begins before the other one ends. */
static uint64_t taken_over(const struct timeline *timeline, const struct kfd_event *event,
			   uint64_t since)
{
	const struct open_preemption *open;
	uint64_t first = event->ts;

	for (open = timeline->open; open; open = open->next)
		if (open->gpu_id == (uint32_t)event->v[F_GPU_ID] &&
		    open->begin.seq != event->v[F_SEQ] && open->begin.ts >= since &&
		    open->begin.ts < first)
			first = open->begin.ts;
	return first;
}

/* The begin may have been lost, or was before the recording. */
static void preemption_end(struct timeline *timeline, const struct kfd_event *event)
{
	struct preemption_end end = {
		.ts = event->ts, .reason = event->v[F_REASON], .ret = event->v[F_RET]
	};
	struct open_preemption **at, *open;
	struct preemption begin = {
		.seq = event->v[F_SEQ], .pid = event->v[F_PID], .prio = event->v[F_PRIO],
		.reason = -1, .victims = -1, .queues = -1
	};
	uint64_t dur = event->v[F_DUR_NS], known = event->ts - timeline->view.model.first;

	for (at = &timeline->open; (open = *at); at = &open->next) {
		if (open->gpu_id != (uint32_t)event->v[F_GPU_ID] || open->begin.seq != begin.seq)
			continue;
		end.taken_over = taken_over(timeline, event, open->begin.ts);
		timeline->format->preemption(timeline, open->gpu_id, &open->begin, &end);
		*at = open->next;
		free(open);
		return;
	}
	begin.ts = event->ts - (dur < known ? dur : known);
	end.taken_over = taken_over(timeline, event, begin.ts);
	timeline->format->preemption(timeline, event->v[F_GPU_ID], &begin, &end);
}

static void preemptions_left(struct timeline *timeline)
{
	uint64_t last = timeline->view.model.last;
	struct preemption_end end = { .ts = last, .taken_over = last, .reason = -1 };
	struct open_preemption *open;

	while ((open = timeline->open)) {
		timeline->format->preemption(timeline, open->gpu_id, &open->begin, &end);
		timeline->open = open->next;
		free(open);
	}
}

static void tell(struct timeline *timeline, const struct kfd_event *event)
{
	switch (event->type) {
	case EV_PREEMPT_BEGIN:
		preemption_begin(timeline, event);
		break;
	case EV_PREEMPT_END:
		preemption_end(timeline, event);
		break;
	default:
		timeline->format->event(timeline, event);
		break;
	}
}

static void part_remove(void)
{
	if (part)
		unlink(part);
}

/* Who may read the recording may read what is made of it. */
static mode_t mode_of(const struct view *view)
{
	mode_t mask = umask(0);
	struct stat status;

	umask(mask);
	if (stat(view->trace_path, &status))
		return 0600;
	return 0600 | (status.st_mode & 0066 & ~mask);
}

static bool is_file_of_recording(const char *name)
{
	return !strcmp(name, "trace.dat") || !strcmp(name, "meta.json") || !strcmp(name, AMD_LOG_FILE) ||
	       !strncmp(name, AMD_LOG_FILE "_", strlen(AMD_LOG_FILE "_"));
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is it the name of a file of the recording in the directory of the recording, whether the file is there or not? */
static bool is_name_of_recording(const char *name, const char *directory)
{
	const char *slash = strrchr(name, '/');
	struct stat status, other;
	char *above;
	bool same;

	if (!is_file_of_recording(slash ? slash + 1 : name))
		return false;
	above = slash ? strndup(name, slash > name ? slash - name : 1) : strdup(".");
	same = above && !stat(above, &status) && !stat(directory, &other) && same_file(&status, &other);
	free(above);
	return same;
}

/* Does not return if the output would replace a file of the recording, or become one, whatever path names it. */
static void output_check(const struct view *view, const char *name)
{
	char *trace = view_file(view->options, "trace.dat"), *slash = trace ? strrchr(trace, '/') : NULL;
	const char *directory = !slash ? "." : slash > trace ? trace : "/";
	struct stat status, other;
	struct dirent *entry;
	bool own = false;
	DIR *dir = NULL;

	if (slash)
		*slash = '\0';
	if (!stat(name, &status)) {
		own = !stat(view->trace_path, &other) && same_file(&other, &status);
		/* a lone file of another name has nothing beside it */
		if (trace)
			dir = opendir(directory);
	}
	while (dir && !own && (entry = readdir(dir)))
		own = is_file_of_recording(entry->d_name) && !fstatat(dirfd(dir), entry->d_name, &other, 0) &&
		      same_file(&other, &status);
	if (dir)
		closedir(dir);
	own |= trace && is_name_of_recording(name, directory);
	free(trace);
	if (own)
		errx(EXIT_FAILURE, "%s: a file of the recording, which the timeline would replace: give another name to --output", name);
}

/* A file that cannot be replaced: not a regular one, or in a directory in which only itself may be written. */
static int output_reuse(const char *name, bool regular)
{
	char why[KFDLIB_WHY];
	int fd = output_device(name, why);

	if (fd < 0)
		errx(EXIT_FAILURE, "cannot write to '%s': %s", name, why);
	if (regular && ftruncate(fd, 0))
		err(EXIT_FAILURE, "%s", name);
	return fd;
}

/* A file is replaced only by a complete one. */
static void output_open(const char *name, mode_t mode)
{
	struct stat status;
	bool there = !stat(name, &status);
	int fd = output_inherited(name);

	if (fd < 0 && (!there || S_ISREG(status.st_mode))) {
		if (asprintf(&part, "%s.XXXXXX", name) < 0)
			errx(EXIT_FAILURE, "out of memory");
		fd = mkostemp(part, O_CLOEXEC);
		if (fd < 0) {
			free(part);
			part = NULL;
		}
	}
	if (fd < 0 && !there)
		err(EXIT_FAILURE, "%s", name);
	if (fd < 0)
		fd = output_reuse(name, S_ISREG(status.st_mode));
	if (part)
		atexit(part_remove);
	if (part && (fchmod(fd, mode) || output_own(fd)))
		err(EXIT_FAILURE, "%s", part);
	if (dup2(fd, STDOUT_FILENO) < 0)
		err(EXIT_FAILURE, "%s", name);
	close(fd);
}

static int output_close(const char *name)
{
	int status = stdout_check(EXIT_SUCCESS);

	if (!part || status)
		return status;
	if (rename(part, name)) {
		warn("%s", name);
		return EXIT_FAILURE;
	}
	free(part);
	part = NULL;
	return EXIT_SUCCESS;
}

static bool is_page(const char *name)
{
	const char *suffix = name ? strrchr(name, '.') : NULL;

	return suffix && (!strcmp(suffix, ".html") || !strcmp(suffix, ".htm"));
}

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace timeline [options] [DIR]\n"
	      "\n"
	      "Write which process had the GPU at which time: a page for a browser, or JSON in the\n"
	      "trace event format for ui.perfetto.dev or chrome://tracing. Without DIR, the newest\n"
	      "recording in the current directory is read.\n"
	      "\n"
	      "A recording of a stock driver shows which queues were mapped, not which of them ran.\n"
	      "\n"
	      "Options:\n"
	      " -o, --output FILE       write to this file (default -, standard output); a page if the\n"
	      "                         name ends in .html, else JSON\n"
	      " -p, --pid PID           show only this process and the GPUs; may be repeated\n"
	      " -h, --help              display this help\n"
	      " -V, --version           display the version of this program\n"
	      "\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

/**
 * kfdtrace_timeline() - the verb
 * @argc: number of @argv
 * @argv: options
 *
 * Return: the exit status.
 */
int kfdtrace_timeline(int argc, char **argv)
{
	struct view_options options = { .verb = "timeline" };
	struct timeline timeline = { 0 };
	struct kfd_event event;
	char why[TRACE_WHY];
	bool any = false;
	int ret;

	view_options_parse(argc, argv, "o:p:hV", usage, &options);
	if (options.output && !strcmp(options.output, "-"))
		options.output = NULL;
	timeline.format = is_page(options.output) ? &timeline_html : &timeline_json;
	view_open(&timeline.view, &options);
	view_pids_find(&timeline.view);
	if (options.output) {
		output_check(&timeline.view, options.output);
		output_open(options.output, mode_of(&timeline.view));
	}
	timeline.view.model.slice = slice;
	timeline.view.model.slice_context = &timeline;
	view_state_begin(&timeline.view);
	timeline.format->begin(&timeline);
	while ((ret = trace_next(timeline.view.file, &event, why)) > 0) {
		any = true;
		if (view_early(&timeline.view, &event))
			continue;
		view_event(&timeline.view, &event);
		tell(&timeline, &event);
	}
	if (ret)
		errx(EXIT_FAILURE, "%s", why);
	view_state_end(&timeline.view);
	if (!any)
		view_others_warn(&timeline.view);
	model_end(&timeline.view.model);
	preemptions_left(&timeline);
	timeline.format->end(&timeline);
	view_losses(&timeline.view);
	view_close(&timeline.view);
	return output_close(options.output);
}
