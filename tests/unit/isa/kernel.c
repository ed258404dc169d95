// SPDX-License-Identifier: GPL-2.0
/* Kernels are compiled by clang, loaded from its object files, and executed in memory that is the host's. */
#include <elf.h>
#include <unistd.h>
#include "kernel.h"

#define SOURCE	"kernel/kernels.c"
#define HIP_SOURCE	"kernel/kernels.hip"

static u8 *contents(const char *path, size_t *bytes)
{
	FILE *f = fopen(path, "r");
	u8 *file;

	if (!f)
		return NULL;
	file = calloc(1, 1 << 20);
	assert_non_null(file);
	*bytes = fread(file, 1, 1 << 20, f);
	fclose(f);
	return file;
}

/* Run a compiler, which writes @dir/o and @dir/log; the directory goes */
static u8 *object(const char *command, const char *dir, size_t *bytes)
{
	char path[64], rest[256];
	u8 *file;

	if (system(command)) {
		snprintf(rest, sizeof(rest), "cat %s/log >&2; rm -rf %s", dir, dir);
		assert_int_equal(system(rest), 0);
		fail_msg("the kernels cannot be compiled: %s", command);
	}
	snprintf(path, sizeof(path), "%s/o", dir);
	file = contents(path, bytes);
	snprintf(rest, sizeof(rest), "rm -rf %s", dir);
	assert_int_equal(system(rest), 0);
	assert_non_null(file);
	return file;
}

/**
 * compile_hip - compile the kernels in HIP, for gfx90a
 * @options: of hipcc
 * @bytes: gets the length of the object file
 *
 * Return: the object file, to be freed; or NULL: there is no hipcc.
 */
u8 *compile_hip(const char *options, size_t *bytes)
{
	char dir[] = "/tmp/isa-XXXXXX", command[512];

	if (system("command -v hipcc >/dev/null"))
		return NULL;
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 "HIP_PLATFORM=amd hipcc --offload-arch=gfx90a %s --cuda-device-only --no-gpu-bundle-output "
		 "-c -o %s/o %s >%s/log 2>&1",
		 options, dir, HIP_SOURCE, dir);
	return object(command, dir, bytes);
}

/**
 * compile - compile the kernels
 * @t: for this target
 * @options: of clang
 * @bytes: gets the length of the object file
 * @error: gets the reason, if there is none
 *
 * A clang that does not know the target makes bitcode, and llc of a later LLVM the code.
 *
 * Return: the object file, to be freed; or NULL.
 */
u8 *compile(enum isa_target t, const char *options, size_t *bytes, const char **error)
{
	char clang[256], llc[256], dir[] = "/tmp/isa-XXXXXX", command[2048];
	/* clang before 17 has the instructions of gfx942 as gfx940 */
	bool old = t == ISA_GFX942 && !llvm("clang", gpus[t].llvm, clang, sizeof(clang));
	bool direct = llvm("clang", old ? 14 : gpus[t].llvm, clang, sizeof(clang));

	*error = NULL;
	if (!direct && (!llvm("clang", 14, clang, sizeof(clang)) || !llvm("llc", gpus[t].llvm, llc, sizeof(llc)))) {
		*error = "no clang, or none and no llc that know the target";
		return NULL;
	}
	assert_non_null(mkdtemp(dir));
	if (direct)
		snprintf(command, sizeof(command),
			 "%s -target amdgcn-amd-amdhsa -mcpu=%s -nogpulib %s -c -o %s/o %s 2>%s/log", clang,
			 old ? "gfx940" : gpus[t].name, options, dir, SOURCE, dir);
	else
		snprintf(command, sizeof(command),
			 "%s -target amdgcn-amd-amdhsa -mcpu=%s -nogpulib %s -emit-llvm -c -o %s/bc %s 2>%s/log && "
			 "%s -mcpu=%s -filetype=obj -o %s/o %s/bc 2>>%s/log", clang,
			 t < ISA_GFX1010 ? "gfx90a" : "gfx1030", options, dir, SOURCE, dir, llc, gpus[t].name, dir,
			 dir, dir);
	return object(command, dir, bytes);
}

struct arena arena __attribute__((aligned(ISA_PAGE)));
void (*kernel_message)(void *ctx, u32 data);

static void *page(void *ctx, u64 va, enum isa_access access)
{
	u64 at = va - (uintptr_t)&arena;

	(void)ctx;
	if (at >= sizeof(arena) || (access == ISA_WRITE && at < offsetof(struct arena, out)))
		return NULL;
	return (u8 *)&arena + at;
}

/* Its code is scanned; false: refused */
static bool prepare(struct kernel *k, u64 entry, struct isa_why *why)
{
	if (!isa_scan(&k->prog, k->t, isa_lanes(k->t, &k->d), &k->mem, entry, why))
		return false;
	k->d.dims = 1;
	k->d.size[0] = 256;
	why->reason = isa_check(&k->prog, &k->d);
	return !why->reason;
}

/**
 * load - prepare a kernel
 * @t: its target
 * @object: the object file
 * @bytes: its length
 * @name: of the kernel
 * @why: gets the reason if it is refused
 *
 * Return: the kernel, to be freed; NULL: refused.
 */
struct kernel *load(enum isa_target t, const u8 *object, size_t bytes, const char *name,
		    struct isa_why *why)
{
	u8 *file = arena.code;
	const Elf64_Ehdr *e = (void *)file;
	const Elf64_Shdr *sh;
	struct kernel *k = calloc(1, sizeof(*k));
	const Elf64_Sym *sym;
	char descriptor[64];
	const char *names;
	size_t i, n;
	u64 entry = 0;

	assert_non_null(k);
	assert_true(bytes <= sizeof(arena.code));
	memcpy(file, object, bytes);
	sh = (void *)(file + e->e_shoff);
	k->t = t;
	k->mem.page = page;
	snprintf(descriptor, sizeof(descriptor), "%s.kd", name);
	for (i = 0; i < e->e_shnum && sh[i].sh_type != SHT_SYMTAB; i++)
		;
	assert_true(i < e->e_shnum);
	sym = (void *)(file + sh[i].sh_offset);
	n = sh[i].sh_size / sizeof(*sym);
	names = (char *)file + sh[sh[i].sh_link].sh_offset;
	for (i = 0; i < n; i++) {
		u32 section = sym[i].st_shndx < e->e_shnum ? sym[i].st_shndx : 0;
		u8 *at = file + sh[section].sh_offset + sym[i].st_value - sh[section].sh_addr;

		if (!strcmp(names + sym[i].st_name, name))
			entry = (uintptr_t)at;
		if (!strcmp(names + sym[i].st_name, descriptor))
			memcpy(k->d.descriptor, at, ISA_DESCRIPTOR);
	}
	assert_true(entry != 0);
	if (prepare(k, entry, why))
		return k;
	free(k);
	return NULL;
}

/**
 * load_raw - prepare a kernel that is no object file
 * @t: its target
 * @code: its code
 * @bytes: of it
 * @descriptor: its descriptor
 *
 * Return: the kernel, to be freed.
 */
struct kernel *load_raw(enum isa_target t, const u8 *code, size_t bytes, const u8 *descriptor)
{
	struct kernel *k = calloc(1, sizeof(*k));
	struct isa_why why;

	assert_non_null(k);
	k->t = t;
	k->mem.page = page;
	memcpy(k->d.descriptor, descriptor, ISA_DESCRIPTOR);
	memcpy(arena.code, code, bytes);
	assert_true(prepare(k, (uintptr_t)arena.code, &why));
	return k;
}

/* As the runtime describes it. A slot that is too small lets waves, or lanes, write to each other's */
static void scratch(struct kernel *k)
{
	struct isa_scratch *s = &k->d.scratch;
	u32 bytes, slots;

	if (!isa_scratch_bytes(&k->d, &bytes))
		return;
	s->base = (uintptr_t)arena.scratch;
	s->wave_bytes = (bytes * k->prog.lanes + 1023) & ~1023u;
	s->first = 2;
	slots = sizeof(arena.scratch) / s->wave_bytes;
	assert_true(s->first + 256 / k->prog.lanes <= slots);
	s->rsrc[0] = (u32)s->base;
	s->rsrc[1] = (u32)(s->base >> 32) | 1u << 31;
	s->rsrc[2] = sizeof(arena.scratch);
	s->rsrc[3] = 1 << 23 | (isa_generation(k->t) ? 2u << 28 : 4 << 15 | 1 << 19 | 3 << 21);
}

/**
 * run_kernel - execute a kernel
 * @k: the kernel
 * @groups: its work-groups
 * @n: the last of its arguments; 0: arena.args are there
 * @pause: called after some instructions; may be NULL
 *
 * Return: instructions executed, 0: a wave has stopped.
 */
u64 run_kernel(struct kernel *k, u32 groups, u32 n,
	       void (*pause)(struct isa_group *g, const struct isa_dispatch *d, const u32 *id, void *space))
{
	static struct isa_group g;
	u32 id[3] = { 0 }, done, i;
	u64 count = 0;
	void *space;

	k->d.grid[0] = groups * 256;
	if (n)
		arena.args = (struct arguments){ arena.a, arena.b, arena.out, n };
	arena.packet[1] = 1 << 16 | 256;
	arena.packet[2] = 1;
	arena.packet[3] = k->d.grid[0];
	k->d.packet = (uintptr_t)arena.packet;
	k->d.kernarg = (uintptr_t)&arena.args;
	isa_memory_forget(&k->mem);
	scratch(k);
	isa_group_init(&g, &k->prog, &k->mem, &k->d);
	g.shared_base = SHARED_BASE;
	g.private_base = PRIVATE_BASE;
	g.message = kernel_message;
	space = malloc(isa_group_bytes(&g));
	assert_non_null(space);
	for (id[0] = 0; id[0] < groups; id[0]++) {
		isa_group_start(&g, &k->d, id, space);
		for (i = 0; !isa_group_ended(&g); i++) {
			done = isa_group_run(&g, pause ? 1 + rnd(300) : ~0u);
			count += done;
			if (isa_group_stopped(&g)) {
				free(space);
				return 0;
			}
			assert_true((done || isa_group_ended(&g)) && i < 1000000);
			if (pause)
				pause(&g, &k->d, id, space);
		}
	}
	free(space);
	return count;
}
