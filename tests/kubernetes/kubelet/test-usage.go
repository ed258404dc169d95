// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"os"
	"strings"
	"syscall"
)

// refused runs the plugin with arguments that it must refuse.
func (h *host) refused(what, message string, args ...string) {
	status, out, err := h.once(args...)
	if !ok(status == 2 && out == "" && strings.Contains(err, message), "%s: refused, exit status 2", what) {
		diag("exit status %d\n%s%s", status, out, err)
		diag("want %s", message)
	}
}

// testUsage is the command line.
func testUsage() {
	h := hostNew()
	defer h.end()
	h.refused("usage: an unknown option", "try -help", "-share", "4")
	h.refused("usage: an argument", "unexpected argument", "start")
	h.refused("usage: no shares", "give a number from 1 to 256", "-shares", "-1")
	h.refused("usage: too many shares", "give a number from 1 to 256", "-shares", "257")
	h.refused("usage: shares in two places", "-shares and -config are both given", "-shares", "2", "-config", h.config("shares=2\n"))
	h.refused("usage: no pause between polls", "give 1ms or more", "-poll", "0")
	status, out, _ := h.once("-help")
	ok(status == 0 && strings.Contains(out, "-metrics FILE"), "usage: -help")
	status, out, _ = h.once("-version")
	ok(status == 0 && strings.HasPrefix(out, "kfdprio-device-plugin "), "usage: -version")
	h.gpu(1, 11, 0xc1, 128, 0)
	h.gpu(2, 22, 0xc2, 129, 1)
	status, out, _ = h.once("-check", "-config", h.config("class=online shares=2 priority=high\nleave-out=0000:c2:00.0\n"))
	same(out, "kfdprio.org/gpu-online: 2 shares of each GPU, kfdprio.org/priority=high\n0000:c1:00.0: renderD128, Healthy\n", "usage: -check")
	same(status, 0, "usage: -check: exit status")
	// as KFD answers where the device cgroup does not have a GPU
	var who *syscall.Credential
	if os.Geteuid() == 0 {
		who = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	must(os.Chmod(h.dir, 0o755))
	must(os.Chmod(h.nodes()+"/2/gpu_id", 0))
	program, err := os.ReadFile(programs.plugin)
	must(err)
	must(os.WriteFile(h.dir+"/plugin", program, 0o755))
	_, out, text := h.onceAs(h.dir+"/plugin", who, "-check")
	ok(strings.Contains(text, "KFD hides 1 of the nodes of its topology"), "usage: nodes that KFD hides are reported")
	contains(out, "0000:c1:00.0: renderD128, Healthy\n", "usage: and the others are served")
}

// testConfig is the file of -config: each mistake is named, with its line.
func testConfig() {
	h := hostNew()
	defer h.end()
	many := ""
	for letter := 'a'; letter <= 'q'; letter++ {
		many += "class=" + string(letter) + " shares=1\n"
	}
	for _, wrong := range []struct{ text, message string }{
		{"shares", `line 1: "shares" is not KEY=VALUE`},
		{"shares=", "is not KEY=VALUE"},
		{"=4", "is not KEY=VALUE"},
		{"\n# a comment\nshares=0", "line 3: shares=\"0\": give a number from 1 to 256"},
		{"shares=+4", "give a number from 1 to 256"},
		{"shares=99999999999999999999", "give a number from 1 to 256"},
		{"shares=4\nshares=4", "line 2: a second shares="},
		{"shares=4 class=a", "stands alone on its line"},
		{"share=4", `unknown key "share"`},
		{"class=Online shares=1", "give at most 30 of a-z"},
		{"class=-a shares=1", "give at most 30 of a-z"},
		{"class=a/b shares=1", "give at most 30 of a-z"},
		{"class=" + strings.Repeat("a", 31) + " shares=1", "give at most 30 of a-z"},
		{"class=a shares=1\nclass=a shares=1", "line 2: class=a is there twice"},
		{"class=a", "class=a has no shares="},
		{"class=a shares=1 shares=2", `"shares" is there twice`},
		{"class=a shares=1 priority=11", "give low, normal or high"},
		{"class=a shares=1 several=many", "give same or different"},
		{"class=a shares=1 weight=2", `unknown key "weight"`},
		{"class=a shares=1 cdi=gpu0", "is not the name of a CDI device"},
		{"class=a shares=1 cdi=v.com/c=x,v.com/c=x", "has both v.com/c=x and v.com/c=x"},
		{"class=a shares=1 priority=low cdi=kfdprio.org/priority=high", "has both kfdprio.org/priority=low and"},
		{"class=a shares=1 cdi=v/c=1,v/c=2,v/c=3,v/c=4,v/c=5,v/c=6,v/c=7,v/c=8,v/c=9", "more than 8 CDI devices"},
		{"shares=4\nclass=a shares=3\nclass=b shares=2", "the classes have 5 shares of each GPU, and there are 4"},
		{"class=a shares=200\nclass=b shares=57", "the classes have 257 shares of each GPU, and there are 256"},
		{many, "line 17: more than 16 classes"},
		{"serve=c1:00.0", "is not the PCI address of a GPU"},
		{"serve=0000:C1:00.0", "is not the PCI address of a GPU"},
		{"serve=0000:c1:00.0,", "is not the PCI address of a GPU"},
		{"serve=0000:c1:00.0,0000:c1:00.0", "0000:c1:00.0 is there twice"},
		{"serve=0000:c1:00.0\nleave-out=0000:c2:00.0", "serve= and leave-out= are both given"},
		{strings.Repeat("# long\n", 10000), "larger than 64 KiB"},
		{"class=\x1b[31m shares=1", `class="\x1b[31m"`},
	} {
		first, _, _ := strings.Cut(strings.TrimSpace(wrong.text), "\n")
		// names of points have no control characters, and a # would begin a directive
		name := strings.NewReplacer("\x1b", "ESC", "#", "comment").Replace(first)
		h.refused("config: "+name, wrong.message, "-config", h.config(wrong.text))
	}
	h.refused("config: no such file", "no such file", "-config", h.dir+"/none")
	h.refused("config: a directory", "not a regular file", "-config", h.dir)
	fifo := h.dir + "/fifo"
	must(mkfifo(fifo))
	h.refused("config: a FIFO", "not a regular file", "-config", fifo)
	path := h.config("shares=2\n")
	status, out, _ := h.once("-check", "-config", path)
	ok(status == 0 && out == "kfdprio.org/gpu-share: 2 shares of each GPU\n", "config: one that is right")
	must(os.Chmod(path, 0o664))
	h.refused("config: its group may write it", "its group or others may write it (mode 0664)", "-config", path)
	must(os.Chmod(path, 0o606))
	h.refused("config: others may write it", "its group or others may write it (mode 0606)", "-config", path)
	must(os.Chmod(path, 0o644))
	must(os.Chmod(h.dir, 0o777))
	h.refused("config: others may replace it", "its group or others may write it (mode 0777)", "-config", path)
	must(os.Chmod(h.dir, 0o700))
	if os.Geteuid() == 0 {
		must(os.Chown(path, 65534, 0))
		h.refused("config: it belongs to another user", "it belongs to user 65534", "-config", path)
		must(os.Chown(path, 0, 0))
	} else {
		skip("needs root", "config: it belongs to another user")
	}
	// as kubelet mounts a ConfigMap: links, and a directory that all may write
	must(os.MkdirAll(h.dir+"/map/..data", 0o755))
	must(os.Rename(path, h.dir+"/map/..data/config"))
	must(os.Symlink("..data/config", h.dir+"/map/config"))
	must(os.Chmod(h.dir+"/map", 0o777))
	h.refused("config: a link in a directory that others may write", "its group or others may write it (mode 0777)", "-config", h.dir+"/map/config")
	const mounted = "config: the same where it is mounted read-only, as a ConfigMap is"
	done, err := readOnly(h.dir + "/map")
	if err != nil {
		skip("needs root, to mount", mounted)
		return
	}
	status, out, text := h.once("-check", "-config", h.dir+"/map/config")
	if !ok(status == 0 && out == "kfdprio.org/gpu-share: 2 shares of each GPU\n", mounted) {
		diag("%s%s", out, text)
	}
	done()
}
