// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: faults on request, their settings; where they strike is in the other files.
 *
 * A setting is "N" (the N-th occurrence from now fails, once), "N+" (it and all behind it),
 * "always" (1+) or "0" (none). The parameter fault= is a list of NAME[:SETTING][@GPU], the
 * setting being 1 and the GPU all of them when not given.
 */
#include "sim.h"
#include <linux/module.h>
#include <linux/seq_file.h>

static char *fault = "";
module_param(fault, charp, 0444);
MODULE_PARM_DESC(fault, "faults from the start: NAME[:N|:N+|:always][@GPU][,...], the N-th occurrence fails, or all from the N-th on");

#define ALL_GPUS	UINT_MAX

const char * const sim_fault_names[SIM_FAULTS] = {
	[SIM_FAULT_NO_PREEMPT] = "no_preempt",
	[SIM_FAULT_HANG_QUEUE] = "hang_queue",
	[SIM_FAULT_NO_FENCE] = "no_fence",
	[SIM_FAULT_MES_ADD] = "mes_add",
	[SIM_FAULT_MES_REMOVE] = "mes_remove",
	[SIM_FAULT_MES_SUSPEND] = "mes_suspend",
	[SIM_FAULT_MES_RESUME] = "mes_resume",
	[SIM_FAULT_HANG] = "hang",
	[SIM_FAULT_ALLOC_GTT] = "alloc_gtt",
	[SIM_FAULT_ALLOC_RUNLIST] = "alloc_runlist",
	[SIM_FAULT_ALLOC_VRAM] = "alloc_vram",
	[SIM_FAULT_ALLOC_DOORBELL] = "alloc_doorbell",
	[SIM_FAULT_MAP_MEMORY] = "map_memory",
	[SIM_FAULT_VM_FAULT] = "vm_fault",
	[SIM_FAULT_DEVICE_INIT] = "device_init",
	[SIM_FAULT_LOST_IRQ] = "lost_irq",
	[SIM_FAULT_DOORBELLS] = "doorbells",
	[SIM_FAULT_NOTIFIER] = "notifier",
};

/* "N", "N+", "always" or "0"; @len bytes of @s */
static int parse_setting(const char *s, size_t len, u64 *at, bool *on)
{
	char buf[24];

	if (!len || len >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, s, len);
	buf[len] = 0;
	*on = buf[len - 1] == '+';
	if (!strcmp(buf, "always")) {
		*on = true;
		*at = 1;
		return 0;
	}
	if (*on)
		buf[len - 1] = 0;
	/* kstrtou64() takes a sign */
	if (!isdigit(buf[0]) || kstrtou64(buf, 10, at) || (*on && !*at))
		return -EINVAL;
	return 0;
}

static int find_name(const char *s, size_t len)
{
	int f;

	for (f = 0; f < SIM_FAULTS; f++)
		if (strlen(sim_fault_names[f]) == len && !memcmp(sim_fault_names[f], s, len))
			return f;
	return -EINVAL;
}

/* Known names, for messages */
static void complain(const char *what, size_t len, const char *why)
{
	char names[256];
	size_t n = 0;
	int f;

	for (f = 0; f < SIM_FAULTS; f++)
		n += scnprintf(names + n, sizeof(names) - n, "%s%s", f ? " " : "",
			       sim_fault_names[f]);
	pr_err("kfdsim: fault \"%.*s\": %s; NAME[:N|:N+|:always][@GPU] with NAME one of: %s\n",
	       (int)len, what, why, names);
}

struct param {
	int f;
	u64 at;
	bool on;
	unsigned int gpu;
};

/* One element of the parameter. Return: a reason to refuse it, or NULL */
static const char *parse_param(const char *s, size_t len, struct param *p)
{
	const char *end = s + len, *gpu = memchr(s, '@', len), *setting;
	char buf[8];

	*p = (struct param){ .at = 1, .gpu = ALL_GPUS };
	if (gpu) {
		len = end - gpu - 1;
		if (!len || len >= sizeof(buf))
			return "bad GPU";
		memcpy(buf, gpu + 1, len);
		buf[len] = 0;
		if (!isdigit(buf[0]) || kstrtouint(buf, 10, &p->gpu))
			return "bad GPU";
		end = gpu;
	}
	setting = memchr(s, ':', end - s);
	if (setting) {
		if (parse_setting(setting + 1, end - setting - 1, &p->at, &p->on))
			return "bad setting";
		end = setting;
	}
	p->f = find_name(s, end - s);
	return p->f < 0 ? "unknown name" : NULL;
}

/* Walks the parameter; with a GPU, applies what is for it. @s moves on. Return: false at the end */
static bool next_param(const char **s, const char **elem, size_t *len)
{
	if (!**s)
		return false;
	*elem = *s;
	*len = strchrnul(*s, ',') - *s;
	*s += *len + ((*s)[*len] == ',');
	return true;
}

/**
 * sim_fault_check_param - is the module parameter fault= well formed?
 *
 * Return: 0, or -EINVAL after a message that names the known ones
 */
int sim_fault_check_param(void)
{
	const char *s = fault, *elem, *why;
	struct param p;
	size_t len;

	while (next_param(&s, &elem, &len)) {
		why = parse_param(elem, len, &p);
		if (why) {
			complain(elem, len, why);
			return -EINVAL;
		}
	}
	return 0;
}

/**
 * sim_fault_init - the settings that a GPU starts with, from the module parameter
 * @g: the GPU; its index is set
 */
void sim_fault_init(struct sim_gpu *g)
{
	const char *s = fault, *elem;
	struct param p;
	size_t len;
	int f;

	spin_lock_init(&g->fault_lock);
	for (f = 0; f < SIM_FAULTS; f++)
		g->faults[f].g = g;
	while (next_param(&s, &elem, &len)) {
		if (parse_param(elem, len, &p) || (p.gpu != ALL_GPUS && p.gpu != g->index))
			continue;
		g->faults[p.f].at = p.at;
		g->faults[p.f].on = p.on;
	}
}

/**
 * sim_fault_set - change a setting
 * @g: the GPU
 * @f: the fault
 * @text: a setting; no_preempt and hang_queue also: "pid N"
 *
 * Return: 0, or -EINVAL after a message
 */
int sim_fault_set(struct sim_gpu *g, enum sim_fault f, const char *text)
{
	struct sim_fault_point new = {}, *p = &g->faults[f];
	size_t len = strlen(text);

	if ((f == SIM_FAULT_NO_PREEMPT || f == SIM_FAULT_HANG_QUEUE) && !strncmp(text, "pid ", 4)) {
		if (kstrtoint(text + 4, 10, &new.pid) || new.pid <= 0) {
			complain(text, len, "bad pid");
			return -EINVAL;
		}
	} else if (parse_setting(text, len, &new.at, &new.on)) {
		complain(text, len, "bad setting");
		return -EINVAL;
	}
	spin_lock_irq(&g->fault_lock);
	p->at = new.at;
	p->on = new.on;
	p->pid = new.pid;
	p->seen = 0;
	spin_unlock_irq(&g->fault_lock);
	return 0;
}

/**
 * sim_fault_show - print a setting
 * @g: the GPU
 * @f: the fault
 * @m: where
 */
void sim_fault_show(struct sim_gpu *g, enum sim_fault f, struct seq_file *m)
{
	struct sim_fault_point p;

	spin_lock_irq(&g->fault_lock);
	p = g->faults[f];
	spin_unlock_irq(&g->fault_lock);
	if (p.pid)
		seq_printf(m, "pid %d", p.pid);
	else
		seq_printf(m, "%llu%s", p.at, p.on ? "+" : "");
	seq_printf(m, " seen %llu struck %llu\n", p.seen, p.struck);
}

/**
 * sim_fault_clear - what was asked for is over
 * @g: the GPU
 * @f: the fault
 */
void sim_fault_clear(struct sim_gpu *g, enum sim_fault f)
{
	unsigned long flags;

	spin_lock_irqsave(&g->fault_lock, flags);
	g->faults[f].at = 0;
	g->faults[f].on = false;
	g->faults[f].pid = 0;
	spin_unlock_irqrestore(&g->fault_lock, flags);
}

/**
 * sim_fault - something that can fail happens
 * @g: the GPU
 * @f: what
 *
 * Any context. Return: shall it fail?
 */
bool sim_fault(struct sim_gpu *g, enum sim_fault f)
{
	struct sim_fault_point *p = &g->faults[f];
	unsigned long flags;
	bool strike;

	spin_lock_irqsave(&g->fault_lock, flags);
	p->seen++;
	strike = p->at == 1;
	if (p->at > 1 || (strike && !p->on))
		p->at--;
	p->struck += strike;
	spin_unlock_irqrestore(&g->fault_lock, flags);
	if (strike)
		dev_info_ratelimited(g->adev.dev, "kfdsim: %s, as asked for\n", sim_fault_names[f]);
	return strike;
}

/**
 * sim_fault_pid - something that can fail happens to a process
 * @g: the GPU
 * @f: what
 * @pid: the process, in the initial PID namespace
 *
 * Return: shall it fail because of who the process is?
 */
bool sim_fault_pid(struct sim_gpu *g, enum sim_fault f, pid_t pid)
{
	struct sim_fault_point *p = &g->faults[f];
	unsigned long flags;
	bool strike;

	spin_lock_irqsave(&g->fault_lock, flags);
	strike = p->pid && p->pid == pid;
	p->struck += strike;
	spin_unlock_irqrestore(&g->fault_lock, flags);
	return strike;
}
