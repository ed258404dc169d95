/* SPDX-License-Identifier: GPL-2.0 */
/* Common parts of the unit tests of instructions that reach memory or LDS; they are in test-memory.c */
#ifndef TEST_ISA_MEMORY_H
#define TEST_ISA_MEMORY_H

#include "fixture.h"

#define VA	0x7f0000400000ULL
#define PAGES	3
#define BYTES	(PAGES * ISA_PAGE)

#define ADDR	2
#define DATA	8
#define DST	16

extern struct test_memory {
	u8 data[BYTES], shadow[BYTES];
	bool gone[PAGES], readonly[PAGES];
	struct isa_memory mem;
} m;

/* How a row is to be understood, by its name on GFX9 */
struct access {
	u32 bytes;		/* of one lane */
	bool store, is_signed, atomic;
	char kind[16];
};

void fresh(void);
void model(const struct access *a, u8 *at, const u32 *data, u32 *got);

#endif
