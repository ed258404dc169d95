/* SPDX-License-Identifier: GPL-2.0 */
/* The host's results of kernels.c, for the tests in user space and those in the VM. */
#ifndef TESTS_ISA_KERNEL_HOST_H
#define TESTS_ISA_KERNEL_HOST_H

#include <stdint.h>

#define TABLE	24	/* dwords that a work-item of "stack" has in scratch memory, twice: kernels.c */

/* "stack" of @n work-items; @a and @b as the kernel gets them, at least 64 values of @b */
static inline void host_stack(const uint32_t *a, const uint32_t *b, uint32_t *w, uint32_t n)
{
	uint32_t i, k, sum, words[TABLE], flat[TABLE];

	for (i = 0; i < n; i++) {
		for (k = 0; k < TABLE; k++) {
			words[k] = a[i] + k * k;
			flat[k] = b[i] ^ k;
		}
		for (k = 0; k < TABLE; k++) {
			words[b[(i + k) & 63] % TABLE] += words[k] ^ i;
			flat[b[(i + k) & 63] % TABLE] += words[k];
		}
		for (sum = k = 0; k < TABLE; k++)
			sum = sum * 31 + words[k] + flat[k];
		w[i] = sum;
	}
}

#endif
