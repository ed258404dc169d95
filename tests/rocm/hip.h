/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the HIP programs of tests/rocm share. */
#ifndef TESTS_ROCM_HIP_H
#define TESTS_ROCM_HIP_H

#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

/* A call of HIP without which the test cannot go on */
#define MUST(call) do {									\
	hipError_t e_ = (call);								\
	if (e_ != hipSuccess) {								\
		printf("Bail out! %s: %s\n", #call, hipGetErrorString(e_));		\
		exit(1);								\
	}										\
} while (0)

#endif
