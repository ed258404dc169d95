# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # of guest and lib.sh
# The rules service from its start to its end, and services with a priority of their own.
install_kfdprio
mark
check "without rules the service does not start" sh -c '! systemctl start kfdpriod || ! systemctl -q is-active kfdpriod'
rules 'unit=inference.slice priority=12' 'cgroup=/batch.slice priority=low'
check "kfdprio rules check" kfdprio rules check
check "systemctl enable --now" systemctl enable -q --now kfdpriod
check "... it runs" systemctl -q is-active kfdpriod
check "... with CAP_SYS_NICE alone" sh -c 'grep -q "^CapEff:.0*800000$" "/proc/$0/status"' "$(main_pid kfdpriod)"
check "... the journal says how many rules there are" said "2 rules in 1 file"

# Two slices on one GPU, no PID typed.  Latencies, which a busy host spoils here: crowd.sh
unit train.service Slice=batch.slice "ExecStart=$load --dispatch-ns 25000000 --queues 3 --secs 3000"
unit serve.service Slice=inference.slice "ExecStart=$load --rate 20 --dispatch-ns 3000000 --secs 3000"
systemctl daemon-reload
systemctl start train
check "a service of batch.slice has the priority of its rule" gets train 0
systemctl start serve
check "a service of inference.slice" gets serve 12
check "... is set by a rule" sh -c 'kfdprio rules explain "$0" | grep -q "^it was set by a rule"' "$(main_pid serve)"
preempted() { kfdprio -l --json | grep "\"pid\":$(main_pid train)," | grep -q "\"preempted_count\":[1-9]"; }
check "... the other is preempted for it" wait_for preempted

# the textfile of node_exporter; the condition of the unit holds where its directory is
prom=/var/lib/prometheus/node-exporter/kfdprio.prom
mkdir -p "${prom%/*}"
rm -f "$prom"
systemctl start kfdprio-metrics.timer
check "kfdprio-metrics.timer writes the metrics" wait_for test -s $prom
check "... with the preemptions of the GPU" grep -q '^kfdprio_preempted_processes_total{gpu_id="[0-9]*",pci="[0-9a-f:.]*"} [1-9]' $prom
check "... and the processes of both cgroups" sh -c "grep -q '^kfdprio_queues{.*cgroup=\"/batch.slice/train.service\".* 3\$' $prom && grep -q '^kfdprio_processes{.*cgroup=\"/inference.slice/serve.service\".* 1\$' $prom"
systemctl stop kfdprio-metrics.timer

systemctl restart serve
check "systemctl restart: the new process has it" gets serve 12
# from here on without work, which the emulated CPU would have to do
systemctl stop serve train
for name in serve:inference train:batch; do
	unit "${name%:*}.service" "Slice=${name#*:}.slice" "ExecStart=/bin/sh -c 'exec 3<>/dev/kfd; while :; do sleep 1000; done'"
done
systemctl daemon-reload
systemctl start serve train
check "services without queues, too" eval 'gets serve 12 && gets train 0'
rules 'unit=inference.slice priority=12 park=never' 'cgroup=/batch.slice priority=3'
pid=$(main_pid kfdpriod)
mark
systemctl reload kfdpriod
check "systemctl reload: changed rules hold for what runs" gets train 3
check "... park=never, too" sh -c 'kfdprio -l --json | grep "\"pid\":$0," | grep -q "\"is_never_parked\":true"' "$(main_pid serve)"
check "... in the same process" [ "$(main_pid kfdpriod)" = "$pid" ]
systemctl daemon-reload
check "systemctl daemon-reload: the service goes on" [ "$(main_pid kfdpriod)" = "$pid" ]
check "... and priorities stay" has serve 12

# A process that moves
opens mover batch.slice
systemctl start mover
mkdir -p /sys/fs/cgroup/inference.slice/moved
main_pid mover >/sys/fs/cgroup/inference.slice/moved/cgroup.procs
echo go >/run/mover
check "a process that moved before it opens KFD: the rule of its new cgroup" gets mover 12
main_pid mover >/sys/fs/cgroup/batch.slice/mover.service/cgroup.procs
sleep 0.5
check "... that moves afterwards: it keeps what it has" has mover 12
systemctl kill -s HUP --kill-who=main kfdpriod
check "... until the rules are read again (systemctl kill -s HUP)" gets mover 3
systemctl stop mover

# An error in a file
mark
echo nonsense >/etc/kfdprio.conf.d/60-bad.conf
systemctl reload kfdpriod
check "a file with an error: file and line are in the journal" wait_for said "60-bad.conf:1:1: 'nonsense'"
check "... and that the old rules stay" wait_for said "stay as they were"
check "... the service runs on" systemctl -q is-active kfdpriod
systemctl restart serve
check "... by the old rules" gets serve 12

# Its death
mark
systemctl kill -s KILL kfdpriod
check "systemctl kill -s KILL: priorities stay" has serve 12
sleep 4
check "... with an error in the rules it does not come back" sh -c '[ "$(systemctl show -P ExecMainStatus kfdpriod)" = 78 ]'
systemctl restart train
sleep 1
check "... nothing else is changed: a new process has no priority" has train unset
rm /etc/kfdprio.conf.d/60-bad.conf
systemctl reset-failed kfdpriod
systemctl start kfdpriod
check "once it is corrected and started, what runs gets its priority" gets train 3
systemctl kill -s KILL kfdpriod
check "killed with good rules, it is restarted" wait_for sh -c 'systemctl -q is-active kfdpriod && [ "$(systemctl show -P NRestarts kfdpriod)" -ge 1 ]'
systemctl stop kfdpriod
check "systemctl stop: priorities stay" has serve 12

# Services with a priority of their own, under another user; the rules service is stopped
unit own.service User=nobody "ExecStart=/bin/sh -c 'exec 3<>/dev/kfd; while :; do sleep 1000; done'" \
	'ExecStartPost=+/usr/bin/kfdprio -n high --tree -p $MAINPID'
systemctl start own
check "ExecStartPost=+kfdprio: a service of another user" has own 11
all_of_own() {
	kfdprio -p $(cat /sys/fs/cgroup/system.slice/own.service/cgroup.procs) | sed 's/^PID [0-9]*: //' | sort | uniq -c | tr -s ' ' | cut -d , -f 1
}
check "... and the process that it has started" eval '[ "$(all_of_own)" = " 2 priority 11 (high)" ]'
unit drop.service User=nobody "ExecStart=/bin/sh -c 'exec 3<>/dev/kfd; while :; do sleep 1000; done'"
mkdir /etc/systemd/system/drop.service.d
ln -s /usr/share/kfdprio/systemd/kfdprio@high.conf /etc/systemd/system/drop.service.d/
systemctl daemon-reload
systemctl start drop
check "the drop-in kfdprio@high.conf" has drop 11
systemctl start kfdpriod
rules 'cgroup=/ priority=low'
systemctl reload kfdpriod
check "rules leave alone what was set by hand" gets serve 0
check "... by ExecStartPost=" has own 11
check "... by the drop-in" has drop 11
check "systemd-analyze verify has nothing against the unit" sh -c '[ -z "$(systemd-analyze verify kfdpriod.service 2>&1 | grep kfdpriod)" ]'
