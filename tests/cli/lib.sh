# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # the tests use what is set here
# What the tests under tests/cli/ are written in; sourced by tests/cli/run in an
# empty directory.  The output is a transcript:
#
#	"$ " and the command
#	what it wrote to stdout
#	"! " and each line that it wrote to stderr
#	"= " and its exit status, if not 0

kids=
: >names
: >clean
trap 'for pid in $kids; do kill -9 "$pid" 2>/dev/null || :; done' EXIT

# Numbers that differ from run to run, and the words to show in their place.
named() { # PID WORD
	printf 's/\\b%s\\b/%s/g\n' "$1" "$2" >>names
}

# Further sed commands for what may differ.
cleaned() { # SED-COMMAND
	printf '%s\n' "$1" >>clean
}

transcribe() {
	sed -e 's/[[:cntrl:]]/?/g' -f names -f clean "$@"
}

# Runs a command and prints the transcript.
t() {
	printf '$ %s\n' "$*" | transcribe
	t_status=0
	"$@" >t.out 2>t.err || t_status=$?
	transcribe t.out
	transcribe t.err | sed 's/^/! /'
	[ $t_status -eq 0 ] || echo "= $t_status"
	schema_check "$*"
}

# JSON of kfdprio must be as its schema says; silent if it is, or if there is no python3-jsonschema.
schema_check() { # COMMAND AND ARGUMENTS
	[ "$(head -c 1 t.out)" = "{" ] || return 0
	case $1 in
	*--mqds*) schema=kfdprio-mqds ;;
	*--power*) schema=kfdprio-power ;;
	*doctor*) schema=kfdprio-doctor ;;
	"kfdprio rules"*) schema=kfdprio-rules ;;
	*--groups*) schema=kfdprio-groups ;;
	*kfdprio*) schema=kfdprio-list ;;
	*) return 0 ;;
	esac
	! python3 -c 'import jsonschema' 2>/dev/null || "$TOP/tests/schema/validate" $schema t.out
}

# The same for output whose column widths differ.
squeezed() {
	"$@" | tr -s ' ' | sed 's/^ //'
}

skip() {
	echo "$*" >&2
	exit 77
}

# A sleeping process, $child; further arguments are put before it.
sleeper() { # WORD [COMMAND...]
	word=$1
	shift
	"$@" sleep 1000 >/dev/null 2>&1 &
	child=$!
	kids="$kids $child"
	named "$child" "$word"
	# setpriv and friends become sleep in time.
	wait_for grep -qsx sleep "/proc/$child/comm"
}

# Waits up to ten seconds until a command succeeds.
wait_for() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		if [ $tries -ge 100 ]; then
			echo "waited in vain for: $*" >&2
			exit 1
		fi
		sleep 0.1
	done
}

# A process with a second thread, $child, and that thread, $thread.
threaded() {
	python3 -c '
import threading, time
def body():
	print(threading.get_native_id(), file=open("thread.new", "w"), flush=True)
	__import__("os").rename("thread.new", "thread")
	time.sleep(1000)
threading.Thread(target=body).start()
' &
	child=$!
	kids="$kids $child"
	wait_for test -s thread
	thread=$(cat thread)
	named "$child" PROCESS
	named "$thread" THREAD
}

# A process that has ended and that nobody collects, $zombie.
zombie() {
	# it ends when its parent is no shell any more, which would take note of the end
	# shellcheck disable=SC2016
	sh -c 'until [ "$(cat /proc/$$/comm)" = sleep ]; do :; done & echo $! >zombie; exec sleep 1000' &
	kids="$kids $!"
	wait_for test -s zombie
	zombie=$(cat zombie)
	named "$zombie" ZOMBIE
	wait_for grep -q '^State:.Z' "/proc/$zombie/status"
}

# A number that is no process, $nobody.
no_process() {
	sleep 0 &
	nobody=$!
	wait "$nobody"
	named "$nobody" GONE
}

# A process of another user, $other, called OTHER.
other_user() {
	if [ "$(id -u)" -eq 0 ]; then
		command -v setpriv >/dev/null || skip "setpriv is not installed (util-linux)"
		sleeper CHILD setpriv --reuid=65534 --regid=65534 --clear-groups
		other=$child
		cleaned "s/'nobody'/'OTHER'/"
	else
		other=1
		cleaned "s/'root'/'OTHER'/; s/process 1:/process CHILD:/; s/-p 1$/-p CHILD/"
	fi
}

# A process that has /dev/kfd open as a program of ROCm has, $child.
kfd_user() { # WORD
	rm -f opened
	# Waits without a child, which would keep the file open when this one is killed.
	[ -p never ] || mkfifo never
	sh -c 'exec 3<>/dev/kfd; echo $$ >opened; read -r line <never' >/dev/null 2>&1 &
	child=$!
	kids="$kids $child"
	named "$child" "$1"
	wait_for test -s opened
}

# With the driver of text files: an empty one.
fake_reset() {
	FAKE_KFD=$PWD/fake
	export FAKE_KFD
	rm -rf "$FAKE_KFD"
	mkdir "$FAKE_KFD"
}

# What that driver was told to set since it was asked last.
changes() {
	if [ ! -e fake/set.log ] && [ ! -e fake/share.log ]; then
		echo "changed: nothing"
	fi
	for log in fake/share.log fake/set.log; do
		[ -e $log ] || continue
		transcribe $log | sed 's/^/changed: /'
		rm $log
	done
}

# Puts processes into a cgroup of that driver's system.
fake_cgroup() { # PATH PID...
	path=$1
	shift
	mkdir -p "fake/root/sys/fs/cgroup$path"
	: >fake/root/sys/fs/cgroup/cgroup.controllers
	for pid; do
		echo "$pid" >>"fake/root/sys/fs/cgroup$path/cgroup.procs"
		mkdir -p "fake/root/proc/$pid"
		echo "0::$path" >"fake/root/proc/$pid/cgroup"
	done
}

# A file of rules, from standard input, below what kfdprio takes for /.
fake_rules() { # PATH
	mkdir -p "fake/root$(dirname "$1")"
	cat >"fake/root$1"
}

# That driver's GPUs: a CPU node, one MI210, one of another PCI domain.
fake_gpus() {
	mkdir -p fake/nodes/0 fake/nodes/1 fake/nodes/2
	echo 0 >fake/nodes/0/gpu_id
	echo 26544 >fake/nodes/1/gpu_id
	echo aldebaran >fake/nodes/1/name
	printf 'cpu_cores_count 0\nlocation_id 768\ndomain 0\n' >fake/nodes/1/properties
	echo 41823 >fake/nodes/2/gpu_id
	echo navi31 >fake/nodes/2/name
	printf 'location_id 33025\ndomain 65536\n' >fake/nodes/2/properties
}
fake_reset
