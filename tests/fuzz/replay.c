// SPDX-License-Identifier: GPL-2.0
/* replay CORPUS - each target on each file of its corpus, without libFuzzer.  TAP. */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <stdlib.h>

#include "fuzz.h"

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int replay(const struct fuzz_target *target, const char *corpus)
{
	struct dirent **entries;
	char dir[4096], path[8192];
	size_t size;
	int nr, i;

	snprintf(dir, sizeof(dir), "%s/%s", corpus, target->name);
	nr = scandir(dir, &entries, visible, alphasort);
	if (nr < 0)
		err(EXIT_FAILURE, "%s", dir);
	if (target->begin)
		target->begin();
	for (i = 0; i < nr; i++) {
		uint8_t *bytes;

		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		/* told before: what crashes says nothing afterwards */
		fprintf(stderr, "# %s\n", path);
		bytes = fuzz_read(path, &size);
		target->one(bytes, size);
		free(bytes);
		free(entries[i]);
	}
	free(entries);
	return nr;
}

int main(int argc, char **argv)
{
	const struct fuzz_target *const targets[] = { &fuzz_trace, &fuzz_pages, &fuzz_amdlog, &fuzz_meta,
						     &fuzz_rules };
	const int nr = sizeof(targets) / sizeof(*targets);
	FILE *tap = stdout;
	int i, files, failed = 0;

	if (argc != 2)
		errx(EXIT_FAILURE, "usage: replay CORPUS");
	fprintf(tap, "1..%d\n", nr);
	for (i = 0; i < nr; i++) {
		fflush(tap);
		fuzz_quiet();
		files = replay(targets[i], argv[1]);
		failed |= !files;
		fprintf(tap, "%sok %d - fuzz: %s: its corpus, %d files, without a report of a sanitizer\n",
			files ? "" : "not ", i + 1, targets[i]->name, files);
	}
	return failed;
}
