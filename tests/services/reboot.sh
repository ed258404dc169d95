# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # of guest and lib.sh
# Two boots with the same disk: rules and units last, no PID was typed.
if [ "$part" = 3 ]; then
	install_kfdprio
	rules 'unit=inference.slice priority=12'
	# the command outlives the script, which 4 has another path for
	unit serve.service Slice=inference.slice "ExecStart=/bin/sh -c 'exec 3<>/dev/kfd; while :; do sleep 1000; done'"
	printf '[Install]\nWantedBy=multi-user.target\n' >>/etc/systemd/system/serve.service
	systemctl enable -q kfdpriod serve
	systemctl start kfdpriod serve
	check "before the reboot" gets serve 12
else
	check "after the reboot the rules service runs" wait_for systemctl -q is-active kfdpriod
	check "... and a service that was enabled has its priority" gets serve 12
	check "... by a rule" sh -c 'kfdprio rules explain "$0" | grep -q "^it was set by a rule"' "$(main_pid serve)"
	# the driver is loaded long after the boot: udev's rule
	systemctl stop serve kfdpriod
	rm -f /run/systemd/system/systemd-udevd*
	systemctl daemon-reload
	check "udev runs" systemctl start systemd-udevd
	check "the driver is unloaded" wait_for rmmod amdgpu
	systemctl start kfdpriod
	check "without a driver the rules service does not run" sh -c '! systemctl -q is-active kfdpriod'
	check "the driver is loaded again" insmod "$KFDPRIO_SIM_KO" "gpu=$KFDPRIO_SIM_GPU"
	check "... and udev starts the rules service" wait_for systemctl -q is-active kfdpriod
	chmod 666 /dev/kfd
	systemctl start serve
	check "... which sets priorities" gets serve 12
fi
