# SPDX-License-Identifier: GPL-2.0
s/^(\t+ +!READ_ONCE\(.*irq_drain_is_open\) \|\|) (hlist_unhashed_lockless.*)$/\1\n\t\t\t\t     \2/
