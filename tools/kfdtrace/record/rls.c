// SPDX-License-Identifier: GPL-2.0
/*
 * Which queues are in the runlists of HWS, from the driver's dump in debugfs: packets of PM4, as hexadecimal words.  Also a
 * stock driver has this dump; it needs root, and CONFIG_DEBUG_FS.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rls.h"

#define PATH	   "/sys/kernel/debug/kfd/rls"
#define MAX_WORDS  (1 << 20) /* of one runlist */

/* PM4 packets of type 3 */
enum { TYPE_3 = 3, MAP_PROCESS = 0xa1, MAP_QUEUES = 0xa2 };

static bool count_add(struct rls *rls, uint32_t gpu_id, uint32_t pasid)
{
	struct rls_count *grown;
	size_t i;

	for (i = 0; i < rls->nr; i++)
		if (rls->counts[i].gpu_id == gpu_id && rls->counts[i].pasid == pasid) {
			rls->counts[i].queues++;
			return true;
		}
	grown = reallocarray(rls->counts, rls->nr + 1, sizeof(*grown));
	if (!grown)
		return false;
	rls->counts = grown;
	grown[rls->nr++] = (struct rls_count){ gpu_id, pasid, 1 };
	return true;
}

/* One runlist; false if its packets are not understood */
static bool packets_count(struct rls *rls, uint32_t gpu_id, const uint32_t *words, size_t nr)
{
	uint32_t pasid = 0;
	size_t at = 0;

	while (at < nr) {
		uint32_t opcode = words[at] >> 8 & 0xff;
		size_t length = (words[at] >> 16 & 0x3fff) + 2;

		/* zeros fill the last page */
		if (!words[at])
			return true;
		if (words[at] >> 30 != TYPE_3 || at + length > nr)
			return false;
		if (opcode == MAP_PROCESS)
			pasid = words[at + 1] & 0xffff;
		else if (opcode == MAP_QUEUES && !count_add(rls, gpu_id, pasid))
			return false;
		at += length;
	}
	return true;
}

/* "OFFSET: WORD WORD ..." */
static bool words_add(const char *line, uint32_t *words, size_t *nr)
{
	char *end;

	line = strchr(line, ':');
	if (!line)
		return false;
	for (line++; *nr < MAX_WORDS; line = end) {
		unsigned long word = strtoul(line, &end, 16);

		if (end == line)
			return !line[strspn(line, " \n")];
		words[(*nr)++] = word;
	}
	return false;
}

/**
 * rls_parse() - count the queues in each runlist
 * @file: text of the dump
 * @rls: filled in, to be freed with rls_free()
 *
 * Return: whether all of it was understood.
 */
bool rls_parse(FILE *file, struct rls *rls)
{
	uint32_t *words = malloc(MAX_WORDS * sizeof(*words)), gpu_id = 0, next;
	bool good = words;
	size_t size = 0, nr = 0;
	char *line = NULL;

	*rls = (struct rls){ 0 };
	while (good && getline(&line, &size, file) > 0) {
		const char *at = strstr(line, "gpu_id ");

		if (!strncmp(line, "Node ", 5) && at) {
			next = strtoul(at + strlen("gpu_id "), NULL, 16);
			good = packets_count(rls, gpu_id, words, nr);
			gpu_id = next;
			nr = 0;
		} else if (isspace((unsigned char)*line) && isxdigit((unsigned char)line[strspn(line, " ")]) && strchr(line, ':')) {
			good = words_add(line, words, &nr);
		}
	}
	good = good && packets_count(rls, gpu_id, words, nr);
	free(line);
	free(words);
	return good;
}

/**
 * rls_read() - the runlists now
 * @rls: filled in, to be freed with rls_free() also on failure
 *
 * Return: whether they are known.
 */
bool rls_read(struct rls *rls)
{
	FILE *file = fopen(PATH, "re");
	bool good;

	*rls = (struct rls){ 0 };
	if (!file)
		return false;
	good = rls_parse(file, rls);
	fclose(file);
	return good;
}

/**
 * rls_queues() - how many queues of a process are in the runlist of a GPU
 * @rls: of rls_parse()
 * @gpu_id: the GPU
 * @pasid: of the process; 0: of all processes
 *
 * Return: their number.
 */
uint32_t rls_queues(const struct rls *rls, uint32_t gpu_id, uint32_t pasid)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < rls->nr; i++)
		if (rls->counts[i].gpu_id == gpu_id && (!pasid || rls->counts[i].pasid == pasid))
			sum += rls->counts[i].queues;
	return sum;
}

/**
 * rls_free() - free the counts
 * @rls: of rls_parse()
 */
void rls_free(struct rls *rls)
{
	free(rls->counts);
	*rls = (struct rls){ 0 };
}
