// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of amdgpu, as lines of /proc/kallsyms.  To read that file takes the kernel ten times as long, as it formats
 * all symbols.  Iterator of symbols: since Linux 6.0.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct kallsym_iter {
	unsigned long value;
	char type;
	char name[1];
	char module_name[1];
};

struct bpf_iter__ksym {
	struct bpf_iter_meta *meta;
	struct kallsym_iter *ksym;
};

#pragma clang attribute pop

#define AMDGPU 0x00757067646d61 /* "amdgpu" and its NUL */

SEC("iter/ksym")
int amdgpu(struct bpf_iter__ksym *ctx)
{
	struct kallsym_iter *ksym = ctx->ksym;
	__u64 module = 0;

	if (!ksym)
		return 0;
	bpf_probe_read_kernel(&module, 7, ksym->module_name);
	if (module == AMDGPU)
		BPF_SEQ_PRINTF(ctx->meta->seq, "%lx %c %s\t[amdgpu]\n", ksym->value, ksym->type, ksym->name);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
