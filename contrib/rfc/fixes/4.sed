# SPDX-License-Identifier: GPL-2.0
s/^\{(\/\* kfd_process_free_notifier.*)$/{\n\t\1/
