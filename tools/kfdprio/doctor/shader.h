/* SPDX-License-Identifier: GPL-2.0 */
/* kfdprio doctor --soak: the shader, whose machine code shader/assemble makes of shader/soak.s. */
#ifndef DOCTOR_SHADER_H
#define DOCTOR_SHADER_H

#include <stddef.h>
#include <stdint.h>

#define SHADER_DESCRIPTOR	64	/* bytes of a kernel descriptor */
#define SHADER_CODE_MAX		1024
#define SHADER_GROUP		256	/* work-items of a work-group */
#define SHADER_LDS		1024	/* bytes of LDS of a work-group */

/**
 * struct shader - the shader for some GPUs
 * @target: LLVM's name of what it was assembled for; empty: the end of the array
 * @descriptor: its kernel descriptor, but for the place of the code
 * @code: machine code
 * @code_bytes: of @code
 */
struct shader {
	char target[16];
	unsigned char descriptor[SHADER_DESCRIPTOR];
	unsigned char code[SHADER_CODE_MAX];
	size_t code_bytes;
};

/**
 * struct shader_arguments - as the shader reads them
 * @results: address of the results, 4 bytes each
 * @rounds: how often each work-item counts on, at least 1
 * @seed: of the numbers
 * @mask: work-item n stores its result at place n & @mask
 */
struct shader_arguments {
	uint64_t results;
	uint32_t rounds, seed, mask;
};

/**
 * struct shader_step - what some rounds make of a number: x -> @scale x + @add
 */
struct shader_step {
	uint32_t scale, add;
};

extern const struct shader doctor_shaders[];

const char *shader_target(uint64_t gfx);
const struct shader *shader_find(uint64_t gfx);
void shader_load(const struct shader *s, void *descriptor);
struct shader_step shader_step(uint32_t rounds);
uint32_t shader_result(struct shader_step step, uint32_t item, uint32_t seed);

#endif /* DOCTOR_SHADER_H */
