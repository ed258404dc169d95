# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # of guest and tests/services/lib.sh
# A cluster of one node in the VM, and its jobs.  Sourced by guest.
journal=(-u munge -u slurmctld -u slurmd)
log=/var/log/slurm/kfdprio-vm.log
conf=/etc/slurm/plugstack.conf.d/kfdprio.conf
database=	# of start_database
second=	# of start_second
plugins=/run/second-plugins

# own USER DIRECTORY...: empty directories of a user
own() {
	local user=$1 dir
	shift
	for dir; do
		mkdir -p "$dir"
		mount -t tmpfs tmpfs "$dir"
		chown "$user:" "$dir"
		chmod 755 "$dir"
	done
}

# plugstack OPTION...: the line of the plugin
plugstack() { echo "optional kfdprio.so $*" >"$conf"; }

start_munge() {
	[ ! -e /etc/munge/munge.key ] || ! systemctl -q is-active munge || return 0
	own munge /etc/munge /var/lib/munge /var/log/munge
	chmod 700 /etc/munge
	head -c 128 /dev/urandom >/etc/munge/munge.key
	chown munge: /etc/munge/munge.key
	chmod 400 /etc/munge/munge.key
	grep -q '^127.*kfdprio-vm' /etc/hosts || echo '127.0.0.1 localhost kfdprio-vm' >>/etc/hosts
	# systemd took that of this machine; and Slurm resolves no address on a host that has only 127.0.0.1
	hostname kfdprio-vm
	busybox ifconfig lo:0 192.0.2.1
	useradd -M -d /tmp alice
	systemctl start munge
}

write_conf() {
	mkdir -p /etc/slurm
	cp "$here/slurm.conf" /etc/slurm/slurm.conf
	[ -z "$database" ] || cat >>/etc/slurm/slurm.conf <<-END
		AccountingStorageType=accounting_storage/slurmdbd
		AccountingStorageHost=127.0.0.1
		AccountingStorageEnforce=associations,limits,qos
	END
	[ -z "$second" ] || cat >>/etc/slurm/slurm.conf <<-END
		NodeName=kfdprio-second NodeAddr=127.0.0.2 Port=6828 CPUs=4 RealMemory=1000 State=UNKNOWN
		PartitionName=second Nodes=kfdprio-second
		PartitionName=two Nodes=kfdprio-vm,kfdprio-second
	END
}

start_cluster() {
	start_munge
	systemctl -q is-active slurmdbd || own slurm /var/lib/slurm /var/log/slurm
	install -d -o slurm /var/lib/slurm/slurmctld
	mkdir -p /etc/slurm/plugstack.conf.d /dev/dri
	[ -e /dev/dri/renderD128 ] || mknod /dev/dri/renderD128 c 226 128
	chmod 666 /dev/dri/renderD128
	write_conf
	# there is no D-Bus in the VM
	echo IgnoreSystemd=yes >/etc/slurm/cgroup.conf
	printf 'Name=gpu File=/dev/dri/renderD128\nName=shard Count=8 File=/dev/dri/renderD128\n' >/etc/slurm/gres.conf
	printf '#!/bin/sh\n' >/etc/slurm/prolog
	chmod +x /etc/slurm/prolog
	echo 'include /etc/slurm/plugstack.conf.d/*.conf' >/etc/slurm/plugstack.conf
	systemctl start slurmctld slurmd
}

# start_second: a second node, which is this machine with a host name, cgroups and plugins of its own.  Set second=1 before start_cluster.
start_second() {
	local dir
	echo '127.0.0.2 kfdprio-second' >>/etc/hosts
	dir=$(dirname /usr/lib/*/slurm-wlm/kfdprio.so)
	cp -a "$dir" $plugins
	cat >/run/second-node <<-END
		#!/bin/sh -e
		hostname kfdprio-second
		mount --bind $plugins $dir
		umount /sys/fs/cgroup
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
		mkdir -p /sys/fs/cgroup/system.slice/slurmd.service
		echo \$\$ >/sys/fs/cgroup/system.slice/slurmd.service/cgroup.procs
		exec slurmd -D -N kfdprio-second
	END
	chmod +x /run/second-node
	unit second-slurmd.service Delegate=yes KillMode=process "ExecStart=/usr/bin/unshare --uts --mount --cgroup /run/second-node"
	systemctl daemon-reload
	systemctl start second-slurmd
	journal+=(-u second-slurmd)
}

# start_database: slurmdbd and MariaDB, both empty
start_database() {
	database=1
	start_munge
	write_conf
	own slurm /var/lib/slurm /var/log/slurm
	own mysql /var/lib/mysql /run/mysqld /var/log/mysql
	printf '[mariadbd]\ninnodb_log_file_size=8M\ninnodb_buffer_pool_size=64M\ninnodb_lock_wait_timeout=900\n' >/etc/mysql/mariadb.conf.d/90-kfdprio.cnf
	mariadb-install-db --user=mysql --skip-test-db >/tmp/install-db 2>&1 || { cat /tmp/install-db; return 1; }
	systemctl start mariadb || return
	mariadb -e "CREATE DATABASE slurm_acct_db; CREATE USER slurm@localhost IDENTIFIED BY 'slurm'; GRANT ALL ON slurm_acct_db.* TO slurm@localhost" || return
	install -m 600 -o slurm "$here/slurmdbd.conf" /etc/slurm/slurmdbd.conf
	systemctl start slurmdbd
	wait_for account list cluster
}
account() { sacctmgr -i "$@"; }

# node_is STATE: all nodes
node_is() { [ "$(sinfo -h -N -o %T | sort -u)" = "$1" ]; }
node_is_up() { sinfo -h -o %T | grep -qx 'idle\|mixed\|allocated'; }
idle() {
	local jobs
	jobs=$(squeue -h) && [ -z "$jobs" ] && return
	echo "$jobs"
	return 1
}

# wait_for COMMAND...: until it succeeds, 300 s at most: an emulated CPU starts many processes for a job
wait_for() {
	local end=$((SECONDS + 300))
	while [ $SECONDS -lt $end ]; do
		"$@" >/dev/null 2>&1 && return
		sleep 0.2
	done
	"$@"
}

# as alice COMMAND...
as_alice() { (cd /tmp && exec setpriv --reuid=alice --regid=alice --init-groups env HOME=/tmp "$@"); }

# what a task prints of itself: "11", "unset"
cat >/usr/bin/own-priority <<'END'
#!/bin/sh
# as another program, whose parent it is: inherited
kfdprio -p $$ | sed -n 's/^PID [0-9]*: priority \([0-9a-z]*\).*/\1/p'
END
chmod +x /usr/bin/own-priority

# runs PRIORITIES COMMAND...: of alice; it prints these, a line each
runs() {
	local want=$1 got
	shift
	got=$(as_alice timeout -k 5 300 "$@" 2>/tmp/stderr | sort | paste -sd' ')
	[ "$got" = "$want" ] && return
	echo "printed '$got', not '$want'"
	cat /tmp/stderr
	tail -n 5 "$log"
	return 1
}

# prints FILE TEXT: a job has written this text, and nothing else
prints() { wait_for grep -qxF "$2" "$1" && [ "$(wc -l <"$1")" = 1 ]; }

# marked: the log of slurmd from here on
log_mark() { log_at=$(wc -c <"$log"); }
logged() { tail -c "+$((log_at + 1))" "$log" | grep -- "$1"; }
logged_once() { # PATTERN
	local times
	times=$(logged "$1" | wc -l)
	[ "$times" = 1 ] || { echo "$times lines with '$1'"; tail -c "+$((log_at + 1))" "$log" | tail; return 1; }
}

# job_pid NAME: of a process of alice's
job_pid() { pgrep -u alice -x "$1" | tail -n 1 | grep .; }
pid_has() { # PID PRIORITY
	kfdprio -p "$1" | grep -q "priority $2 "
}

# asked: how often slurmctld was asked for one job
asked() { sdiag | awk '/REQUEST_JOB_INFO_SINGLE/ { sub(/.*count:/, ""); n = $1 } END { print n + 0 }'; }
