# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# tests/demo/lib.sh - runs in the VM, of the demos: phases that are measured. Sets $out, where logs are
#
# With --icount an idle guest's time goes on while the host answers a request of 9p, as long as that takes, so that a
# measured phase must make no such request. Logs are in the guest's memory until the end, the files that the programs
# map are read before the first phase, and no loop waits for a number of guest seconds. The requests of a phase are counted.
out=/dev/shm/demo
# shellcheck disable=SC2034 # for who sources it
bin=$(readlink -f "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..")/build/tests/bin
tracing=/sys/kernel/tracing
p9=$tracing/instances/p9
secs=${DEMO_SECS:-3}
mkdir -p "$out"

# Built in, all that a phase runs: to start a program is to open files of the host's
mkfifo /dev/shm/demo-pause
exec {paused}<>/dev/shm/demo-pause
pause() { read -rt "$1" -u $paused || :; }
now() { # ms
	local up
	read -r up _ </proc/uptime
	echo $((10#${up/./} * 10))
}
# Loops that wait for a program of the demo start no other program: on a loaded host the requests of that for files would
# delay the one that the loop waits for.
# lines FILE: how many it has
lines() {
	local have=()
	[ ! -e "$1" ] || mapfile -t have <"$1"
	echo ${#have[@]}
}
# the run's limit, which is the host's time, ends a wait for a program that never is
wait_ready() { # FILE PID
	until [[ -e $1 && $(<"$1") == *ready* ]]; do
		kill -0 "$2" || { cat "$1"; return 1; }
		pause 0.1
	done
}
# in_memory PID...: each file that they map
in_memory() {
	local pid
	for pid; do
		awk '$6 ~ "^/" && $6 !~ "^/(dev|memfd|SYSV)" { print $6 }' "/proc/$pid/maps"
	done | sort -u | while read -r file; do
		[ ! -f "$file" ] || cat "$file" >/dev/null
	done
}
requests() {
	local kept lost
	{
		read -r _ kept
		read -r _ lost
	} <"$p9/per_cpu/cpu0/stats"
	echo $((kept + lost))
}
# phase NAME: a line "NAME FROM TO REQUESTS" in phases.txt, ms of uptime, requests of 9p
phase() {
	local from before
	before=$(requests)
	from=$(now)
	pause "$secs"
	echo "$1 $from $(now) $(($(requests) - before))" >>"$out/phases.txt"
}
# trace_kfd: the events of KFD, and in another buffer the requests of 9p
trace_kfd() {
	echo 8192 >$tracing/buffer_size_kb
	echo mono >$tracing/trace_clock
	echo 1 >$tracing/events/kfd/enable
	mkdir "$p9"
	echo 1 >"$p9/events/9p/9p_client_req/enable"
}
