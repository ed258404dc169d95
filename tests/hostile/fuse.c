// SPDX-License-Identifier: GPL-2.0
/*
 * A page of a file of a file system that a process of the same user serves, and whose reads it never answers. An
 * ordinary user mounts it in a user namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/fuse.h>
#include "disguise.h"

#define ROOT	1
#define FILE_ID	2

static void answer(int fd, uint64_t unique, int err, const void *data, size_t n)
{
	struct fuse_out_header *h;
	char buf[512] = "";

	h = (void *)buf;
	h->unique = unique;
	h->error = err;
	h->len = sizeof(*h) + (err ? 0 : n);
	if (!err)
		memcpy(buf + sizeof(*h), data, n);
	if (write(fd, buf, h->len) < 0)
		_exit(1);
}

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){ .ino = node, .nlink = 1, .blksize = 4096, .size = node == ROOT ? 0 : 4096,
				   .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0644 };
}

/* Answers what open(2) and mmap(2) need; a read waits forever */
static void serve(int fd)
{
	static char buf[FUSE_MIN_READ_BUFFER * 4];
	struct fuse_in_header *in = (void *)buf;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, buf, sizeof(buf)) > 0) {
		switch (in->opcode) {
		case FUSE_INIT:
			answer(fd, in->unique, 0, &(struct fuse_init_out){
				.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096 }, sizeof(struct fuse_init_out));
			break;
		case FUSE_LOOKUP:
			answer(fd, in->unique, 0, &(struct fuse_entry_out){
				.nodeid = FILE_ID, .attr_valid = 1000, .entry_valid = 1000,
				.attr = attr_of(FILE_ID) }, sizeof(struct fuse_entry_out));
			break;
		case FUSE_GETATTR:
			answer(fd, in->unique, 0, &(struct fuse_attr_out){
				.attr_valid = 1000, .attr = attr_of(in->nodeid) }, sizeof(struct fuse_attr_out));
			break;
		case FUSE_OPEN:
			answer(fd, in->unique, 0, &(struct fuse_open_out){}, sizeof(struct fuse_open_out));
			break;
		case FUSE_READ:
		case FUSE_FORGET:
			break;
		default:
			answer(fd, in->unique, -ENOSYS, NULL, 0);
		}
	}
	_exit(0);
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

long fuse_page(void *at)
{
	char text[128];
	uid_t uid = getuid();
	int fd, file;
	pid_t pid;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return not_here("a user namespace of an ordinary user: %s", strerror(errno));
	snprintf(text, sizeof(text), "0 %u 1", uid);
	if (put("/proc/self/setgroups", "deny") || put("/proc/self/uid_map", text) || put("/proc/self/gid_map", text))
		return not_here("the maps of a user namespace: %s", strerror(errno));
	/* the file must be of the same user namespace as the mount */
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return not_here("/dev/fuse: %s", strerror(errno));
	snprintf(text, sizeof(text), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mount("kfdprio", "/mnt", "fuse", MS_NOSUID | MS_NODEV, text))
		return not_here("mount of a FUSE file system: %s", strerror(errno));
	pid = fork();
	if (!pid)
		serve(fd);
	file = pid < 0 ? -1 : open("/mnt/page", O_RDONLY | O_CLOEXEC);
	if (file < 0 || mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED)
		return not_here("a file of a FUSE file system: %s", strerror(errno));
	close(file);
	return 0;
}
