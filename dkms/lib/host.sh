# SPDX-License-Identifier: GPL-2.0
# dkms/lib/host.sh - what this host calls things: its package manager, its packages, the directory that DKMS installs to.
# Sourced by kfdprio-driver and by the scripts in kfd_patches/ and dkms/ that name them; defines functions only.
# shellcheck shell=bash

# the family of distributions: debian, ubuntu, fedora (RHEL, Rocky, ...), suse, arch, or unknown
host_family() {
	local file id=''
	for file in /etc/os-release /usr/lib/os-release; do
		[ -r "$file" ] || continue
		# shellcheck disable=SC1090 # one of the two
		id=$(. "$file" 2>/dev/null; echo " ${ID-} ${ID_LIKE-} ")
		break
	done
	case $id in
	*' ubuntu '*) echo ubuntu ;;
	*' debian '*) echo debian ;;
	*' fedora '*|*' rhel '*|*' centos '*) echo fedora ;;
	*' suse '*|*' opensuse'*|*' sles '*|*' sled '*) echo suse ;;
	*' arch '*) echo arch ;;
	*) echo unknown ;;
	esac
}

# install_hint PACKAGE...: the command that installs them here.  A package's name may be Debian's where the other
# distributions have the same thing by another name.
install_hint() {
	local name family
	family=$(host_family)
	for name; do
		shift
		case $family/$name in
		fedora/xz-utils|suse/xz-utils|arch/xz-utils) name=xz ;;
		fedora/pkg-config) name=pkgconf-pkg-config ;;
		suse/pkg-config) name=pkgconf ;;
		fedora/initramfs-tools|suse/initramfs-tools) name=dracut ;;
		esac
		set -- "$@" "$name"
	done
	case $family in
	fedora) echo "dnf install $*" ;;
	suse) echo "zypper install $*" ;;
	arch) echo "pacman -S $*" ;;
	debian|ubuntu) echo "apt install $*" ;;
	*) echo "install the package $*" ;;
	esac
}
# library_hint DEBIAN-PACKAGE PKG-CONFIG-NAME|NAME-devel: the command that installs a library's header files here
library_hint() {
	case $(host_family) in
	debian|ubuntu) install_hint "$1" ;;
	fedora|suse) case $2 in
		*-devel) install_hint "$2" ;; # no .pc file
		*) install_hint "'pkgconfig($2)'" ;;
		esac ;;
	*) echo "install the header files of ${2%-devel}" ;;
	esac
}
# remove_hint PACKAGE...: the command that removes them here
remove_hint() {
	case $(host_family) in
	fedora) echo "dnf remove $*" ;;
	suse) echo "zypper remove $*" ;;
	arch) echo "pacman -R $*" ;;
	debian|ubuntu) echo "apt purge $*" ;;
	*) echo "remove the package $*" ;;
	esac
}

# Arch's name of the package that a kernel is from: linux, linux-lts, linux-zen
arch_kernel_package() { cat "/usr/lib/modules/$1/pkgbase" 2>/dev/null || echo linux; }

# headers_package KERNEL: the package that has its headers; KERNEL empty: of the kernel that the distribution has now
headers_package() {
	local kernel=${1-} flavour=''
	case $(host_family) in
	debian)
		case $kernel in
		*-pve) echo "proxmox-headers-$kernel" ;;
		*) echo "linux-headers-${kernel:-amd64}" ;;
		esac ;;
	fedora)
		# 6.12.0-55.el10.x86_64+rt is kernel-rt's
		[[ $kernel != *.x86_64+* ]] || flavour=${kernel##*+}-
		echo "kernel-${flavour}devel${kernel:+-${kernel%"+${flavour%-}"}}" ;;
	suse)
		[[ $kernel == *-* ]] || { echo kernel-default-devel; return; }
		echo "kernel-${kernel##*-}-devel=${kernel%-*}" ;;
	arch) echo "$(arch_kernel_package "$kernel")-headers" ;;
	*) echo "linux-headers-${kernel:-generic}" ;;
	esac
}

# unpacked_source KERNEL: the directory of amdgpu's source in the source of exactly that kernel, where an administrator or
# SUSE's package kernel-source has unpacked it: /usr/src/linux-KERNEL, or /usr/src/linux-<KERNEL without its flavour>.
# Fails if there is none.
unpacked_source() {
	local dir
	for dir in "/usr/src/linux-$1" "/usr/src/linux-${1%-*}"; do
		# SUSE's kernel-devel is there as well, with Makefiles and Kconfig only
		[ -e "$dir/drivers/gpu/drm/amd/amdkfd/kfd_priv.h" ] || continue
		# without a release, as linux-6.12.4, it may be the source of many kernels
		[ "$dir" = "/usr/src/linux-$1" ] || [[ ${dir#/usr/src/linux-} == *[!0-9.]* ]] || continue
		echo "$dir/drivers/gpu/drm/amd"
		return
	done
	return 1
}

# source_by_hand KERNEL: how the source of a kernel that no package has comes to where unpacked_source finds it
source_by_hand() { echo "unpack the source that this kernel was built from as /usr/src/linux-$1, or name its directory: AMDGPU_SRC=/path/of/linux kfdprio-driver install -k $1"; }

# source_hint KERNEL: how the source of exactly that kernel comes to where unpacked_source finds it, on one line
source_hint() {
	local kernel=$1 package version
	case $(host_family) in
	fedora)
		package=kernel version=${kernel%%.x86_64*}
		echo "dnf download --source $package-$version && rpm -i $package-$version.src.rpm && rpmbuild -bp --nodeps ~/rpmbuild/SPECS/$package.spec &&" \
			"cp -r \"\$(find ~/rpmbuild/BUILD -type d -name 'linux-${kernel%+*}')\" /usr/src/linux-$kernel" ;;
	suse)
		echo "zypper install kernel-source=${kernel%-*}" ;;
	arch)
		package=$(arch_kernel_package "$kernel")
		if [[ $kernel =~ ^([0-9.]+)-arch([0-9]+)- ]]; then
			version=${BASH_REMATCH[1]%.0}-arch${BASH_REMATCH[2]}
			echo "git clone --depth 1 -b v$version https://github.com/archlinux/linux /usr/src/linux-$kernel"
		else
			echo "unpack the source that the package $package was built from as /usr/src/linux-$kernel"
		fi ;;
	debian|ubuntu)
		[[ $kernel =~ ^([0-9]+\.[0-9]+) ]] || return 1
		package=linux-source-${BASH_REMATCH[1]}
		[ "$(host_family)" = debian ] || package+=.0
		echo "apt install $package" ;;
	*) source_by_hand "$kernel" ;;
	esac
}

# module_directory: the directory below /lib/modules/KERNEL that DKMS installs modules to, whatever dkms.conf has; as DKMS's
# override_dest_module_location(), versions 2.8 to 3.2: what the administrator chose, or else the distribution's
module_directory() {
	local dir=${ADDON_MODULES_DIR-}
	# shellcheck disable=SC1091 # the host's
	[ -n "$dir" ] || dir=$(. /etc/sysconfig/module-init-tools 2>/dev/null; echo "${ADDON_MODULES_DIR-}")
	if [ -n "$dir" ]; then
		echo "${dir#/}"
		return
	fi
	case $(host_family) in
	fedora) echo extra ;;
	suse) echo updates ;;
	*) echo updates/dkms ;;	# also dkms.conf's
	esac
}
# module_filesystem KERNEL: that directory, or as long as DKMS has not made it the nearest one above it: where room is needed
module_filesystem() {
	local dir
	dir=/lib/modules/$1/$(module_directory)
	while [ ! -d "$dir" ]; do
		dir=${dir%/*}
	done
	echo "$dir"
}
