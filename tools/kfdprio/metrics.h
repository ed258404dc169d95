/* SPDX-License-Identifier: GPL-2.0 */
/* The verb kfdprio metrics. */
#ifndef KFDPRIO_METRICS_H
#define KFDPRIO_METRICS_H

int kfdprio_metrics(int argc, char **argv);

#endif /* KFDPRIO_METRICS_H */
