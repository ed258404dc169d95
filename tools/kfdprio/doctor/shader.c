// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor --soak: which shader a GPU runs, and what its result must be. */
#include <string.h>

#include "shader.h"

#define CODE_AT		256	/* from the descriptor; code begins at a multiple of this */
#define ENTRY_FIELD	16	/* kernel_code_entry_byte_offset in a kernel descriptor */

/* x -> A x + C, as in shader/soak.s */
#define A		1664525u
#define C		1013904223u

/**
 * shader_target() - the target whose machine code a GPU runs
 * @gfx: gfx_target_version of the topology: major * 10000 + minor * 100 + stepping
 *
 * Return: LLVM's name; NULL if this program knows none.
 */
const char *shader_target(uint64_t gfx)
{
	/* GPUs from the first version to the one before the next line run the code of the target. */
	static const struct {
		uint64_t from;
		const char *target;
	} lines[] = {
		{ 90000, "gfx900" }, { 90010, "gfx90a" }, { 90011, "gfx900" },
		{ 90400, "gfx942" },
		{ 90600, NULL }, { 100100, "gfx1010" }, { 100300, "gfx1030" }, { 110000, "gfx1100" },
		{ 120000, "gfx1201" }, { 120100, NULL },
	};
	const char *target = NULL;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines) && gfx >= lines[i].from; i++)
		target = lines[i].target;
	return target;
}

/**
 * shader_find() - the shader for a GPU
 * @gfx: gfx_target_version of the topology
 *
 * Return: NULL if there is none, or none was assembled when this program was built.
 */
const struct shader *shader_find(uint64_t gfx)
{
	const char *target = shader_target(gfx);
	const struct shader *s;

	for (s = doctor_shaders; target && *s->target; s++)
		if (!strcmp(s->target, target))
			return s;
	return NULL;
}

/**
 * shader_load() - put a shader into memory
 * @s: the shader
 * @descriptor: where to; a multiple of 256, with room for the code 256 bytes behind it
 */
void shader_load(const struct shader *s, void *descriptor)
{
	const uint64_t entry = CODE_AT;

	memcpy(descriptor, s->descriptor, sizeof(s->descriptor));
	memcpy((char *)descriptor + ENTRY_FIELD, &entry, sizeof(entry));
	memcpy((char *)descriptor + CODE_AT, s->code, s->code_bytes);
}

/**
 * shader_step() - all rounds in one
 * @rounds: how many
 */
struct shader_step shader_step(uint32_t rounds)
{
	struct shader_step step = { .scale = 1 }, some = { .scale = A, .add = C };

	/* @some is 1, 2, 4, ... rounds. */
	for (; rounds; rounds >>= 1) {
		if (rounds & 1) {
			step.scale *= some.scale;
			step.add = step.add * some.scale + some.add;
		}
		some.add += some.add * some.scale;
		some.scale *= some.scale;
	}
	return step;
}

/**
 * shader_result() - what a work-item must store
 * @step: of the rounds of the arguments
 * @item: its number in the grid
 * @seed: of the arguments
 */
uint32_t shader_result(struct shader_step step, uint32_t item, uint32_t seed)
{
	uint32_t vector = step.scale * (seed ^ item) + step.add;
	uint32_t scalar = step.scale * seed + step.add;

	return (vector ^ scalar) + (seed ^ item);
}
