# SPDX-License-Identifier: GPL-2.0
# The creation of one AQL queue with HWS, from the ioctl to the runlist that the firmware (here: its
# model) reads, and the first ring of its doorbell.  Documentation/debugging.rst explains it.
#
#   tests/vm/run --gdb=batch --gdb-script tests/gdb/walk.gdb -- kfdprio -n 12 -- build/tests/bin/one_queue 2048 9

# where a kernel without debug info begins, gdb can but guess
define where
  backtrace -frame-arguments none -frame-info location $arg0
end

echo \n1. the ioctl\n
tbreak kfd_ioctl_create_queue
continue
set $args = (struct kfd_ioctl_create_queue_args *)data
printf "type %u ring %#llx size %u priority %u gpu %u\n", $args->queue_type, $args->ring_base_address, \
  $args->ring_size, $args->queue_priority, $args->gpu_id
printf "process %s\n", p->lead_thread->comm
where 3

echo \n2. our hook, under the DQM lock\n
tbreak kfd_prio_hook_create_queue
continue
printf "queue %u size %llu format %u priority %u\n", q->properties.queue_id, q->properties.queue_size, \
  q->properties.format, q->properties.priority
printf "lock held %d\n", dqm->lock_hidden.owner.counter != 0
where 6
finish
printf "requested %u in force %u\n", q->prio.requested, q->properties.priority

echo \n3. the MQD is made\n
tbreak kfd_prio_hook_init_mqd
continue
set $mqd = (struct v9_mqd *)q->mqd
printf "pipe priority %u queue priority %u base %#llx\n", $mqd->cp_hqd_pipe_priority, $mqd->cp_hqd_queue_priority, \
  ((unsigned long)$mqd->cp_hqd_pq_base_hi << 32 | $mqd->cp_hqd_pq_base_lo) << 8

echo \n4. the runlist\n
tbreak pm_send_runlist
continue
printf "processes %u queues %u\n", pm->dqm->processes_count, pm->dqm->active_queue_count
where 6

echo \n5. the firmware reads it\n
tbreak map_queue
continue
printf "mqd %#llx doorbell %u\n", ((unsigned long)m->mqd_addr_hi << 32) + m->mqd_addr_lo, m->bitfields3.doorbell_offset
where 4

echo \n6. the first ring faults\n
tbreak kfd_prio_doorbell_fault
continue
where 1
