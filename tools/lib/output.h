/* SPDX-License-Identifier: GPL-2.0 */
/* Files that hold what not every user may know: command lines, the kernel's log. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "kfdlib.h"

int output_private(const char *path, char *why);
int output_inherited(const char *path);
int output_device(const char *path, char *why);
int output_own(int fd);

#endif /* OUTPUT_H */
