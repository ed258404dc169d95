// SPDX-License-Identifier: GPL-2.0
/* Files that another user may have made or replaced; see input.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"

/**
 * input_open() - open a regular file for reading
 * @path: the file, also through a symbolic link
 *
 * The open of a FIFO without a writer does not wait, and the type is that of the file that was opened, not of a file
 * that had the name before.
 *
 * Return: the descriptor, or -errno; -EINVAL: it is not a regular file.
 */
int input_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), ret = 0;
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		ret = -errno;
	else if (!S_ISREG(status.st_mode))
		ret = -EINVAL;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/**
 * input_read() - read a descriptor to its end
 * @fd: the descriptor
 * @max: bytes at most, whatever size the file has or had
 * @text: out, also on failure: to be freed with free(3)
 * @size: out: bytes of @text
 *
 * Return: 0 or -errno; -EFBIG: there are more than @max bytes.
 */
int input_read(int fd, size_t max, char **text, size_t *size)
{
	size_t room = 0;
	ssize_t got = 1;
	char *more;

	*text = NULL;
	*size = 0;
	while (got > 0 && *size <= max) {
		if (*size == room) {
			room = room ? 2 * room : 16384;
			more = realloc(*text, room);
			if (!more)
				return -ENOMEM;
			*text = more;
		}
		got = read(fd, *text + *size, room - *size);
		if (got > 0)
			*size += got;
	}
	if (got < 0)
		return -errno;
	return *size > max ? -EFBIG : 0;
}
