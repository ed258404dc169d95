#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
#
# kfd_prio_hooked.sh STAMP READELF DIR OBJECT... - check that each object refers to each hook at least as often as its
# source in DIR calls it.  The script prints a hook in a branch that is not compiled (#if), and stops the build.
# kfd_prio.mk runs it when all objects with hooks are built.
#
# The compiler may duplicate a call and never drops one, so there may be more references than calls.
set -u
stamp=$1 readelf=$2 dir=$3
shift 3
bad=''
command -v "$readelf" >/dev/null || { echo "kfdprio: $readelf not found: install binutils" >&2; exit 1; }
for object in "$@"; do
	source=${object##*/}
	source=$dir/${source%.o}.c
	"$readelf" -rW "$object" >"$stamp.list" && awk -v source="$source" '
		{
			if (match($0, /kfd_prio_(hook|owns)_[a-z_]*/))
				refers[substr($0, RSTART, RLENGTH)]++
		}
		END {
			while ((getline line <source) > 0)
				while (match(line, /kfd_prio_(hook|owns)_[a-z_]*\(/)) {
					has[substr(line, RSTART, RLENGTH - 1)]++
					line = substr(line, RSTART + RLENGTH)
				}
			for (hook in has)
				if (refers[hook] < has[hook]) {
					file = source
					sub(/.*\//, "", file)
					printf "kfdprio: %s: hook %s was compiled %d times, the source has it %d times: is it in a branch (#if) that is not compiled?\n", \
						file, hook, refers[hook], has[hook]
					bad = 1
				}
			exit bad
		}' "$stamp.list" >&2 || bad=1
done
rm -f "$stamp.list"
[ -z "$bad" ] || exit 1
: >"$stamp"
