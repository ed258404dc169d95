// SPDX-License-Identifier: GPL-2.0
/* What the unit tests of tests/sim/isa share. */
#include <glob.h>
#include "fixture.h"

const struct gpu gpus[ISA_TARGETS] = {
	[ISA_GFX900] = { "gfx900", 14 }, [ISA_GFX90A] = { "gfx90a", 14 },
	[ISA_GFX942] = { "gfx942", 17 }, [ISA_GFX1010] = { "gfx1010", 14 },
	[ISA_GFX1030] = { "gfx1030", 14 }, [ISA_GFX1100] = { "gfx1100", 15 },
};

static u64 state = 1;

/**
 * rnd32 - 32 random bits; the same in each run
 */
u32 rnd32(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(state >> 32);
}

/**
 * rnd - a random number
 * @n: it is below this
 */
u32 rnd(u32 n)
{
	return (u32)((u64)rnd32() * n >> 32);
}

/**
 * option - a number in the environment
 * @name: of the variable
 * @otherwise: if it is not set
 */
u32 option(const char *name, u32 otherwise)
{
	const char *text = getenv(name);

	return text ? (u32)strtoul(text, NULL, 0) : otherwise;
}

/**
 * llvm - the newest of LLVM's programs
 * @tool: its name
 * @version: LLVM's version at least
 * @path: gets the path
 * @n: size of @path
 */
bool llvm(const char *tool, int version, char *path, size_t n)
{
	const char *dir = getenv("ISA_LLVM");
	int best = version - 1, v;
	size_t i;
	glob_t g;
	char pattern[256];

	if (dir) {
		snprintf(path, n, "%s/%s", dir, tool);
		return true;
	}
	snprintf(pattern, sizeof(pattern), "/usr/lib/llvm-*/bin/%s", tool);
	if (glob(pattern, 0, NULL, &g))
		return false;
	for (i = 0; i < g.gl_pathc; i++)
		if (sscanf(g.gl_pathv[i], "/usr/lib/llvm-%d", &v) == 1 && v > best) {
			best = v;
			snprintf(path, n, "%s", g.gl_pathv[i]);
		}
	globfree(&g);
	return best >= version;
}

/**
 * interesting - a number at whose like mistakes show
 */
u64 interesting(void)
{
	switch (rnd(8)) {
	case 0:
		return rnd(70);
	case 1:
		return ~(u64)rnd(20);
	case 2:
		return 1ULL << rnd(64);
	case 3:
		return (1ULL << rnd(64)) - 1;
	case 4:
		return 0x8000000080000000ULL + rnd(3) - 1;
	default:
		return rnd32() | (u64)rnd32() << 32;
	}
}

static struct isa_program program;
static struct isa_group one;

/**
 * machine - a group of one wave that executes one instruction
 * @lanes: of the wave
 * @insn: the instruction
 *
 * Return: the wave, in whose registers there is something.
 */
struct isa_wave *machine(u32 lanes, const struct isa_insn *insn)
{
	static u32 space[TEST_VGPRS * ISA_LANES + TEST_LDS / 4];
	struct isa_wave *w = &one.wave[0];
	u32 i;

	program.target = lanes == 64 ? ISA_GFX90A : ISA_GFX1030;
	program.lanes = lanes;
	program.entry = ENTRY_VA;
	program.dwords = 8;
	one.prog = &program;
	one.lanes = lanes;
	one.nwaves = 1;
	one.vgprs = TEST_VGPRS;
	one.denormals = true;
	one.shared_base = SHARED_BASE;
	one.lds = (u8 *)&space[TEST_VGPRS * ISA_LANES];
	one.lds_bytes = TEST_LDS;
	memset(w, 0, sizeof(*w));
	w->v = space;
	memset(&w->s[ISA_EXEC], 0xff, 8);
	for (i = 0; i < TEST_VGPRS * lanes; i++)
		space[i] = rnd32();
	reload(insn);
	return w;
}

/**
 * machine_target - whose instructions the wave of machine() executes
 * @t: the target
 */
void machine_target(enum isa_target t)
{
	program.target = t;
}

/**
 * group - the group of machine()
 */
struct isa_group *group(void)
{
	return &one;
}

/**
 * reload - the wave is before the instruction
 * @insn: the instruction, of VOPD both halves
 */
void reload(const struct isa_insn *insn)
{
	program.insn[0] = *insn;
	if (insn->format == ISA_VOPD)
		program.insn[1] = insn[1];
	one.wave[0].pc = 0;
	one.wave[0].state = ISA_RUNS;
	one.turn = 0;
	one.turn_left = ISA_TURN;
}

/**
 * vgpr - the lanes of a vector register of the wave
 * @n: which
 */
u32 *vgpr(u32 n)
{
	return one.wave[0].v + n * one.lanes;
}

/**
 * step - execute the instruction
 */
void step(void)
{
	assert_int_equal(isa_group_run(&one, 1), 1);
}
