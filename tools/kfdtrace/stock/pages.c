// SPDX-License-Identifier: GPL-2.0
/* What BPF has handed over becomes pages of a ring buffer, in the order of time. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stock.h"

#define PAGE_HEAD	16
#define COMMIT_MISSED	(1ULL << 31)
#define TYPE_MAX	28 /* words of an event whose length is in its head */
#define TYPE_TIME_EXTEND 30
#define DELTA_BITS	27

/**
 * struct pages - the pages in work
 * @fd: where they go
 * @page: the last one
 * @size: of each
 * @at: bytes of @page that are used
 * @ts: ns, of the last event in it
 * @commit: flags of the page
 */
struct pages {
	int fd;
	char *page;
	size_t size, at;
	uint64_t ts, commit;
};

static int page_end(struct pages *pages)
{
	uint64_t commit = (pages->at - PAGE_HEAD) | pages->commit;

	if (pages->at == PAGE_HEAD)
		return 0;
	memcpy(pages->page + 8, &commit, 8);
	memset(pages->page + pages->at, 0, pages->size - pages->at);
	if (write(pages->fd, pages->page, pages->size) != (ssize_t)pages->size)
		return errno ? -errno : -ENOSPC;
	pages->at = PAGE_HEAD;
	pages->commit = 0;
	return 0;
}

static void put32(struct pages *pages, uint32_t value)
{
	memcpy(pages->page + pages->at, &value, 4);
	pages->at += 4;
}

/* @missed: events before this one are */
static int page_add(struct pages *pages, const struct stock_record *record, bool missed)
{
	uint64_t delta = record->ts - pages->ts;
	/* with a time extend and the longer head */
	size_t need = 8 + 8 + record->size;
	int ret;

	if (missed || pages->at + need > pages->size) {
		ret = page_end(pages);
		if (ret)
			return ret;
	}
	if (pages->at == PAGE_HEAD) {
		memcpy(pages->page, &record->ts, 8);
		pages->commit = missed ? COMMIT_MISSED : 0;
		delta = 0;
	}
	if (delta >> DELTA_BITS) {
		put32(pages, TYPE_TIME_EXTEND | (uint32_t)(delta << 5));
		put32(pages, delta >> DELTA_BITS);
		delta = 0;
	}
	if (record->size / 4 <= TYPE_MAX) {
		put32(pages, record->size / 4 | (uint32_t)(delta << 5));
	} else {
		put32(pages, (uint32_t)(delta << 5));
		put32(pages, record->size + 4);
	}
	memcpy(pages->page + pages->at, record + 1, record->size);
	pages->at += record->size;
	pages->ts = record->ts;
	return 0;
}

static size_t step(const struct stock_record *record)
{
	return sizeof(*record) + STOCK_ALIGN(record->size);
}

/* Records of the same time stay as they came. */
static int record_compare(const void *left, const void *right)
{
	const struct stock_record *a = *(struct stock_record *const *)left;
	const struct stock_record *b = *(struct stock_record *const *)right;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a > b) - (a < b);
}

static int slurp(int fd, char **data, size_t *size)
{
	struct stat status;
	ssize_t got;
	size_t done;

	if (fstat(fd, &status))
		return -errno;
	*size = status.st_size;
	*data = malloc(*size + 1);
	if (!*data)
		return -ENOMEM;
	for (done = 0; done < *size; done += got) {
		got = pread(fd, *data + done, *size - done, done);
		if (got <= 0) {
			free(*data);
			return got ? -errno : -EIO;
		}
	}
	return 0;
}

/**
 * stock_pages() - make pages of what was recorded on one CPU
 * @fd: file with struct stock_record and events, each at a multiple of 8; the pages take their place
 * @page_size: bytes of a page
 * @nr: out: events
 * @why: on failure, what is wrong; STOCK_WHY bytes
 *
 * An event may have a time before that of events that came earlier.
 *
 * Return: 0 or -errno.
 */
int stock_pages(int fd, size_t page_size, uint64_t *nr, char *why)
{
	struct pages pages = { .fd = fd, .size = page_size, .at = PAGE_HEAD };
	struct stock_record **records = NULL;
	uint64_t lost = 0;
	size_t size = 0, at, i;
	char *data = NULL;
	int ret;

	*nr = 0;
	ret = slurp(fd, &data, &size);
	if (ret)
		goto out;
	for (at = 0; at + sizeof(**records) <= size; at += step((struct stock_record *)(data + at)))
		++*nr;
	records = calloc(*nr + 1, sizeof(void *));
	pages.page = malloc(page_size);
	ret = records && pages.page ? 0 : -ENOMEM;
	for (at = 0, i = 0; !ret && i < *nr; i++) {
		records[i] = (struct stock_record *)(data + at);
		at += step(records[i]);
	}
	if (!ret)
		qsort(records, *nr, sizeof(void *), record_compare);
	if (!ret && (lseek(fd, 0, SEEK_SET) || ftruncate(fd, 0)))
		ret = -errno;
	for (i = 0; !ret && i < *nr; i++) {
		bool missed = records[i]->lost > lost;

		if (missed)
			lost = records[i]->lost;
		ret = page_add(&pages, records[i], missed);
	}
	if (!ret)
		ret = page_end(&pages);
	free(pages.page);
	free(records);
	free(data);
out:
	if (ret)
		snprintf(why, STOCK_WHY, "cannot make pages of the events: %s", strerror(-ret));
	return ret;
}
