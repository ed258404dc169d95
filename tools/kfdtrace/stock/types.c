// SPDX-License-Identifier: GPL-2.0
/*
 * The types of the driver that runs, as one BTF.  A module's own BTF continues that of vmlinux: numbers
 * of types and offsets of strings go on where those of vmlinux end, so that one after the other is
 * a whole BTF.  libbpf could find the module's itself, but only as root.
 */
#define _GNU_SOURCE
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stock.h"

#define VMLINUX "/sys/kernel/btf/vmlinux"
#define MODULE	"/sys/kernel/btf/amdgpu"

static struct stock_log heard;

/* Copies the text after @word, up to one of @ends, to @found. Return: whether the text has the word */
static bool after(const char *text, const char *word, const char *ends, char *found, size_t size)
{
	const char *at = strstr(text, word);

	if (!at)
		return false;
	at += strlen(word);
	snprintf(found, size, "%.*s", (int)strcspn(at, ends), at);
	return true;
}

/* The kernel's log of a program, many lines; libbpf has put in what it knows of types. */
static void hear_log(const char *text)
{
	static const char *const words[] = { "unknown func ", "invalid func ", "cannot use helper " };
	const char *at = strstr(text, "failed to resolve CO-RE relocation");
	size_t i;

	if (at && after(at, "] ", "(\n", heard.member, sizeof(heard.member)))
		return;
	heard.no_jit |= strstr(text, "non-JITed") != NULL;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (after(text, words[i], "#\n", heard.function, sizeof(heard.function)))
			return;
}

static int hear(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text;

	if (level != LIBBPF_WARN)
		return 0;
	/* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral) */
	if (vasprintf(&text, format, args) < 0)
		return 0;
	hear_log(text);
	if (!*heard.first)
		snprintf(heard.first, sizeof(heard.first), "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	return 0;
}

/**
 * stock_listen() - keep the messages of libbpf, which prints them otherwise
 */
void stock_listen(void)
{
	heard = (struct stock_log){ 0 };
	libbpf_set_print(hear);
}

/**
 * stock_heard() - what libbpf said since stock_listen()
 *
 * Return: the log.
 */
const struct stock_log *stock_heard(void)
{
	return &heard;
}

static int put(int fd, const void *data, size_t size)
{
	ssize_t done;

	for (; size; size -= done, data = (const char *)data + done) {
		done = write(fd, data, size);
		if (done <= 0)
			return done ? -errno : -ENOSPC;
	}
	return 0;
}

/* The types and strings of both in a file of memory; @more may be NULL */
static int join(const struct btf *base, const struct btf *more, int *fd)
{
	const struct btf_header *a, *b = NULL;
	uint32_t size_a, size_b = 0;
	struct btf_header head;
	int ret;

	a = btf__raw_data(base, &size_a);
	if (more)
		b = btf__raw_data(more, &size_b);
	*fd = memfd_create("kfdtrace-btf", MFD_CLOEXEC);
	if (!a || (more && !b) || *fd < 0)
		return -errno;
	head = *a;
	head.hdr_len = sizeof(head);
	head.type_off = 0;
	head.type_len = a->type_len + (b ? b->type_len : 0);
	head.str_off = head.type_len;
	head.str_len = a->str_len + (b ? b->str_len : 0);
	ret = put(*fd, &head, sizeof(head));
	if (!ret)
		ret = put(*fd, (const char *)a + a->hdr_len + a->type_off, a->type_len);
	if (!ret && b)
		ret = put(*fd, (const char *)b + b->hdr_len + b->type_off, b->type_len);
	if (!ret)
		ret = put(*fd, (const char *)a + a->hdr_len + a->str_off, a->str_len);
	if (!ret && b)
		ret = put(*fd, (const char *)b + b->hdr_len + b->str_off, b->str_len);
	return ret;
}

static bool has_kfd(const struct btf *btf)
{
	return btf__find_by_name_kind(btf, "device_queue_manager", BTF_KIND_STRUCT) > 0;
}

/* Before Linux 5.17, the second argument of pm_send_unmap_queue() was the type of the queues. */
static bool unmap_has_type(const struct btf *btf)
{
	const struct btf_type *type;
	const char *name;
	int id = btf__find_by_name_kind(btf, "pm_send_unmap_queue", BTF_KIND_FUNC);

	type = id > 0 ? btf__type_by_id(btf, btf__type_by_id(btf, id)->type) : NULL;
	if (!type || btf_vlen(type) < 3)
		return false;
	type = btf__type_by_id(btf, btf_params(type)[1].type);
	name = type ? btf__name_by_offset(btf, type->name_off) : NULL;
	return name && !strcmp(name, "kfd_queue_type");
}

static int take(const struct btf *base, const struct btf *more, struct stock_types *types)
{
	types->unmap_has_type = unmap_has_type(more ? more : base);
	return join(base, more, &types->fd);
}

static int read_both(const char *path, struct stock_types *types)
{
	struct btf *base = btf__parse(VMLINUX, NULL), *more;
	int ret;

	if (!base)
		return -errno;
	if (has_kfd(base)) {
		/* a driver that is no module */
		ret = take(base, NULL, types);
		btf__free(base);
		return ret;
	}
	more = btf__parse_split(path, base);
	if (!more)
		ret = -errno;
	else if (!has_kfd(more))
		ret = -ENOMSG;
	else
		ret = take(base, more, types);
	btf__free(more);
	btf__free(base);
	return ret;
}

/**
 * stock_btf() - a file with the types of the driver that runs
 * @file: of --btf, or NULL
 * @types: out; its file to be closed when it is not needed any more
 * @why: on failure, what is wrong; STOCK_WHY bytes
 *
 * Return: 0 or -errno.
 */
int stock_btf(const char *file, struct stock_types *types, char *why)
{
	struct btf *whole;
	int ret;

	*types = (struct stock_types){ .fd = -1 };
	if (file) {
		/* whole, as pahole makes it of a module alone; or one that continues vmlinux's */
		whole = btf__parse(file, NULL);
		ret = -errno;
		if (whole)
			ret = has_kfd(whole) ? take(whole, NULL, types) : -ENOMSG;
		btf__free(whole);
		if (!whole && ret != -ENOENT && ret != -EACCES)
			ret = read_both(file, types);
		if (ret == -ENOMSG)
			snprintf(why, STOCK_WHY, "--btf %s: these are not types of amdkfd; give BTF of the module amdgpu that is loaded",
				 file);
		else if (ret)
			snprintf(why, STOCK_WHY, "--btf %s: %s%s", file, strerror(-ret),
				 ret == -ENOENT || ret == -EACCES ? "" : "; give a file that kfdtrace btf has made, or a module with a section .BTF");
	} else {
		ret = read_both(MODULE, types);
		if (ret)
			snprintf(why, STOCK_WHY,
				 "no BTF of the driver (%s: %s): the places of its data are not known. Run 'kfdtrace btf', "
				 "which makes them from the driver's source, and give the file with --btf amdgpu.btf",
				 access(VMLINUX, R_OK) ? VMLINUX : MODULE,
				 ret == -ENOMSG ? "not of amdkfd" : strerror(-ret));
	}
	snprintf(types->path, sizeof(types->path), "/proc/self/fd/%d", types->fd);
	if (ret && types->fd >= 0) {
		close(types->fd);
		types->fd = -1;
	}
	return ret;
}
