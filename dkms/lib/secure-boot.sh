# SPDX-License-Identifier: GPL-2.0
# dkms/lib/secure-boot.sh - Secure Boot, and the key that DKMS signs with
# shellcheck shell=bash disable=SC2034,SC2154 # variables of kfdprio-driver

efivars=/sys/firmware/efi/efivars

# Sets $secure_boot: off, on, unknown
secure_boot_state() {
	local var
	secure_boot=off
	for var in "$efivars"/SecureBoot-*; do
		[ -e "$var" ] || continue
		if [ ! -r "$var" ]; then
			secure_boot=unknown
		elif [ "$(od -An -tu1 -j4 -N1 "$var" | tr -d ' ')" = 1 ]; then
			secure_boot=on
		fi
	done
	# shim was asked not to verify (mokutil --disable-validation): the kernel takes that for Secure Boot off
	for var in "$efivars"/MokSBStateRT-*; do
		[ ! -r "$var" ] || [ "$(od -An -tu1 -j4 -N1 "$var" | tr -d ' ')" != 1 ] || secure_boot=off
	done
}

# signatures_forced: why the running kernel loads signed modules only though Secure Boot is off; fails if it loads others
signatures_forced() {
	if grep -qsx Y /sys/module/module/parameters/sig_enforce; then
		echo "this kernel loads signed modules only (module.sig_enforce or CONFIG_MODULE_SIG_FORCE)"
	elif grep -qs '\[\(integrity\|confidentiality\)\]' /sys/kernel/security/lockdown; then
		echo "this kernel loads signed modules only (lockdown)"
	else
		return 1
	fi
}

# the certificate that DKMS signs with
mok_certificate() {
	local cert
	cert=$(cat /etc/dkms/framework.conf /etc/dkms/framework.conf.d/*.conf 2>/dev/null | sed -n 's/^mok_certificate=//p' | tr -d "\"'" | tail -n 1)
	for cert in "$cert" /var/lib/shim-signed/mok/MOK.der /var/lib/dkms/mok.pub; do
		[ -z "$cert" ] || [ ! -e "$cert" ] || { echo "$cert"; return; }
	done
}

# Sets $key_state: none (DKMS has made no key yet), no-mokutil, enrolled, pending (the next boot asks), missing
mok_key_state() {
	local cert out
	key_state=none
	cert=$(mok_certificate)
	[ -n "$cert" ] || return 0
	key_state=no-mokutil
	command -v mokutil >/dev/null || return 0
	out=$(mokutil --test-key "$cert" 2>&1)
	case $out in
	*'already enrolled'*|*'already in '*) key_state=enrolled ;;
	*'enrollment request'*) key_state=pending ;;
	*) key_state=missing ;;
	esac
}

# the steps that make the kernel take DKMS's key
enrolment_steps() {
	local cert
	cert=$(mok_certificate)
	case $key_state in
	no-mokutil) echo "$(install_hint mokutil), then mokutil --import $cert, reboot, choose \"Enroll MOK\" and type the password again" ;;
	pending) echo "reboot, choose \"Enroll MOK\" and type the password that mokutil asked for" ;;
	*) echo "mokutil --import ${cert:-/var/lib/dkms/mok.pub}, reboot, choose \"Enroll MOK\" and type the password again" ;;
	esac
}

# secure_boot_refuses: would the kernel refuse what DKMS signs?  Says so with the steps; not with --force.  To be asked after
# a build (DKMS makes its key with the first one) and before anything is put into /lib/modules
secure_boot_refuses() {
	local why=''
	secure_boot_state
	[ "$secure_boot" = on ] || why=$(signatures_forced) || return 1
	mok_key_state
	[ "$key_state" != enrolled ] || return 1
	if [ -n "$why" ]; then
		warn "$why, and DKMS's key is not known to be one of those that it trusts: have the kernel trust $(mok_certificate), boot it without that, or give --force if it trusts the key"
		[ -z "${force-}" ]
		return
	fi
	if [ -n "${force-}" ]; then
		warn "Secure Boot is on, and DKMS's key is not known to be enrolled; the module is installed because of --force. To enrol the key: $(enrolment_steps)"
		return 1
	fi
	if [ "$key_state" = no-mokutil ]; then
		warn "Secure Boot is on, and kfdprio-driver needs mokutil to check whether DKMS's key is enrolled: $(enrolment_steps)"
	else
		warn "Secure Boot is on and DKMS's key is not enrolled, so the kernel would refuse the module: $(enrolment_steps)"
	fi
}

secure_boot_advice() {
	local cert
	secure_boot_state
	[ "$secure_boot" = on ] || return 0
	mok_key_state
	cert=$(mok_certificate)
	case $key_state in
	none) say "Secure Boot is on, and DKMS has no key yet: DKMS makes one when it builds its first module" ;;
	enrolled) say "Secure Boot is on, and DKMS's key $cert is enrolled" ;;
	no-mokutil) say "Secure Boot is on: $(enrolment_steps), or the kernel refuses the module" ;;
	*) say "Secure Boot is on and DKMS's key is not enrolled: $(enrolment_steps), or the kernel refuses the module" ;;
	esac
}
