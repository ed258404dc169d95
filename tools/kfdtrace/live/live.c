// SPDX-License-Identifier: GPL-2.0
/* kfdtrace live */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "kfdtrace.h"
#include "live.h"
#include "message.h"

enum {
	FD_SIGNAL,
	FD_TIMER,
	FD_KEYS,
	NR_FDS
};

/**
 * struct loop - what goes on
 * @live: the view
 * @fds: signals, timer, keys, then the CPUs
 * @delay_ns: from one frame to the next; keys change it
 * @frames: shown so far
 * @paused: the screen stays as it is
 * @signal: that ended it, or 0
 */
struct loop {
	struct live *live;
	struct pollfd *fds;
	uint64_t delay_ns, frames;
	bool paused;
	int signal;
};

static int timer_set(int fd, uint64_t delay_ns)
{
	struct itimerspec spec = { 0 };

	spec.it_interval.tv_sec = delay_ns / 1000000000;
	spec.it_interval.tv_nsec = delay_ns % 1000000000;
	spec.it_value = spec.it_interval;
	return timerfd_settime(fd, 0, &spec, NULL);
}

static void show(struct loop *loop)
{
	if (loop->live->options->list.json)
		live_print_json(loop->live);
	else if (loop->live->options->batch)
		live_print(loop->live);
	else
		live_screen_show(loop->live, loop->delay_ns, loop->paused);
}

/* 0: go on; 1: that was all; else -errno, and said so */
static int on_timer(struct loop *loop, char *why)
{
	uint64_t times;
	int ret;

	if (read(loop->fds[FD_TIMER].fd, &times, sizeof(times)) < 0 && errno != EAGAIN)
		return -errno;
	/* what happens in a pause belongs to the frame after it */
	if (loop->paused)
		return live_drain(loop->live, why);
	ret = live_frame(loop->live, why);
	if (ret)
		return ret;
	show(loop);
	if (loop->live->options->batch && (fflush(stdout) || ferror(stdout))) {
		snprintf(why, RECORD_WHY, "cannot write the output: %s", strerror(errno));
		return -EIO;
	}
	return ++loop->frames == loop->live->options->count;
}

static int on_signal(struct loop *loop)
{
	struct signalfd_siginfo info;

	if (read(loop->fds[FD_SIGNAL].fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_signo == SIGWINCH) {
		if (!loop->live->options->batch) {
			live_screen_resize();
			show(loop);
		}
		return 0;
	}
	loop->signal = info.ssi_signo;
	return 1;
}

static int on_key(struct loop *loop)
{
	uint64_t delay = loop->delay_ns;

	/* the terminal is gone */
	if (!(loop->fds[FD_KEYS].revents & POLLIN)) {
		loop->signal = SIGHUP;
		return 1;
	}
	if (!live_screen_key(&loop->delay_ns, &loop->paused))
		return 1;
	if (delay != loop->delay_ns && timer_set(loop->fds[FD_TIMER].fd, loop->delay_ns))
		return -errno;
	show(loop);
	return 0;
}

static int go(struct loop *loop, char *why)
{
	struct live *live = loop->live;
	int nr = NR_FDS + (live->events.open ? live->events.rec.nr_cpus : 0), ret = 0, i;

	while (!ret) {
		bool events = false;

		if (poll(loop->fds, nr, -1) < 0) {
			if (errno == EINTR)
				continue;
			snprintf(why, RECORD_WHY, "cannot wait: %s", strerror(errno));
			return -errno;
		}
		for (i = NR_FDS; i < nr; i++)
			events |= loop->fds[i].revents & POLLIN;
		if (events)
			ret = live_drain(live, why);
		if (!ret && loop->fds[FD_SIGNAL].revents)
			ret = on_signal(loop);
		if (!ret && loop->fds[FD_KEYS].revents)
			ret = on_key(loop);
		if (!ret && loop->fds[FD_TIMER].revents)
			ret = on_timer(loop, why);
	}
	return ret < 0 ? ret : 0;
}

static int loop_open(struct loop *loop, const sigset_t *signals, char *why)
{
	const struct live *live = loop->live;
	int nr = live->events.open ? live->events.rec.nr_cpus : 0, cpu;

	loop->fds = calloc(NR_FDS + nr, sizeof(*loop->fds));
	if (!loop->fds) {
		snprintf(why, RECORD_WHY, "out of memory");
		return -ENOMEM;
	}
	loop->fds[FD_SIGNAL] = (struct pollfd){ .fd = signalfd(-1, signals, SFD_CLOEXEC),
						.events = POLLIN };
	loop->fds[FD_TIMER] = (struct pollfd){
		.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), .events = POLLIN
	};
	loop->fds[FD_KEYS] = (struct pollfd){ .fd = live->options->batch ? -1 : STDIN_FILENO,
					      .events = POLLIN };
	for (cpu = 0; cpu < nr; cpu++)
		loop->fds[NR_FDS + cpu] =
			(struct pollfd){ .fd = live->events.rec.raw_fds[cpu], .events = POLLIN };
	if (loop->fds[FD_SIGNAL].fd < 0 || loop->fds[FD_TIMER].fd < 0 ||
	    timer_set(loop->fds[FD_TIMER].fd, loop->delay_ns)) {
		snprintf(why, RECORD_WHY, "cannot wait: %s", strerror(errno));
		return -errno;
	}
	return 0;
}

static void loop_close(struct loop *loop)
{
	if (!loop->fds)
		return;
	if (loop->fds[FD_SIGNAL].fd >= 0)
		close(loop->fds[FD_SIGNAL].fd);
	if (loop->fds[FD_TIMER].fd >= 0)
		close(loop->fds[FD_TIMER].fd);
	free(loop->fds);
}

/* At exit: remove the trace instance and restore the terminal, after errx(3) as well. */
static struct live *to_end;

static void at_exit(void)
{
	live_screen_close();
	if (to_end)
		live_events_close(&to_end->events);
}

/* Before the trace instance is there, so that it is removed whatever comes. */
static void signals_block(sigset_t *set)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
	size_t i;

	sigemptyset(set);
	for (i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		sigaddset(set, stops[i]);
	sigprocmask(SIG_BLOCK, set, NULL);
	/* writing to a pipe without a reader is an error of write(2) */
	signal(SIGPIPE, SIG_IGN);
}

/**
 * kfdtrace_live() - the verb
 * @argc: number of @argv
 * @argv: options
 *
 * Return: the exit status.
 */
int kfdtrace_live(int argc, char **argv)
{
	struct live_options options;
	struct live live = { .options = &options, .dev = { .fd = -1 } };
	struct loop loop = { .live = &live };
	char why[RECORD_WHY] = "";
	sigset_t signals;
	int ret;

	live_options_parse(argc, argv, &options);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		options.batch = true;
	loop.delay_ns = options.delay_ns;
	signals_block(&signals);
	to_end = &live;
	atexit(at_exit);
	ret = live_begin(&live, why);
	if (!ret)
		ret = loop_open(&loop, &signals, why);
	if (!ret && !options.batch)
		ret = live_screen_open(options.sort, why);
	if (!ret && !options.batch)
		show(&loop);
	if (!ret)
		ret = go(&loop, why);
	if (!options.batch)
		live_screen_close();
	live_end(&live);
	to_end = NULL;
	loop_close(&loop);
	if (ret)
		warnx("%s", why);
	/* as if the signal had ended it, but for Ctrl-C, which is the way to end it */
	if (!ret && loop.signal && loop.signal != SIGINT)
		return 128 + loop.signal;
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
