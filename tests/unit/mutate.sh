# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# mutate DIR FILES VAR PROGRAM [-k] [NUMBER...] - can the unit tests in this directory fail?
#
# Makes one plausible mistake after the other in a copy of DIR/FILES (from the top) and requires
# that PROGRAM, built by the Makefile here with VAR set to the copy, notices. Each mistake, in the
# array mutants, is "file|what is wrong|sed script", file a name below DIR, with .c added if it has no suffix; the
# script is applied with sed -z -E so that it may span lines; one that changes nothing is an error. TAP; -k keeps the copies in build/unit/mutate.

# in_time PROGRAM: CPU time, so that a busy machine is not taken for a mutant that hangs
in_time() (
	ulimit -t 60
	exec timeout 600 "$1"
)

mutant() {	# number
	local file what script dir=$mutate_out/$1
	IFS='|' read -r file what _ <<<"${mutants[$1 - 1]}"
	script=${mutants[$1 - 1]#"$file|$what|"}
	[[ $file == *.* ]] || file=$file.c
	rm -rf "$dir"
	mkdir -p "$dir/src"
	# the files are a pattern
	# shellcheck disable=SC2086
	(cd "$mutate_dir" && cp --parents $mutate_files "$dir/src")
	sed -z -E -i "$script" "$dir/src/$file"
	if cmp -s "$dir/src/$file" "$mutate_dir/$file"; then
		echo "not ok $1 - $what: sed finds nothing to change in $file"
	elif ! make -s "$mutate_var=$dir/src" O="$dir" CFLAGS="-O1 -w" all >"$dir/log" 2>&1; then
		echo "not ok $1 - $what: does not build, see $dir/log"
		keep=1
	elif CMOCKA_MESSAGE_OUTPUT=TAP STEPS=${STEPS:-20000} in_time "$dir/$mutate_program" >"$dir/log" 2>&1; then
		echo "not ok $1 - $what: not noticed"
	else
		echo "ok $1 - $what # noticed by $(sed -n 's/^not ok [0-9]* - \(test_\)\?//p' "$dir/log" | head -n 3 | paste -sd, |
			grep . || echo "a crash or the time limit")"
	fi
	[ -n "$keep" ] || rm -rf "$dir"
}

mutate() {
	local top=../../.. keep='' i
	mutate_out=$(readlink -m "$top/build/unit/mutate/$(basename "$PWD")")
	mutate_dir=$top/$1 mutate_files=$2 mutate_var=$3 mutate_program=$4
	shift 4
	[ "${1:-}" = -k ] && { keep=1; shift; }
	mkdir -p "$mutate_out"
	[ $# -gt 0 ] || { i=${#mutants[@]}; eval "set -- {1..$i}"; }
	echo "1..$#"
	for i; do mutant "$i"; done | { status=0; while read -r line; do
		echo "$line"
		[ "${line%% *}" = ok ] || status=1
	done; exit $status; }
}
