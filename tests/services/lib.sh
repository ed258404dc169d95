# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # root is of guest
# What the tests of services are written in; they run in the VM.  Sourced by guest.
n=0 failed=0
tmp=$(mktemp -d)
journal=(-u kfdpriod)	# shown when a test fails

# check NAME COMMAND...: a test that passes if the command succeeds; what it prints is shown otherwise
check() {
	local name=$1
	shift
	n=$((n + 1))
	if "$@" >"$tmp/check" 2>&1; then
		echo "ok $n - $name"
	else
		failed=1
		echo "not ok $n - $name"
		{ echo "$*"; cat "$tmp/check"; journalctl -b -o cat "${journal[@]}" --no-pager | tail -n 5; } | sed 's/^/# /'
	fi
}

note() { echo "# $*"; }

done_testing() {
	echo "1..$n"
	exit $failed
}

# wait_for COMMAND...: until it succeeds, 20 s at most
wait_for() {
	local i
	# shellcheck disable=SC2034 # counted only
	for i in {1..200}; do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	"$@"
}

main_pid() { systemctl show -P MainPID "$1"; }

# priority UNIT: of its main process; "unset"
priority() { kfdprio -p "$(main_pid "$1")" | sed -n 's/^PID [0-9]*: priority \([0-9a-z]*\).*/\1/p'; }

has() { # UNIT PRIORITY
	local is
	is=$(priority "$1")
	[ "$is" = "$2" ] || { echo "$1 has '$is', not '$2'"; return 1; }
}

gets() { wait_for has "$@"; }

# said PATTERN: a line of the journal of kfdpriod since the last mark
mark() { since=$(journalctl -n 1 --show-cursor -o cat --no-pager | sed -n 's/^-- cursor: //p'); }
said() { journalctl -o cat -u kfdpriod "--after-cursor=$since" --no-pager | grep "$1"; }

# rules LINE...: the rules of the administrator
rules() { printf '%s\n' "$@" >/etc/kfdprio.conf.d/50-test.conf; }

# unit NAME LINE...: a service below [Service]
unit() {
	local name=$1
	shift
	{ echo "[Service]"; printf '%s\n' "$@"; } >"/etc/systemd/system/$name"
}

# opens NAME SLICE: a service whose main process opens KFD after it has read a line from /run/NAME, and stays.
# It must not exec another program: KFD forgets it then.
opens() {
	unit "$1.service" "Slice=$2" "ExecStartPre=-/usr/bin/mkfifo /run/$1" \
		"ExecStart=/bin/sh -c 'read -r line </run/$1; exec 3<>/dev/kfd; while :; do sleep 1000; done'"
}

# json FILE KEY: a number of the line of kfdload
json() { sed -n "s/.*\"latency_us\": {[^}]*\"$2\": \([0-9.]*\).*/\1/p" "$1"; }

at_most() { awk -v a="$1" -v b="$2" 'BEGIN { print a, "of at most", b; exit !(a != "" && a <= b) }'; }
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { print a, "of at least", b; exit !(a != "" && a >= b) }'; }

install_kfdprio() {
	# what is a link to a directory stays one
	tar -C "$root" -cf - . | tar -C / --keep-directory-symlink --no-overwrite-dir -mxf -
	mkdir -p /etc/kfdprio.conf.d
	chmod 666 /dev/kfd
	systemctl daemon-reload
}
