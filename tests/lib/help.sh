# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# tests/lib/help.sh - sourced by a runner before it does anything: -h or --help prints the comment at its top.
case ${1-} in
-h | --help)
	awk 'NR <= 2 || /^# shellcheck/ { next } !/^#/ { exit }
		{ sub(/^# ?/, ""); if (!NF) blank = "\n"; else { printf "%s%s\n", n++ ? blank : "", $0; blank = "" } }' "$0"
	exit 0
	;;
esac
