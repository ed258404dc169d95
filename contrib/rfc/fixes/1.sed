# SPDX-License-Identifier: GPL-2.0
s/^(\t +client_id != [A-Z0-9_]+ &&) (!KFD_IRQ_IS_FENCE\(.*)$/\1\n\t    \2/
