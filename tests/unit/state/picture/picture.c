// SPDX-License-Identifier: GPL-2.0
/* The table of kfd_prio_state.c as a graph for dot(1), for check-states */
#include <stdio.h>
#include "kfd_prio_state.c"

/* Events between the same two states are one arrow */
static void arrows(int from, int to)
{
	int ev, n = 0;

	for (ev = 0; ev < KFD_PRIO_EVENTS; ev++) {
		const struct kfd_prio_transition *t = &table[from][ev];

		if (!t->expected || t->next != to)
			continue;
		printf(n++ ? "\\n%s" : "\t%2$s -> %3$s [label=\"%1$s", events[ev], states[from], states[to]);
		if (t->act & MARK)
			printf(" / mark");
		if (t->act & AGAIN)
			printf(" / mark if rung");
		if (t->act & RECALL)
			printf(" / not confirmed");
		if (t->act & BACK)
			printf(" / roll back");
		if (t->act & RETRY)
			printf(" / retry later");
		if (t->act & AT_ONCE)
			printf(" / retry at once");
	}
	if (n)
		puts("\"]");
}

int main(void)
{
	int from, to;

	puts("digraph states {\n\tnode [shape=box, fontname=\"sans-serif\", fontsize=11]\n\tedge [fontname=\"sans-serif\", fontsize=9]");
	/* the states that the lock may be released in have a second border */
	for (from = 0; from < KFD_PRIO_STATES; from++)
		if (from == S(OFF) || table[from][KFD_PRIO_EVENT_STOP].expected)
			printf("\t%s [peripheries=2]\n", states[from]);
	for (from = 0; from < KFD_PRIO_STATES; from++)
		for (to = 0; to < KFD_PRIO_STATES; to++)
			/* what changes no state is in the text */
			if (from != to)
				arrows(from, to);
	puts("}");
	return 0;
}
