// SPDX-License-Identifier: GPL-2.0
/*
 * The program is an ELF file with two segments. The kernel clears what is behind the data of the second one, in
 * load_elf_binary(), and reads its page for that: the new mm is in place, the tracepoint sched_process_exec is not
 * reached. The file system never answers this read.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/fuse.h>
#include "stallfs.h"

#define DIR_ID	1
#define FILE_ID	2
#define DATA	0x10000	/* where the second segment begins, in the file */
#define SIZE	(DATA + 4096)

static pid_t server;

static struct {
	Elf64_Ehdr head;
	Elf64_Phdr text, data;
} program = {
	.head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_entry = 0x400000,
		.e_phoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
	},
	.text = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000, .p_filesz = 4096, .p_memsz = 4096,
		  .p_align = 4096 },
	.data = { .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = DATA, .p_vaddr = 0x500000, .p_filesz = 16,
		  .p_memsz = 64, .p_align = 4096 },
};

static void answer(int fd, uint64_t unique, int err, const void *data, size_t n)
{
	char buf[sizeof(struct fuse_out_header) + 4096];
	struct fuse_out_header h = { .len = sizeof(h) + (err ? 0 : n), .error = err, .unique = unique };

	memcpy(buf, &h, sizeof(h));
	if (!err)
		memcpy(buf + sizeof(h), data, n);
	if (write(fd, buf, h.len) < 0 && errno != ENOENT)
		_exit(1);
}

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){ .ino = node, .nlink = 1, .blksize = 4096, .size = node == DIR_ID ? 0 : SIZE,
				   .mode = node == DIR_ID ? S_IFDIR | 0755 : S_IFREG | 0755 };
}

static void serve(int fd, volatile int *stalled)
{
	static char buf[FUSE_MIN_READ_BUFFER * 4], page[4096];
	const struct fuse_in_header *in = (void *)buf;
	const struct fuse_read_in *read_in = (void *)(in + 1);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, buf, sizeof(buf)) > 0) {
		switch (in->opcode) {
		case FUSE_INIT:
			answer(fd, in->unique, 0, &(struct fuse_init_out){ .major = FUSE_KERNEL_VERSION, .minor = 31,
									  .max_write = 4096 }, sizeof(struct fuse_init_out));
			break;
		case FUSE_LOOKUP:
			answer(fd, in->unique, 0, &(struct fuse_entry_out){ .nodeid = FILE_ID, .attr_valid = 1000,
									   .entry_valid = 1000, .attr = attr_of(FILE_ID) },
			       sizeof(struct fuse_entry_out));
			break;
		case FUSE_GETATTR:
			answer(fd, in->unique, 0, &(struct fuse_attr_out){ .attr_valid = 1000, .attr = attr_of(in->nodeid) },
			       sizeof(struct fuse_attr_out));
			break;
		case FUSE_OPEN:
			answer(fd, in->unique, 0, &(struct fuse_open_out){ 0 }, sizeof(struct fuse_open_out));
			break;
		case FUSE_READ:
			if (read_in->offset >= DATA) {
				*stalled = 1;
				break;
			}
			memset(page, 0, sizeof(page));
			if (!read_in->offset)
				memcpy(page, &program, sizeof(program));
			answer(fd, in->unique, 0, page, read_in->size < 4096 ? read_in->size : 4096);
			break;
		case FUSE_FORGET:
			break;
		default:
			answer(fd, in->unique, -ENOSYS, NULL, 0);
		}
	}
	_exit(0);
}

bool stallfs_start(volatile int *stalled)
{
	char options[128];
	int fd;

	*stalled = 0;
	if (system("modprobe -q fuse") || (mkdir("/run/stallfs", 0755) && errno != EEXIST))
		return false;
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
	if (fd < 0 || mount("stallfs", "/run/stallfs", "fuse", 0, options))
		return false;
	fflush(stdout);
	server = fork();
	if (!server)
		serve(fd, stalled);
	close(fd);
	return server > 0;
}

void stallfs_end(void)
{
	/* with its server the connection ends, and what waits for an answer gets an error */
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	umount2("/run/stallfs", MNT_DETACH);
}
