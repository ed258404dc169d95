# SPDX-License-Identifier: GPL-2.0
# dkms/lib/self.sh - kfdprio-driver itself on a host: make install puts it where a package would
# shellcheck shell=bash disable=SC2154 # variables of kfdprio-driver

# kernel_hooks: FILE of /etc=FILE of dkms/ that becomes it, for each hook that this host runs for a new kernel
kernel_hooks() {
	case $(host_family) in
	debian|ubuntu) echo postinst.d/dkms-kfdprio=kernel-hook header_postinst.d/dkms-kfdprio=kernel-hook ;;
	*) echo install.d/45-kfdprio.install=kernel-install ;;
	esac
}

# install_self PREFIX: PREFIX/share/kfdprio/driver, PREFIX/sbin/kfdprio-driver and the kernel's hooks; goes on from there
install_self() {
	local dest=$1/share/kfdprio/driver new f hook
	[ "$top" != "$(readlink -f "$dest")" ] || return 0
	if package_owns /usr/share/kfdprio/driver/META; then
		die "the driver of the package kfdprio-dkms is installed: remove it first, or upgrade it"
	fi
	mkdir -p "$1/share/kfdprio" "$1/sbin" || die "cannot write to $1"
	new=$(mktemp -d "$1/share/kfdprio/.driver.XXXXXX") || die "cannot write to $1"
	for f in "${own_files[@]}"; do
		cp -a --no-preserve=ownership "$top/$f" "$new/" || { rm -rf "$new"; die "$dest: not installed, see above"; }
	done
	chmod 755 "$new"
	rm -rf "$dest"
	mv -T "$new" "$dest" || { rm -rf "$new"; die "$dest: not installed, see above"; }
	ln -sfn "$dest/dkms/kfdprio-driver" "$1/sbin/kfdprio-driver"
	for hook in $(kernel_hooks); do
		f=/etc/kernel/${hook%=*}
		mkdir -p "${f%/*}"
		sed "s|^driver=.*|driver=$1/sbin/kfdprio-driver|" "$dest/dkms/${hook#*=}" >"$f"
		chmod 755 "$f"
	done
	top=$dest
}

# uninstall_self [PREFIX]: what install_self brought; nothing of a package
uninstall_self() {
	local prefix=$1 hook
	if [ -z "$prefix" ]; then
		for hook in $(kernel_hooks); do
			prefix=$(sed -n 's|^driver=\(.*\)/sbin/kfdprio-driver$|\1|p' "/etc/kernel/${hook%=*}" "/usr/lib/kernel/${hook%=*}" 2>/dev/null | head -n 1)
			[ -z "$prefix" ] || break
		done
	fi
	[ -n "$prefix" ] || return 0
	if package_owns "$prefix/share/kfdprio/driver/META"; then
		# the package manager has its own idea of when to build again
		[ -n "${DPKG_MAINTSCRIPT_PACKAGE-}${KFDPRIO_PACKAGE_SCRIPT-}" ] ||
			say "the package kfdprio-dkms is still installed and builds the driver again for the next kernel; to remove it: $(remove_hint kfdprio-dkms)"
		return 0
	fi
	for hook in $(kernel_hooks); do
		package_owns "/etc/kernel/${hook%=*}" || rm -f "/etc/kernel/${hook%=*}"
	done
	rm -rf "$prefix/share/kfdprio/driver" "$prefix"/share/kfdprio/.driver.*
	rmdir "$prefix/share/kfdprio" 2>/dev/null
	[ ! -L "$prefix/sbin/kfdprio-driver" ] || rm -f "$prefix/sbin/kfdprio-driver"
}
