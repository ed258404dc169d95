# SPDX-License-Identifier: GPL-2.0
# kfdprio: process priorities and queue trace events for amdkfd

.DEFAULT_GOAL := help
VERSION := $(shell sed -n 's/^Version: //p' META)
TREES := $(shell sed -n 's/^Trees: //p' META)
KERNEL ?= 6.12
GPU ?= mi210
# What "make check" runs, in this order: NAME, or NAME@GPU@KERNEL; SUITES="unit cli" narrows it down.
# First what has no scheduler to choose and HWS (mi210, 6.12), then MES
SUITES ?= preempt lint unit dist patches cli vm-report harness cli-vm trace kfdtrace priority security hostile rocm bits cost bench soak smoke hostile@navi31
# What "make check-all" runs besides, in parts that take about as long as each other.  "make check PART=N" adds one of them;
# CI does, another one for each commit. It goes first: the longest suites are in it
PARTS := 1 2 3 4 5 6
PART_1 := dkms contention lifecycle trace@navi31 priority@navi31 contention@navi31 lifecycle@navi31
PART_2 := sim vm gdb services slurm
PART_3 := preempt-deep preempt@navi31 doctor cli-nodev cli-stock kubernetes
PART_4 := stock rpm rfc rfc-events rfc-faults rfc-cost cli-vm@@6.1 trace@@6.1 priority@@6.1 rocm@@6.1 contention@@6.1 lifecycle@@6.1 trace@navi31@6.1 priority@navi31@6.1 execute@@6.1
PART_5 := debug preempt-deep@navi31 trace@gfx12 priority@gfx12 hostile@gfx12 trace@mi300x priority@mi300x end-of-work@mi300x hostile@mi300x \
	trace@navi21 priority@navi21 end-of-work@navi21 hostile@navi21
PART_6 := execute identical bits-deep bits-deep@navi21
BENCH_RUNS ?= 50

.PHONY: help
help:
	@echo 'kfdprio $(VERSION)'
	@echo
	@echo '  make demo          an online and an offline HIP program on a simulated GPU, before and after kfdprio'
	@echo '  make demo-shares   two HIP programs that always have work, and their shares of GPU time: 70:30, and 30 % at most'
	@echo '  make record        the two programs of make demo, recorded by kfdtrace: build/record/rec'
	@echo '  make check         the tests that every change must pass; SUITES="unit cli" for some of them, PART=1 to $(lastword $(PARTS)): a part of check-all'
	@echo '  make check-all     those, and every other suite (long)'
	@echo '  make check-fresh   demo and check in fresh Debians, in both orders, as an ordinary user too (long); CASES="demo user"'
	@echo '  make check-quick   the shortest run: unit tests, tools, lint, and the driver in two short VM runs'
	@echo '  make check CHANGED=1 the suites that can see what has changed since the last commit, or by it (CHANGED=COMMIT: since that)'
	@echo '  make bench         preemption in figures: latency, throughput, cost (simulated; GPU=mi300x), build/bench.json'
	@echo '  make check-preempt all tests of preemption, HWS and MES and two GPUs (long)'
	@echo '  make check-trees   every kernel tree: prepare, hooks, amdkfd, amdgpu.ko through DKMS, VM (long)'
	@echo '  make check-debug   the driver on kernels with KASAN, lockdep, kmemleak, KCSAN, with every allocation failing (long);'
	@echo '                     SLICE=1: a few of them; the kernels are built once, which takes long'
	@echo '  make fuzz          libFuzzer on each parser of kfdtrace for TIME seconds (600)'
	@echo '  make check-race    each two operations on queues and priorities at once, HWS and MES (long); ROUNDS=N: of each pair'
	@echo '                     so many, and what was done before of the same sources counts'
	@echo '  make check-rocm    TREE=/usr/src/amdgpu-VERSION: a release of ROCm built whole, as it is and with kfdprio, loaded in the VM'
	@echo '                     without a GPU, upgraded and uninstalled (long, root); SERIES=6.1 or a kernel of Debian, REGISTERS=DIR for missing headers'
	@echo '  make check-rocm-sim  TREE=/usr/src/amdgpu-VERSION: its amdkfd on the simulated GPU'
	@echo '  make fuzz-ioctl    ioctls at random, CALLS=N of them (1000000)'
	@echo '  make check-load    an over-subscribed simulated GPU on a busy host, SECS=N seconds (20) for each of 12 cases'
	@echo '  make check-steady  SUITES="bench unit" RUNS=N times (3) beside 8 busy processes, and the table of such runs; what ran before counts'
	@echo '  make check-services services under systemd, with a second boot and the cost of the rules service'
	@echo '  make check-containers  pods of containerd through CRI, containers of podman and Docker, of Debian 13 (long, root)'
	@echo '  make check-cluster jobs of Slurm, with latencies on a shared GPU with the plugin and without; QOS of slurmdbd; 200 simulated'
	@echo '                     nodes; Slurm of Debian 13; metrics in Prometheus'
	@echo '  make check-kubernetes the device plugin of contrib/kubernetes against a stand-in for the kubelet, its manifests and policies;'
	@echo '                     with the Go of Debian 13, which is unpacked into the cache'
	@echo '  make check-hostile programs of an ordinary user that try to crash the host or to defeat preemption, on HWS and MES (long)'
	@echo '  make check-soak    the contention test $(BENCH_RUNS) times in a row (BENCH_RUNS=N)'
	@echo
	@echo '  make tools         the programs, and the plugin of libtraceevent, into build/tools'
	@echo '  make slurm         kfdprio.so, which sets the GPU priority of jobs of Slurm, into build/tools; needs libslurm-dev'
	@echo '  make sim           the simulated GPU with the patched amdkfd of Debian $(KERNEL) (KERNEL=6.1)'
	@echo '  make shell         a shell in the VM, with the simulated GPU (GPU=mi300x,navi31 KERNEL=6.1)'
	@echo '  make patches       make kfd_patches/debian-*/hooks.patch anew from hooks.cocci; DIR=DIRECTORY: those of all trees, each from'
	@echo '                     DIRECTORY/TREE; SRC=DIRECTORY TREE=NAME: of another source'
	@echo '  make rfc           trace events and fixes of KFD as series of patches for amd-gfx, into build/rfc; FROM="Name <address>": their sender'
	@echo '  make html          the pages of Documentation/ with Sphinx, into build/html'
	@echo '  make lint          checkpatch, sparse, shellcheck, cppcheck, clang-tidy, coccicheck, spelling and style on our own files'
	@echo '  make analyze       static analyzer of clang, checkpatch of the tests and more, which take longer (Documentation/testing.rst)'
	@echo '  make setup         install the Debian packages that demo and check need (make demo does, too)'
	@echo '  make clean         remove build/; the cache of kernels is in ~/.cache/kfdprio'
	@echo
	@echo 'On a host with an AMD GPU, see Documentation/install.rst:'
	@echo '  make install       tools, man pages and completion to $$(PREFIX) (/usr/local), and the driver, with DKMS;'
	@echo '                     with DESTDIR no driver'
	@echo '  make uninstall     take all of that away; the driver that was there before is loaded again'
	@echo '  make status        which amdgpu is installed, would be loaded, is loaded; Secure Boot; what to do next'
	@echo '  make install-tools tools, man pages and completion only, to $$(DESTDIR)$$(PREFIX)'
	@echo '  make install-slurm the plugin of Slurm, to the directory where Slurm looks for plugins'
	@echo '  make deb           Debian packages kfdprio-dkms and kfdprio, into build/deb'
	@echo '  make rpm           RPM packages of the same names, into build/rpm'
	@echo '  make dist          the release tarball of the commit that is checked out, into build/dist; the same bytes each time'

.PHONY: setup setup-demo
setup:
	@tests/setup demo check

setup-demo:
	@tests/setup demo

.PHONY: tools
tools:
	@$(MAKE) -s -C tools all

.PHONY: slurm
slurm:
	@$(MAKE) -s -C tools slurm

.PHONY: sim
sim:
	@tests/sim/build --kernel $(KERNEL)

.PHONY: demo
demo: setup-demo
	@$(MAKE) -s --no-print-directory tools
	@tests/demo/run

.PHONY: demo-shares
demo-shares: setup-demo
	@$(MAKE) -s --no-print-directory tools
	@tests/demo/run shares

.PHONY: record
record: setup-demo
	@$(MAKE) -s --no-print-directory tools
	@KERNEL=$(KERNEL) GPU=$(GPU) tests/demo/record

# CHANGED=1: since the last commit, or by it; CHANGED=COMMIT: since COMMIT
.PHONY: check check-arguments check-all check-quick suites parts
check: check-arguments setup
	@$(MAKE) -s -C tools all fake
	@$(MAKE) -s -C tests all
	@$(if $(CHANGED),suites=$$(tests/changed $(filter-out 1,$(CHANGED))) && tests/run $$suites,tests/run $(SUITES) $(if $(PART),+ $(PART_$(PART))))

# CHANGED chooses the suites itself
check-arguments:
	@$(if $(filter-out $(PARTS),$(PART)),echo 'make check: PART=$(PART): not one of $(PARTS)' >&2; exit 2)
	@$(if $(and $(CHANGED),$(PART)),echo 'make check: CHANGED=$(CHANGED) chooses the suites: remove PART=$(PART)' >&2; exit 2)
	@$(if $(and $(CHANGED),$(filter-out file,$(origin SUITES))),echo 'make check: CHANGED=$(CHANGED) chooses the suites: remove SUITES' >&2; exit 2)
	@:

check-all:
	@$(MAKE) -s check SUITES='$(SUITES) $(foreach part,$(PARTS),$(PART_$(part)))'

.PHONY: check-fresh
check-fresh: setup
	@tests/fresh/run $(CASES)

check-quick: setup
	@$(MAKE) -s -C tools all fake
	@tests/run smoke unit cli lint

# for scripts
parts:
	@echo $(PARTS)

suites:
	@echo $(SUITES) $(foreach part,$(PARTS),$(PART_$(part)))

.PHONY: check-preempt
check-preempt: setup tools
	@$(MAKE) -s -C tests O=$(CURDIR)/build/tests/bin $(CURDIR)/build/tests/bin/preempt
	@status=0; for vm in '--gpu mi210' '--gpu navi31' '--gpu mi210,mi210'; do \
		echo "# tests/preempt/run $$vm"; \
		case $$vm in *,*) set -- two_gpus park_two ;; *) set -- $$(build/tests/bin/preempt -l) ;; esac; \
		tests/preempt/run $$vm -- "$$@" || status=1; \
	done; exit $$status

.PHONY: check-trees
check-trees: setup tools
	@$(MAKE) -s -C tests all
	@status=0; tests/trees/run || status=1; tests/stock/real || status=1; tests/stock/hip || status=1; exit $$status

.PHONY: check-debug
check-debug:
	@tests/setup demo check debug
	@$(MAKE) -s --no-print-directory tools
	@tests/debug/run $(if $(SLICE),--slice)

# a whole release of ROCm, of which the user has the source
.PHONY: check-rocm check-rocm-arguments
check-rocm-arguments:
	@[ -n "$$TREE" ] || { echo 'make check-rocm and check-rocm-sim: give TREE=DIRECTORY, a source of amdgpu-dkms such as /usr/src/amdgpu-VERSION' >&2; exit 2; }
	@[ -z "$$REGISTERS" ] || [ -d "$$REGISTERS" ] || { echo "make check-rocm: REGISTERS=$$REGISTERS: no such directory" >&2; exit 2; }

check-rocm: check-rocm-arguments setup tools
	@tests/dkms/run --tree "$$TREE" $${REGISTERS:+--registers "$$REGISTERS"} $(SERIES)

# its amdkfd on the simulated GPU; ROCM_SUITES: some of the suites
.PHONY: check-rocm-sim
check-rocm-sim: check-rocm-arguments setup tools
	@tests/sim/check-rocm "$$TREE" $(ROCM_SUITES)

.PHONY: check-race
check-race: setup tools
	@status=0; for gpu in mi210 navi31; do \
		tests/race/run $(if $(ROUNDS),--resume --timeout 864000) --gpu $$gpu -- \
			$(if $(ROUNDS),-s 60 -n $(ROUNDS),-s 9) || status=1; \
	done; $(if $(ROUNDS),tests/race/run --table;) exit $$status

.PHONY: fuzz-ioctl
fuzz-ioctl: setup tools
	@tests/ioctl/run --timeout 90000 -- -n $(or $(CALLS),1000000) -s 86400

.PHONY: check-steady
check-steady: setup tools
	@$(MAKE) -s -C tests all
	@tests/steady -n $(or $(RUNS),3) $(SUITES)

.PHONY: check-load
check-load: setup tools
	@tests/sim/load $(or $(SECS),20)

.PHONY: check-services
check-services: setup tools
	@tests/services/run --long

.PHONY: check-containers
check-containers: setup tools
	@tests/containers/run

.PHONY: check-cluster
check-cluster:
	@tests/setup demo check cluster
	@$(MAKE) -s --no-print-directory tools
	@status=0; for test in "slurm/run --long" slurm/newer slurm/scale metrics/run; do \
		tests/$$test || status=1; \
	done; exit $$status

.PHONY: check-kubernetes
check-kubernetes: setup
	@tests/run kubernetes

.PHONY: check-hostile
check-hostile: setup tools
	@status=0; for gpu in mi210 mi300x navi21 navi31 gfx12; do \
		tests/hostile/run --gpu $$gpu || status=1; \
	done; for kernel in 6.12 6.1; do \
		tests/hostile/uaf/run --kernel $$kernel || status=1; \
	done; exit $$status

.PHONY: check-soak
check-soak: setup tools
	@tests/contention/soak $(BENCH_RUNS)

# GPU has another default here: the constants of MI300X
.PHONY: bench
bench: setup
	@$(MAKE) -s --no-print-directory tools
	@$(if $(filter file default undefined,$(origin GPU)),,GPU=$(GPU)) KERNEL=$(KERNEL) tests/bench/run

.PHONY: fuzz
fuzz:
	@tests/setup check fuzz
	@$(MAKE) -s --no-print-directory -C tests/fuzz fuzz $(if $(TIME),TIME=$(TIME))

.PHONY: shell
shell: setup-demo tools
	@tests/vm/run --kernel $(KERNEL) --gpu $(GPU)

.PHONY: patches
ifdef SRC
patches:
	@[ -n "$(TREE)" ] || { echo 'make patches: SRC=DIRECTORY needs TREE=NAME' >&2; exit 2; }
	@kfd_patches/make-patch "$(SRC)" "kfd_patches/$(TREE)/hooks.patch"
	@echo "kfd_patches/$(TREE)/hooks.patch: $$(grep -c '^@@' "kfd_patches/$(TREE)/hooks.patch") hunks, from $(SRC)"
else
# Debian's trees are in the cache; DIR/TREE is the source of any other, and of one of Debian's if it exists
OTHERS := $(filter-out debian-%,$(TREES))
patches:
	@[ -z "$(DIR)" ] || [ -d "$(DIR)" ] || { echo 'make patches: $(DIR): no such directory' >&2; exit 2; }
	@status=0; for tree in $(if $(DIR),$(TREES),$(filter debian-%,$(TREES))); do \
		src="$(DIR)/$$tree" from="$(DIR)/$$tree"; \
		case $$tree in debian-*) [ -n "$(DIR)" ] && [ -d "$$src" ] || { \
			dir=$$(tests/vm/fetch-kernel --quiet $${tree#debian-}) || { status=1; continue; }; \
			src=$$dir/source from=$$(cat $$dir/abi); } ;; esac; \
		kfd_patches/make-patch "$$src" kfd_patches/$$tree/hooks.patch || { status=1; continue; }; \
		echo "kfd_patches/$$tree/hooks.patch: $$(grep -c '^@@' kfd_patches/$$tree/hooks.patch) hunks, from $$from"; \
		kfd_patches/prepare-tree --check --tree $$tree "$$src" >/dev/null || status=1; \
	done; exit $$status
	@[ -n "$(DIR)" ] || [ -z "$(OTHERS)" ] || echo 'not made anew: $(OTHERS); make patches DIR=DIRECTORY does that, see Documentation/porting.rst'
endif

.PHONY: rfc
rfc:
	@RFC_FROM="$$FROM" contrib/rfc/build build/rfc
	@echo 'build/rfc: read 0000-cover-letter.patch, and Documentation/upstream.rst on what is to do before it is sent'

.PHONY: lint
lint:
	@tests/lint/run

.PHONY: html
html:
	@command -v sphinx-build >/dev/null || { echo 'make html: sphinx-build is missing; install python3-sphinx' >&2; exit 1; }
	@tests/lint/check-docs $(CURDIR)/build/html
	@echo 'build/html/index.html'

.PHONY: analyze
analyze:
	@tests/setup check
	@tests/lint/analyze

PREFIX ?= /usr/local
export PREFIX
.PHONY: install install-tools install-slurm uninstall status
install: install-tools
	@$(if $(DESTDIR),echo 'DESTDIR is set: the driver was not installed',\
		install -D -m 644 Documentation/man/kfdprio-driver.8 '$(PREFIX)/share/man/man8/kfdprio-driver.8' && \
		dkms/kfdprio-driver install --prefix '$(PREFIX)')

install-tools: tools
	@$(MAKE) -s -C tools install
	@echo 'installed the tools into $(DESTDIR)$(PREFIX)'

install-slurm:
	@$(MAKE) -s -C tools install-slurm
	@echo 'installed the plugin of Slurm; next: edit $(DESTDIR)/etc/slurm/plugstack.conf.d/kfdprio.conf (kfdprio-slurm(8)), restart slurmd'

# the driver first: where it cannot be removed nothing is
uninstall:
	@$(if $(DESTDIR),echo 'DESTDIR is set: the driver was not touched',\
		dkms/kfdprio-driver uninstall --prefix '$(PREFIX)' && rm -f '$(PREFIX)/share/man/man8/kfdprio-driver.8')
	@$(MAKE) -s -C tools uninstall
	@echo 'removed the tools from $(DESTDIR)$(PREFIX)'

status:
	@dkms/kfdprio-driver status

.PHONY: deb rpm dist
deb:
	@debian/build build/deb

rpm:
	@rpm/build build/rpm

dist:
	@dist/build build/dist

.PHONY: clean
clean:
	rm -rf build
