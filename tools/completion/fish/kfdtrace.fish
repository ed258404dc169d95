# SPDX-License-Identifier: GPL-2.0
# fish completion for kfdtrace(1): kfdprio.fish beside this file has both
functions -q __kfdprio_offered; or source (status dirname)/kfdprio.fish
