// SPDX-License-Identifier: GPL-2.0
/*
 * debugged - be a process that is debugged, here by itself, and that keeps no descriptor of the driver: amdgpu can be
 * unloaded.  Prints a line when that is so, and waits for a signal.  Exit status 77: this amdkfd has no debugger.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dbgtrap.h"

int main(void)
{
	struct dbgtrap_runtime_info info;
	struct dbgtrap t = { .enable = { .info = (uintptr_t)&info, .info_size = sizeof(info) } };
	struct dbgtrap_runtime runtime = { .mode = 1 };
	int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC), events[2];
	long r;

	if (fd < 0 || pipe2(events, O_CLOEXEC | O_NONBLOCK)) {
		perror("debugged");
		return 1;
	}
	t.enable.fd = events[1];
	if (ioctl(fd, IOC_RUNTIME_ENABLE, &runtime) && errno == ENOTTY)
		return 77;
	r = dbgtrap(fd, getpid(), TRAP_ENABLE, &t);
	if (r) {
		fprintf(stderr, "debugged: attach: %s\n", strerror((int)-r));
		return 1;
	}
	close(fd);
	puts("debugged");
	fflush(stdout);
	pause();
	return 0;
}
