// SPDX-License-Identifier: GPL-2.0
/*
 * compat_test - programs that were built for earlier minor versions of the interface work with
 * this driver.  Runs in the VM.
 *
 * The numbers of the ioctls, the sizes and the offsets below are those of versions 1.0 and 1.1,
 * written out by hand: this file must not include linux/kfd_prio.h, which describes the present
 * version.  Version 1.2 has the structures of 1.1.  A row that has to be changed breaks programs
 * of users.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tap.h"

/* The largest array of a row, and bytes behind what the driver may write, which it must not touch */
#define WIRE	256
#define CANARY	0xa5

enum field { END, S32, U64 };	/* END is 0: rows are filled up with it */

/* What the test knows only when it runs */
enum { VALUE, PID, PIDFD, ENTRIES, NONZERO, AT_LEAST };

/**
 * struct part - a field of a structure
 * @type: its width
 * @at: its offset in bytes
 * @value: what it is, or must be, for VALUE and AT_LEAST
 * @kind: whether @value counts, or which of the values that only the test knows
 */
struct part {
	enum field type;
	unsigned int at;
	long long value;
	int kind;
};

/**
 * struct row - a call as a program of that version makes it
 * @name: for the test point
 * @cmd: the number of the ioctl
 * @size: of its structure
 * @in: what the program fills in; all else is 0
 * @error: an errno, or 0
 * @out: what must be in the structure then
 * @entry_size: _LIST: of an entry
 * @entry: _LIST: what must be in the entry of the test's own process
 */
struct row {
	const char *name;
	unsigned long cmd;
	unsigned int size;
	struct part in[6];
	int error;
	struct part out[6];
	unsigned int entry_size;
	struct part entry[12];
};

#define VERSION_1_0	0x80104bf0UL
#define SET_1_0		0xc0184bf1UL
#define GET_1_0		0xc0184bf2UL
#define LIST_1_0	0xc0184bf3UL

#define WHO		{ S32, 0, .kind = PID }, { S32, 4, .kind = PIDFD }
#define ENTRY_1_0	{ S32, 0, .kind = PID }, { S32, 4, .kind = NONZERO }, { S32, 8, 3 }, { S32, 12, -1 }, \
			{ S32, 16, 0 }, { S32, 20, 0 }, { S32, 24, 0 }, { S32, 28, 0 }

static const struct row rows[] = {
	{ "1.0 _VERSION: major 1, features inherit", VERSION_1_0, 16, { { END } }, 0,
	  { { S32, 0, 1 }, { S32, 4, 0, AT_LEAST }, { S32, 8, .kind = NONZERO }, { S32, 12, 0 } } },
	{ "1.0 _SET 3: none was set before", SET_1_0, 24, { WHO, { S32, 8, 3 } }, 0,
	  { WHO, { S32, 8, 3 }, { S32, 12, 0 }, { S32, 16, -1 }, { S32, 20, 0 } } },
	{ "1.0 _SET 4: 3 was", SET_1_0, 24, { WHO, { S32, 8, 4 } }, 0, { { S32, 16, 3 } } },
	{ "1.0 _SET 3 again", SET_1_0, 24, { WHO, { S32, 8, 3 } }, 0, { { S32, 16, 4 } } },
	{ "1.0 _SET 16: EINVAL", SET_1_0, 24, { WHO, { S32, 8, 16 } }, EINVAL, { { END } } },
	{ "1.0 _SET -2: EINVAL", SET_1_0, 24, { WHO, { S32, 8, -2 } }, EINVAL, { { END } } },
	{ "1.0 _SET, a flag: EINVAL", SET_1_0, 24, { WHO, { S32, 8, 3 }, { S32, 12, 1 << 30 } }, EINVAL, { { END } } },
	{ "1.0 _SET, pidfd -1: EBADF", SET_1_0, 24, { { S32, 0, .kind = PID }, { S32, 4, -1 } }, EBADF, { { END } } },
	{ "1.0 _SET, pid and pidfd differ: ESRCH", SET_1_0, 24, { { S32, 0, 1 }, { S32, 4, .kind = PIDFD } }, ESRCH, { { END } } },
	{ "1.0 _GET: 3, no queue", GET_1_0, 24, { WHO }, 0,
	  { WHO, { S32, 8, 0 }, { S32, 12, 3 }, { S32, 16, -1 }, { S32, 20, 0 } } },
	{ "1.0 _GET, a flag: EINVAL", GET_1_0, 24, { WHO, { S32, 8, 1 } }, EINVAL, { { END } } },
	{ "1.0 _LIST, no room: the number of entries", LIST_1_0, 24, { { S32, 8, 32 } }, 0,
	  { { S32, 8, 32 }, { S32, 12, 1 }, { S32, 16, 0 }, { S32, 20, 0 } } },
	{ "1.0 _LIST: an entry of 32 bytes", LIST_1_0, 24, { { U64, 0, .kind = ENTRIES }, { S32, 8, 32 }, { S32, 12, 3 } }, 0,
	  { { U64, 0, .kind = ENTRIES }, { S32, 8, 32 }, { S32, 12, 1 } }, 32, { ENTRY_1_0 } },
	{ "1.0 _LIST, a flag: EINVAL", LIST_1_0, 24, { { S32, 8, 32 }, { S32, 16, 1 } }, EINVAL, { { END } } },
	{ "1.0 _LIST, entries of 24 bytes: EINVAL", LIST_1_0, 24, { { S32, 8, 24 } }, EINVAL, { { END } } },
	{ "1.1 _LIST: an entry of 56 bytes, never preempted", LIST_1_0, 24,
	  { { U64, 0, .kind = ENTRIES }, { S32, 8, 56 }, { S32, 12, 3 } }, 0,
	  { { S32, 8, 56 }, { S32, 12, 1 } }, 56,
	  { ENTRY_1_0, { U64, 32, 0 }, { U64, 40, 0 }, { U64, 48, 0 } } },
	{ "1.0 _SET -1: the priority is gone", SET_1_0, 24, { WHO, { S32, 8, -1 } }, 0, { { S32, 16, 3 } } },
	{ "1.0 _GET: none", GET_1_0, 24, { WHO }, 0, { { S32, 12, -1 } } },
};

static int pidfd;
static unsigned char entries[WIRE];

static long long value_of(const struct part *part)
{
	switch (part->kind) {
	case PID:	return getpid();
	case PIDFD:	return pidfd;
	case ENTRIES:	return (long long)(uintptr_t)entries;
	default:	return part->value;
	}
}

static void put(unsigned char *wire, const struct part *parts, unsigned int max)
{
	unsigned int i;

	for (i = 0; i < max && parts[i].type != END; i++) {
		int64_t wide = value_of(&parts[i]);
		int32_t narrow = wide;

		if (parts[i].type == S32)
			memcpy(wire + parts[i].at, &narrow, sizeof(narrow));
		else
			memcpy(wire + parts[i].at, &wide, sizeof(wide));
	}
}

static bool as_wanted(const char *what, const unsigned char *wire, const struct part *parts, unsigned int max)
{
	bool good = true;
	unsigned int i;

	for (i = 0; i < max && parts[i].type != END; i++) {
		int64_t want = value_of(&parts[i]), have;
		int32_t narrow;
		bool same;

		memcpy(&have, wire + parts[i].at, sizeof(have));
		memcpy(&narrow, wire + parts[i].at, sizeof(narrow));
		if (parts[i].type == S32)
			have = narrow;
		same = parts[i].kind == NONZERO ? have != 0 : parts[i].kind == AT_LEAST ? have >= want : have == want;
		if (!same)
			tap_diag("%s, byte %u: %lld, not %lld", what, parts[i].at, (long long)have, (long long)want);
		good &= same;
	}
	return good;
}

static bool untouched(const unsigned char *wire, unsigned int from)
{
	unsigned int i;

	for (i = from; i < WIRE; i++)
		if (wire[i] != CANARY)
			return false;
	return true;
}

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

static void try_row(int kfd, const struct row *row)
{
	unsigned char wire[WIRE];
	bool good;
	int err;

	memset(wire, CANARY, sizeof(wire));
	memset(wire, 0, row->size);
	put(wire, row->in, COUNT(row->in));
	memset(entries, CANARY, sizeof(entries));
	err = ioctl(kfd, row->cmd, wire) ? errno : 0;
	good = err == row->error;
	if (!good)
		tap_diag("errno %d, not %d", err, row->error);
	if (good && !err)
		good = as_wanted("structure", wire, row->out, COUNT(row->out)) &&
		       as_wanted("entry", entries, row->entry, COUNT(row->entry));
	tap_ok(good && untouched(wire, row->size) && untouched(entries, row->entry_size), "%s", row->name);
}

int main(void)
{
	/* 1.0's way to open it, without a KFD process; and a KFD process, which is what _LIST lists */
	int kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC), full = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	unsigned int i;

	pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	if (kfd < 0 || full < 0 || pidfd < 0)
		tap_bail("/dev/kfd, pidfd: %s", strerror(errno));
	for (i = 0; i < COUNT(rows); i++)
		try_row(kfd, &rows[i]);
	/* a program may use an ordinary file as well */
	try_row(full, &rows[0]);
	close(full);
	close(kfd);
	return tap_done();
}
