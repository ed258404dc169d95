# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # of guest and lib.sh
# slurmdbd with MariaDB: QOS of the accounting database, which users cannot forge.
install_kfdprio
plugstack qos=interactive:high,batch:low default=6
journal+=(-u mariadb -u slurmdbd)
check "mariadb and slurmdbd" start_database
# bob may not use the QOS interactive
check "a cluster, an account, two QOS, two users" eval 'account add cluster kfdprio && account add account lab &&
	account add qos interactive,batch && useradd -M -d /tmp bob &&
	account add user alice account=lab qos=interactive,batch defaultqos=batch && account add user bob account=lab qos=batch defaultqos=batch'
start_cluster
check "munge, slurmctld, slurmd" wait_for node_is idle
check "slurmctld has the QOS of the database" wait_for sh -c "scontrol show assoc_mgr qos=interactive flags=qos | grep -q 'QOS=interactive'"

# The priority of a job is that of its QOS
check "a QOS with a high priority" runs 11 srun --qos=interactive own-priority
check "a QOS with a low one" runs 0 srun --qos=batch own-priority
check "the default QOS of the user" runs 0 srun own-priority
check "no QOS of the options: default=" eval 'account modify user alice set qos+=normal >/dev/null && wait_for runs 6 srun --qos=normal own-priority'
check "salloc and srun" runs 11 salloc -Q --qos=interactive srun own-priority
cat >/tmp/script <<'END'
#!/bin/sh
own-priority
srun own-priority
END
as_alice sbatch -Q --qos=interactive -o /tmp/script.out /tmp/script
check "a script of sbatch, and its step" wait_for sh -c '[ "$(paste -sd" " /tmp/script.out)" = "11 11" ]'
plugstack qos=interactive:high partition=batch:low,online:9
check "the QOS decides before the partition" runs 11 srun --qos=interactive -p batch own-priority
check "... the partition where the QOS has no priority" runs 9 srun --qos=batch -p online own-priority
plugstack qos=interactive:high,batch:low default=6

# Forged
check "a forged SLURM_JOB_QOS: the job stays low" runs 0 env SLURM_JOB_QOS=interactive srun --qos=batch own-priority
cat >/tmp/forged <<'END'
#!/bin/sh
export SLURM_JOB_QOS=interactive
srun sh -c 'echo "$SLURM_JOB_QOS $(own-priority)"'
END
as_alice sbatch -Q --qos=batch -o /tmp/forged.out /tmp/forged
check "... in a script, too" prints /tmp/forged.out "interactive 0"
as_bob() { (cd /tmp && exec setpriv --reuid=bob --regid=bob --init-groups env HOME=/tmp "$@"); }
check "a user who may not use the QOS is refused" sh -c '! (cd /tmp && setpriv --reuid=bob --regid=bob --init-groups srun --qos=interactive true 2>/tmp/stderr) && grep -i "invalid qos" /tmp/stderr'
check "... and forged, stays low" eval '[ "$(as_bob env SLURM_JOB_QOS=interactive srun own-priority)" = 0 ]'

# Two jobs share the GPU
as_alice sbatch -Q --qos=batch --gres=shard:1 -o /tmp/offline.out -J offline --wrap "exec $load --dispatch-ns 25000000 --queues 3 --secs 3000"
wait_for eval 'job_pid kfdload && kfdprio -l | grep -q kfdload'
offline=$(job_pid kfdload)
as_alice sbatch -Q --qos=interactive --gres=shard:1 -o /dev/null -J online --wrap "exec $load --rate 20 --dispatch-ns 3000000 --secs 3000"
preempted() { kfdprio -l --json | sed -n "s/.*\"pid\":$offline,.*\"preempted_count\":\([0-9]*\).*/\1/p" | grep . || echo 0; }
check "a job of batch is preempted for a job of interactive on the GPU that they share" wait_for eval '[ "$(preempted)" -gt 0 ]'
scancel -f -u alice
check "the jobs end" wait_for idle

systemctl stop slurmdbd mariadb
check "slurmdbd is away: priorities stay those of the QOS" runs 11 srun --qos=interactive own-priority
