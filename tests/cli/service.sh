# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154 # the tests use what is set here; set in lib.sh
# kfdpriod on the driver of text files, with groups of processes (fake-group.c); sourced by tests after lib.sh.
command -v kfdpriod >/dev/null || skip "kfdpriod was not built: libsystemd-dev is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
cleaned "s|$PWD/fake/root||g"
cleaned '/exe= do not match processes whose program cannot be seen/d'
cleaned 's/process [0-9][0-9]* new/process CHILD new/'
mkdir -p fake/root/run
mkfifo fake/notify
: >fake/table
: >fake/gpu-groups
: >fake/gpu-members

# A record of the driver: the process has opened KFD
opened() { # PID [EUID]
	grep -q "^$1 " fake/table || echo "$1 26544 -1 7 1 1 0" >>fake/table
	python3 - "$@" <<'END' >fake/notify
import struct, sys
pid, euid = (list(map(int, sys.argv[1:])) + [0])[:2]
start = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[19])
sys.stdout.buffer.write(struct.pack("<IiQQIIQ", 1, pid, start * 10000000 + 5, 0, euid, 0, pid))
END
}

# Starts the service, $service; what it prints is in the file log.
service_start() { # [COMMAND...]: that executes it
	log_at=0
	: >log
	rm -f fake/share.log
	"$@" kfdpriod -v >log 2>&1 &
	service=$!
	kids="$kids $service"
}

service_end() {
	kill -TERM "$service"
	wait "$service" && echo "ended: $?"
}

new_lines() { tail -n +$((log_at + 1)) log; }

waits_for() { # PATTERN
	wait_for sh -c "tail -n +$((log_at + 1)) log | grep -q '$1'"
}

# What the service has printed since it was asked last, and what it has asked of the driver
told() {
	new_lines | grep -v 'stay as they were\|99-wrong' | transcribe
	log_at=$(wc -l <log)
	[ ! -e fake/share.log ] || transcribe fake/share.log | sed 's/^/	/'
	rm -f fake/share.log
}

wrong_rules() { # COUNT: of such messages since it was asked last
	echo nonsense | fake_rules /etc/kfdprio.conf.d/99-wrong.conf
	kill -HUP "$service"
	wait_for sh -c "[ \$(tail -n +$((log_at + 1)) log | grep -c 'stay as they were') -ge $1 ]"
	rm "$PWD/fake/root/etc/kfdprio.conf.d/99-wrong.conf"
}

# The same, when all that came before is done: rules with an error are not taken, and after the second of these messages records
# that came before the first signal have been read, too.
settled() {
	wrong_rules 1
	wrong_rules 2
	told
}

# The rules are read again
reload() {
	kill -HUP "$service"
	waits_for ' rules* in '
	settled
}

# A group made by a user or by hand: $group
group_made() { # EUID MAX PID
	group=$(($(cat fake/gpu-groups.last 2>/dev/null || echo 0) + 1))
	echo "$group" >fake/gpu-groups.last
	echo "$group 0 $1 0 $2 0 0 0" >>fake/gpu-groups
	echo "$3 $group 0 0" >>fake/gpu-members
}
