/* SPDX-License-Identifier: GPL-2.0 */
/* kernel.h has what stands for the trace events */
