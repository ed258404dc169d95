# SPDX-License-Identifier: GPL-2.0
s/^\tif \(primary\)(process->context_id = .*)$/\tif (primary)\n\t\t\1/
# Coccinelle neither moves a label nor deletes what is behind one
/^err_alloc_id:$/{
N
/\n\tkfd_process_free_id\(process\);$/d
}
s/^\thash_del_rcu\(&process->kfd_processes\);$/&\nerr_alloc_id:/
