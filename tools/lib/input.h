/* SPDX-License-Identifier: GPL-2.0 */
/* Files that another user may have made or replaced. */
#ifndef INPUT_H
#define INPUT_H

#include <stddef.h>

int input_open(const char *path);
int input_read(int fd, size_t max, char **text, size_t *size);

#endif /* INPUT_H */
