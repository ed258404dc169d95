// SPDX-License-Identifier: GPL-2.0
/*
 * block_reader: a process with a queue of AQL without work.  Who reads the queue's indices in this process's memory, at
 * the addresses of CREATE_QUEUE, waits for a page of userfaultfd that never comes.  Runs until a signal ends it.
 */
#include <err.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/userfaultfd.h>
#include "kfdclient.h"

int main(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct kfdc_queue *q;
	struct kfdc *c;
	void *at;

	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q))
		errx(1, "%s", kfdc_error());
	/* the GPU keeps the page that it has mapped */
	at = mmap(q->ptr_bo.va, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (at == MAP_FAILED)
		err(1, "mmap");
	reg.range.start = (uintptr_t)at;
	reg.range.len = 4096;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		err(1, "userfaultfd");
	for (;;)
		pause();
}
