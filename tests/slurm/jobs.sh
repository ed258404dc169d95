# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # of guest and lib.sh
# Jobs of a user and their GPU priorities; nothing that is wrong keeps a job from running.
install_kfdprio
plugstack qos=interactive:high partition=online:high,batch:low default=6
start_cluster
check "munge, slurmctld, slurmd" wait_for node_is idle
check "slurmd has read the options" sh -c "! grep 'error.*kfdprio[.:]' $log"
check "srun --help has the option" sh -c 'srun --help | grep -e "--gpu-priority=low|normal|high|0..15"'

# The priority of a job is that of its partition.
check "a partition with a high priority" runs 11 srun -p online own-priority
check "a partition with a low one" runs 0 srun -p batch own-priority
check "any other partition: default=" runs 6 srun own-priority
check "the tasks are the user's" runs "$(id -u alice)" srun -p online id -u
before=$(asked)
check "four tasks" runs "11 11 11 11" srun -p online -n 4 own-priority
check "... slurmctld was asked once" [ "$(($(asked) - before))" = 1 ]
check "salloc and srun" runs 11 salloc -Q -p online srun own-priority
check "... salloc --gpu-priority holds for its steps" runs 0 salloc -Q -p online --gpu-priority=low srun own-priority
cat >/tmp/script <<'END'
#!/bin/sh
own-priority
srun own-priority
END
as_alice sbatch -Q -p online -o /tmp/script.out /tmp/script
check "a script of sbatch, and its step" wait_for sh -c '[ "$(paste -sd" " /tmp/script.out)" = "11 11" ]'
as_alice sbatch -Q -p online --array=1-10 -o /tmp/array.out --open-mode=append --wrap own-priority
check "a job array" wait_for sh -c '[ "$(uniq -c /tmp/array.out | tr -s " ")" = " 10 11" ]'

# A user forges what the environment has, and asks for more.
forged="SLURM_JOB_QOS=interactive SLURM_JOB_PARTITION=online"
# shellcheck disable=SC2086 # words
check "a forged environment: the job stays low" runs 0 env $forged srun -p batch own-priority
cat >/tmp/forged <<'END'
#!/bin/sh
export SLURM_JOB_QOS=interactive SLURM_JOB_PARTITION=online SLURM_JOB_NAME=forged
srun sh -c 'echo "$SLURM_JOB_QOS $(own-priority)"'
END
as_alice sbatch -Q -p batch -o /tmp/forged.out /tmp/forged
check "... in a script, too" prints /tmp/forged.out "interactive 0"
check "--gpu-priority lowers" runs 0 srun -p online --gpu-priority=low own-priority
check "... by number" runs 5 srun --gpu-priority=5 own-priority
check "... and does not raise" runs 0 srun -p batch --gpu-priority=high own-priority
check "... which the user is told" grep -F 'gpu-priority=11 is ignored: it can only lower, and the GPU priority of the job is 0 (low)' /tmp/stderr
check "... nor above default=" runs 6 srun --gpu-priority=7 own-priority
check "... a word that is none ends srun" sh -c "! setpriv --reuid=alice --clear-groups srun --gpu-priority=urgent true 2>/tmp/stderr &&
	grep -F \"kfdprio: --gpu-priority: 'urgent' is not a priority\" /tmp/stderr"
as_alice sbatch -Q -p online --gpu-priority=low -o /tmp/lowered.out /tmp/script
check "sbatch --gpu-priority holds for the script and its step" wait_for sh -c '[ "$(paste -sd" " /tmp/lowered.out)" = "0 0" ]'

# Two jobs share the GPU; slurmd is restarted meanwhile.
as_alice sbatch -Q -p batch --gres=shard:1 -o /tmp/offline.out -J offline --wrap "exec $load --dispatch-ns 25000000 --queues 3 --secs 3000"
check "an offline job has its share of the GPU" wait_for eval 'job_pid kfdload && kfdprio -l | grep -q kfdload'
offline=$(job_pid kfdload)
check "... and its priority" pid_has "$offline" 0
as_alice sbatch -Q -p online --gres=shard:1 -o /dev/null -J online --wrap "exec $load --rate 20 --dispatch-ns 3000000 --secs 3000"
preempted() { kfdprio -l --json | sed -n "s/.*\"pid\":$offline,.*\"preempted_count\":\([0-9]*\).*/\1/p" | grep . || echo 0; }
check "it is preempted for an online job that shares the GPU" wait_for eval '[ "$(preempted)" -gt 0 ]'
online=$(kfdprio -l --json | sed -n 's/.*"pid":\([0-9]*\),.*"priority":11,.*/\1/p' | head -n 1)
check "kfdprio metrics names the jobs" eval '[ "$(kfdprio metrics | grep -c "^kfdprio_processes{.*slurm_job_id=\"[0-9][0-9]*\"} 1")" = 2 ]'
systemctl restart slurmd
check "slurmd is restarted: the jobs run on" eval 'kill -0 "$offline" && kill -0 "$online"'
check "... with their priorities" eval 'pid_has "$offline" 0 && pid_has "$online" 11'
seen=$(preempted)
check "... the offline job is still preempted" wait_for eval '[ "$(preempted)" -gt "$seen" ]'
check "... new steps get theirs" runs 11 srun -p online own-priority
scontrol suspend "$(squeue -h -n offline -o %i)"
check "scontrol suspend" wait_for sh -c "grep -q 'State:.T' /proc/$offline/status"
scontrol resume "$(squeue -h -n offline -o %i)"
check "... and resume: its priority stays" eval 'wait_for grep -q "State:.[RS]" /proc/$offline/status && pid_has "$offline" 0'
scancel -f -u alice
check "the jobs end" wait_for idle

# slurmctld ends when a job was handed to slurmd
printf '#!/bin/sh\n[ ! -e /run/away ] || systemctl stop slurmctld\n' >/etc/slurm/prolog
touch /run/away
log_mark
as_alice sbatch -Q -p online -o /tmp/away.out --wrap own-priority
check "slurmctld is away: the job runs, with default=" prints /tmp/away.out 6
check "... which is logged once" logged_once 'slurmctld does not report QOS and partition'
rm /run/away
systemctl start slurmctld
check "... slurmctld is back" wait_for scontrol ping
check "... and so is the priority" runs 11 srun -p online own-priority

# The line of plugstack.conf
plugstack partition=online:urgent
log_mark
systemctl restart slurmd
check "a wrong option: slurmd's log names it" wait_for logged_once "kfdprio: plugstack.conf: partition= 'online': 'urgent' is not a priority"
check "... the job runs, without a priority" runs unset srun -p online own-priority
check "... and may be lowered" runs 0 srun -p online --gpu-priority=low own-priority
plugstack
check "no option: a job keeps what it has" runs unset srun -p online own-priority
plugstack partition=online:high
plugin=$(echo /usr/lib/*/slurm-wlm/kfdprio.so)
cp "$out/other/kfdprio.so" "$plugin"
log_mark
check "a plugin for another Slurm: the job runs" runs unset srun -p online own-priority
check "... and Slurm logs the version" logged 'Incompatible Slurm plugin .*kfdprio.so version (20.11.7)'
rm "$plugin"
log_mark
check "no plugin: the job runs" runs unset srun -p online own-priority
check "... and Slurm logs that" logged 'kfdprio.so'
cp "$root$plugin" "$plugin"

# The driver
check "no job uses it" wait_for rmmod amdgpu
log_mark
check "no driver: the job runs" runs "alice alice" srun -p online -n 2 id -un
check "... which is logged once" logged_once 'has no GPU priority: amdgpu is not loaded'
insmod "$stock" gpu=mi210
log_mark
check "the stock driver: the job runs" runs "alice alice" srun -p online -n 2 id -un
check "... which is logged once" logged_once 'has no GPU priority: the stock amdgpu driver is loaded'
