// SPDX-License-Identifier: GPL-2.0
/* types BTF... - what record --driver=stock takes from the types of a driver: a line for each file. */
#include <stdio.h>

#include "stock/stock.h"

int main(int argc, char **argv)
{
	struct stock_types types;
	char why[STOCK_WHY];
	int i;

	stock_listen();
	for (i = 1; i < argc; i++)
		if (stock_btf(argv[i], &types, why))
			printf("%s\n", why);
		else
			printf("unmap_has_type %d\n", types.unmap_has_type);
	return 0;
}
