# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # expanded by the shells of jobs; of guest and lib.sh
# Kinds of jobs, and what happens to jobs while they run: each task has the priority of its own job.  Two nodes.
install_kfdprio
second=1
plugstack partition=online:high,second:9,two:high,batch:low default=6
start_cluster
start_second
check "munge, slurmctld, two slurmd" wait_for node_is idle

# lines FILE TEXT...: a job has written these lines, and no others
lines() {
	local file=$1
	shift
	[ "$(cat "$file")" = "$(printf '%s\n' "$@")" ] || { cat "$file"; return 1; }
}
count_is() { [ "$(wc -l <"$1")" = "$2" ]; }	# FILE NUMBER
# writes FILE TEXT...: it is waited for that many lines
writes() { wait_for count_is "$1" $(($# - 1)) && lines "$@"; }

# A job that is requeued: it starts again when its credential has expired, so that other tests come between.
printf '#!/bin/sh\nown-priority >>/tmp/requeue.out\nexec sleep 3000\n' >/tmp/requeue
requeued=$(as_alice sbatch --parsable --requeue -p online -o /dev/null -J requeued /tmp/requeue)
check "a job that can be requeued" writes /tmp/requeue.out 11
scontrol requeue "$requeued"

# salloc
cat >/tmp/steps <<'END'
#!/bin/sh
echo "first $(srun own-priority)"
echo "two tasks" $(srun -n 2 --overcommit own-priority)
echo "lowered $(srun --gpu-priority=3 own-priority)"
srun --overlap -J beside sh -c 'sleep 5; own-priority' >/tmp/beside.out &
echo "at once $(srun --overlap own-priority)"
wait
echo "at once $(cat /tmp/beside.out)"
echo "outside $(own-priority)"
END
chmod +x /tmp/steps
as_alice salloc -Q -p online /tmp/steps >/tmp/steps.out 2>&1
check "salloc: each step of srun has the priority of the job, the command itself none" lines /tmp/steps.out \
	"first 11" "two tasks 11 11" "lowered 3" "at once 11" "at once 11" "outside unset"
check "salloc in a partition with a low priority, --gpu-priority=high: it stays low" runs 0 salloc -Q -p batch --gpu-priority=high srun own-priority

# A heterogeneous job: each component has a job number, a partition and nodes of its own.
check "a heterogeneous job of srun: each component has the priority of its partition" \
	runs "0 9 9" srun -p batch own-priority : -p second -n 2 own-priority
cat >/tmp/het <<'END'
#!/bin/sh
#SBATCH -p batch
#SBATCH hetjob
#SBATCH -p second
echo "script $(own-priority)"
echo "first $(srun --het-group=0 own-priority)"
echo "second $(srun --het-group=1 own-priority)"
echo "both" $(srun --het-group=0,1 own-priority | sort)
END
as_alice sbatch -Q -o /tmp/het.out /tmp/het
check "... of sbatch: the script has that of the first" writes /tmp/het.out "script 0" "first 0" "second 9" "both 0 9"

check "scontrol requeue: the job has its priority again" writes /tmp/requeue.out 11 11
scontrol requeuehold "$requeued"
check "... it is held" wait_for eval '[ "$(squeue -h -j "$requeued" -o %T)" = PENDING ]'
check "... and moved to another partition" scontrol update "JobId=$requeued" Partition=batch
scontrol release "$requeued"

# An array: each task is a job of its own, with a record of its own.  On a busy host slurmd does not answer in time when all start at once.
array=$(as_alice sbatch --parsable -H -p online --array=1-100%4 -o /tmp/array.out -e /dev/null --open-mode=append \
	--wrap 'echo "${SLURM_ARRAY_TASK_ID}_$(own-priority)"')
check "an array of 100 tasks; one is moved to another partition" scontrol update "JobId=${array}_50" Partition=batch
scontrol release "$array"
check "... the tasks end" wait_for count_is /tmp/array.out 100
sort -n /tmp/array.out >/tmp/array.sorted
# shellcheck disable=SC2046 # words
check "... each has the priority of its partition" lines /tmp/array.sorted \
	$(awk 'BEGIN { for (i = 1; i <= 100; i++) printf "%d_%d ", i, i == 50 ? 0 : 11 }')
check "scontrol requeue, after the partition was changed: that of the new one" writes /tmp/requeue.out 11 11 0
scancel "$requeued"

# slurmd is killed and restarted while tasks start, run and end.
as_alice sbatch -Q -p online --array=1-40%8 -o /tmp/restart.out -e /dev/null --open-mode=append \
	--wrap 'echo "$SLURM_ARRAY_TASK_ID $(own-priority) $(sleep 8; own-priority)"' >/dev/null
check "jobs start" wait_for eval '[ "$(pgrep -u alice -xc sleep)" -ge 4 ]'
pgrep -u alice -x sleep | sort >/tmp/sleeping
main=$(systemctl show -P MainPID slurmd)
for how in KILL KILL TERM; do
	systemctl kill -s $how --kill-who=main slurmd
	wait_for eval '! systemctl -q is-active slurmd'
	systemctl reset-failed slurmd 2>/dev/null
	systemctl start slurmd
	sleep 2
done
check "slurmd is killed and started again three times" eval '[ "$(systemctl show -P MainPID slurmd)" != "$main" ] && wait_for node_is_up'
check "... all jobs end" wait_for idle
check "... each ran" eval '[ "$(cut -d" " -f1 /tmp/restart.out | sort -nu | paste -sd" ")" = "$(seq -s " " 40)" ] || { cat /tmp/restart.out; false; }'
check "... with its priority from its start to its end" eval '! cut -d" " -f2- /tmp/restart.out | grep -vx "11 11"'

# A job of a high priority always has work; what it has submitted runs to its end when it is suspended.
as_alice sbatch -Q -p batch --gres=shard:1 -o /dev/null -J offline --wrap "exec $load --name offline --dispatch-ns 25000000 --queues 3 --secs 3000"
wait_for eval 'job_pid kfdload && kfdprio -l | grep -q kfdload'
offline=$(job_pid kfdload)
online=$(as_alice sbatch --parsable -p online --gres=shard:1 -o /dev/null -J online --wrap "exec $load --name online --dispatch-ns 25000000 --secs 3000")
state() { kfdprio -l --json | sed -n "s/.*\"pid\":$offline,.*\"state\":\"\([a-z]*\)\".*/\1/p"; }
off_count() { # TIMES: how often in 4 s it is off the GPU
	local i off=0
	for i in {1..20}; do
		[ "$(state)" != preempted ] || off=$((off + 1))
		sleep 0.2
	done
	echo $off
}
check "an offline job is preempted for an online job" wait_for eval '[ "$(state)" = preempted ]'
off=$(off_count)
check "... most of the time" at_least "$off" 12
pid=$(kfdprio -l --json | sed -n 's/.*"pid":\([0-9]*\),.*"priority":11,.*/\1/p' | head -n 1)
scontrol suspend "$online"
check "scontrol suspend stops the online job" wait_for grep -q 'State:.T' "/proc/$pid/status"
sleep 1
off=$(off_count)
check "... the offline job is not preempted for it any longer" at_most "$off" 0
check "... the priority of the online job stays" pid_has "$pid" 11
scontrol resume "$online"
check "scontrol resume: the offline job is preempted again" wait_for eval '[ "$(state)" = preempted ]'
check "... the priority of the online job stays" pid_has "$pid" 11
scancel -f -u alice
check "the jobs end" wait_for idle

# Two nodes, one of which has no plugin
check "a step on two nodes" runs "0: 11 1: 11" srun -l -N 2 -p two own-priority
rm $plugins/kfdprio.so
log=/var/log/slurm/kfdprio-second.log
log_mark
check "... the second without the plugin: it runs on both" runs "0: unset 1: 11" srun -l -N 2 -p two own-priority
check "... Slurm logs the file that is missing" logged 'kfdprio.so'
printf '#!/bin/sh\nown-priority\nsrun -l own-priority 2>/tmp/two.err\n' >/tmp/two
as_alice sbatch -Q -N 2 -p two -o /tmp/two.out /tmp/two
# the second is the first of a job's nodes, on which a script runs
check "... and a script of sbatch with its step" eval 'wait_for count_is /tmp/two.out 3 && sort /tmp/two.out >/tmp/two.sorted && lines /tmp/two.sorted "0: unset" "1: 11" unset'
