/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests of tests/sim/isa share. */
#ifndef ISA_FIXTURE_H
#define ISA_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa.h"

/**
 * struct gpu - a target as LLVM knows it
 * @name: LLVM's name
 * @llvm: the first version that knows it
 */
struct gpu {
	const char *name;
	int llvm;
};

extern const struct gpu gpus[ISA_TARGETS];

u32 rnd(u32 n);
u32 rnd32(void);
u32 option(const char *name, u32 otherwise);
bool llvm(const char *tool, int version, char *path, size_t n);
void instance(enum isa_target t, const struct isa_row *row, enum isa_format form, u32 w[4]);
void disassemble(enum isa_target t, u32 lanes, const struct isa_insn *insn, char *text, size_t n);

#define ENTRY_VA	0x100000ULL	/* of a program */
#define SHARED_BASE	0x10000u	/* upper half of the addresses of LDS */
#define PRIVATE_BASE	0x20000u	/* of those of scratch memory */
#define TEST_VGPRS	64
#define TEST_LDS	4096

u64 interesting(void);
struct isa_wave *machine(u32 lanes, const struct isa_insn *insn);
void machine_target(enum isa_target t);
struct isa_group *group(void);
void reload(const struct isa_insn *insn);
u32 *vgpr(u32 n);
void step(void);

/* one function per test-*.c; the number of failures */
int decode_tests(void);
int scalar_tests(void);
int vector_tests(void);
int float_tests(void);
int memory_tests(void);
int lds_tests(void);
int scan_tests(void);
int kernel_tests(void);
int soak_tests(void);
int speed(void);

#endif
