/* SPDX-License-Identifier: GPL-2.0 */
/* kfdprio oci-hook */
#ifndef KFDPRIO_OCI_HOOK_H
#define KFDPRIO_OCI_HOOK_H

#include "kfdprio.h"

int kfdprio_oci_hook(int argc, char **argv);

#endif /* KFDPRIO_OCI_HOOK_H */
