// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the names of the compile probes that succeeded, for modinfo. kfd_prio_probes.sh runs the
 * compiler with the flags of this file.
 */
#include <linux/module.h>
#include "kfd_prio_probes.h"

MODULE_INFO(kfdprio_probes, KFD_PRIO_PROBES);
