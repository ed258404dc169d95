// SPDX-License-Identifier: GPL-2.0
#include "fixture.h"

int main(void)
{
	int failed = run_amdlog() + run_events() + run_hist() + run_model() +
		     run_model_many() + run_names() + run_trace() + run_state() + run_stock() + run_throttle();

	return failed != 0;
}
