# SPDX-License-Identifier: GPL-2.0
# tests/lib/mutants.sh - mutants of code that runs in the VM: a copy of the tree with one answer taken away, in which a test must
# fail. Sourced by tests/preempt/mutate and tests/sim/mutate.
# shellcheck shell=bash disable=SC2154 # variables of the caller: $top, $out, $dir (of the files) and $mutants, each
# "files|what is wrong|test|options|sed script"; its function try TEST OPTION... runs the test in $out

copy() {
	mkdir -p "$out"
	find "$out" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	(cd "$top" && git ls-files -z | tar --null -T - -cf -) | tar -C "$out" -xf -
}

# mutate FILE SCRIPT: from the one in $top to the one in $out; not 0 if it is the same, or sed refuses the script
mutate() {
	sed -z -E "$2" "$top/$dir/$1" >"$out/$dir/$1" &&
		! cmp -s "$top/$dir/$1" "$out/$dir/$1"
}

# what LOG: what the test did not like, nothing if that cannot be told
what() {
	sed -n 's/^not ok [0-9]* - //p; s/^Bail out! //p; s/^tests\/vm\/run: \(the kernel \)/\1/p' "$1" |
		head -n 1
}

work() {	# number
	local files file what test options script log=$out/$1.log noticed began=$SECONDS status=0 arg=()
	IFS='|' read -r files what test options _ <<<"${mutants[$1 - 1]}"
	script=${mutants[$1 - 1]#"$files|$what|$test|$options|"}
	# what the mutant before has changed
	for file in $stale; do cp "$top/$dir/$file" "$out/$dir/"; done
	stale=$files
	for file in $files; do
		mutate "$file" "$script" || {
			echo "not ok $1 - $what: sed does not change $file"
			return
		}
	done
	if [ -n "$dry" ]; then
		echo "ok $1 - $what"
		return
	fi
	read -r -a arg <<<"$options"
	try "$test" "${arg[@]}" >"$log" 2>&1 || status=$?
	noticed=$(what "$log")
	if grep -q 'building the simulated GPU failed' "$log"; then
		echo "not ok $1 - $what: does not build, see $log"
	elif [ $status -eq 0 ]; then
		echo "not ok $1 - $what: $test does not notice"
	elif [ -z "$noticed" ]; then
		echo "not ok $1 - $what: $test did not run to its end, see $log"
	else
		echo "ok $1 - $what # $((SECONDS - began)) s, $noticed"
	fi
}

# run_mutants [-n] [NUMBER...]: all, or these; -n: does each sed script change its files?
run_mutants() {
	local i stale=''
	dry=''
	if [ "${1-}" = -n ]; then
		dry=1
		shift
		out=$(mktemp -d)
		trap 'rm -rf "$out"' EXIT
		mkdir -p "$out/$dir"
	else
		copy
	fi
	[ $# -gt 0 ] || set -- $(seq ${#mutants[@]})
	echo "1..$#"
	for i; do work "$i"; done | { status=0; while read -r line; do
		echo "$line"
		[ "${line%% *}" = ok ] || status=1
	done; exit $status; }
}
