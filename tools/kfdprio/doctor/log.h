/* SPDX-License-Identifier: GPL-2.0 */
/* kfdprio doctor: what the kernel says of amdgpu while something is tested */
#ifndef DOCTOR_LOG_H
#define DOCTOR_LOG_H

#include <stdbool.h>
#include <stddef.h>

int kernel_log_open(void);
bool kernel_log_report(int fd, char *text, size_t size);
bool message_is_ours(const char *line);
void message_anonymize(char *line);

#endif /* DOCTOR_LOG_H */
