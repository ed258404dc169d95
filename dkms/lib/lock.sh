# SPDX-License-Identifier: GPL-2.0
# dkms/lib/lock.sh - one kfdprio-driver at a time: a kernel package's hook and a trigger of ours may run into each other
# shellcheck shell=bash disable=SC2154 # variables of kfdprio-driver

# Only root can open this file: whoever can open a file, for reading too, can hold a lock on it.  uninstall removes it, unless
# another process has it open; one that opened it just then notices that when it has the lock.  The programs that
# kfdprio-driver runs inherit the lock: if it is killed, the next one waits until DKMS has ended as well.
lock_file=/run/kfdprio-driver.lock
lock_seconds=7200

# lock_stat FILE: mode, owner, number of names, device and inode; of a link its own.  "-": of standard input
lock_stat() { stat -c '%f %u %h %d:%i' -- "$1" 2>/dev/null; }
# is_private LOCK_STAT: a regular file of root, mode 0600, with one name
is_private() { [[ $1 == '8180 0 1 '* ]]; }
# is_old LOCK_STAT: the same but for its mode.  Older versions made it 0644, so that every user could lock it
is_old() { [[ $1 == 81??' 0 1 '* ]] && ! is_private "$1"; }

# lock_open FILE: $lock is a descriptor of that file, which is made if it is missing.  bash has no O_NOFOLLOW: the descriptor
# and the name, without following a link, must be one private file.  1: another process replaces the file; 2: it cannot be made
lock_open() {
	local found mask tries=0
	until found=$(lock_stat "$1"); [ -n "$found" ]; do
		# another process may make it as well, and replace or remove it before it is looked at
		[ $((tries++)) -lt 20 ] || return 2
		# with noclobber the file is made with O_EXCL, which follows no link
		(umask 077; set -C; : >"$1") 2>/dev/null
	done
	is_private "$found" || die "$1 is not a file of root with mode 0600 and one name: remove it, then try again"
	mask=$(umask)
	umask 077
	exec {lock}<>"$1" || die "cannot open $1"
	umask "$mask"
	lock_is "$1" && return
	exec {lock}>&-
	return 1
}
# lock_is FILE: $lock is a descriptor of that private file
lock_is() {
	local opened
	opened=$(lock_stat - <&"$lock")
	is_private "$opened" && [ "$opened" = "$(lock_stat "$1")" ]
}

# lock_pids FILE: the processes that hold a lock on it.  /proc/locks has the PID of flock(1), which has ended
lock_pids() {
	local fdinfo pid
	grep -ls '^lock:.*FLOCK' /proc/[0-9]*/fdinfo/* | while read -r fdinfo; do
		pid=${fdinfo#/proc/} pid=${pid%%/*}
		[ "$pid" = $$ ] || [ ! "${fdinfo/fdinfo/fd}" -ef "$1" ] || echo "$pid"
	done | uniq
}
# lock_names PID...: these as "process PID (NAME), ...", without those that another of them has started
lock_names() {
	local pid parent name text=''
	for pid; do
		parent=$(sed -n 's/^PPid:[ \t]*//p' "/proc/$pid/status" 2>/dev/null)
		[ -z "$parent" ] || [[ " $* " != *" $parent "* ]] || continue
		name=$(tr -c '[:print:]' '?' 2>/dev/null <"/proc/$pid/comm")
		text+=${text:+, }"process $pid (${name%\?})"
	done
	echo "${text:-a process that is not visible here}"
}
# shellcheck disable=SC2046 # PIDs
lock_holders() { lock_names $(lock_pids "$1"); }

# lock_fds: /proc/PID/fd/N of each process that has the lock's file open
lock_fds() { find /proc/[0-9]*/fd -maxdepth 1 -lname "$lock_file" 2>/dev/null; }

# old_drivers: an older kfdprio-driver may be at work, or wait, while its package is upgraded.  Locks of other processes on the
# old file do not count: it must be root's, and run by the same shell
old_drivers() {
	local fd pid
	lock_fds | while read -r fd; do
		pid=${fd#/proc/} pid=${pid%%/*}
		[ "$pid" = $$ ] || [ ! "$fd" -ef "$lock_file" ] || [ "$(stat -c %u "/proc/$pid" 2>/dev/null)" != 0 ] ||
			[ ! "/proc/$pid/exe" -ef "/proc/$$/exe" ] || echo "$pid"
	done | uniq
}

lock_wait() {
	flock -n "$lock" && return
	say "waiting for another kfdprio-driver: $(lock_holders "$1") holds $1"
	flock -w "$lock_seconds" "$lock" ||
		die "$1 has been held for two hours by $(lock_holders "$1"): end it, then try again"
}

# replace_old: a private file in place of one that an older version made.  The process that holds a lock on the new file is the
# only one to do it, and keeps the lock.  1: another process has done it
replace_old() {
	local waited=0 pids
	lock_open "$lock_file.new" || return
	lock_wait "$lock_file.new"
	while is_old "$(lock_stat "$lock_file")"; do
		pids=$(old_drivers)
		[ -n "$pids" ] || break
		# shellcheck disable=SC2086 # PIDs
		[ $waited != 0 ] || say "waiting for an older kfdprio-driver: $(lock_names $pids)"
		[ $((waited++)) -lt "$lock_seconds" ] ||
			die "an older kfdprio-driver has been running for two hours: end it, then try again"
		sleep 1
	done
	if is_old "$(lock_stat "$lock_file")"; then
		mv -fT "$lock_file.new" "$lock_file" || die "cannot replace $lock_file"
	fi
	! lock_is "$lock_file" || return 0
	# not if another process has made a new one meanwhile
	! lock_is "$lock_file.new" || rm -f "$lock_file.new"
	exec {lock}>&-
	return 1
}

# lock_end: no file is left by uninstall.  An older kfdprio-driver that waits for the lock would not notice that the file is gone
lock_end() {
	local others
	[ -n "${lock-}" ] && lock_is "$lock_file" || return 0
	others=$(exec {lock}>&-; lock_fds | grep -v "^/proc/$$/")
	[ -n "$others" ] || rm -f "$lock_file"
}

# take_turns: waits until no other kfdprio-driver is at work.  Without root nothing will be done
take_turns() {
	local status
	[ "$(id -u)" = 0 ] && [ -d "${lock_file%/*}" ] || return 0
	while :; do
		status=0
		if is_old "$(lock_stat "$lock_file")"; then
			replace_old || status=$?
			[ $status != 0 ] || return 0
		else
			lock_open "$lock_file" || status=$?
		fi
		case $status in
		0)
			lock_wait "$lock_file"
			# an uninstall may have removed the file meanwhile
			! lock_is "$lock_file" || return 0
			exec {lock}>&- ;;
		2) warn "cannot make $lock_file: going on without it"; return 0 ;;
		esac
	done
}
