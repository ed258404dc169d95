// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"syscall"
)

const share = "kfdprio.org/gpu-share"

// two makes a host of two GPUs, a kubelet, and the plugin.
func two(args ...string) (*host, *kubelet, *process) {
	h := hostNew()
	h.gpu(1, 11, 0xc1, 128, 0)
	h.gpu(2, 22, 0xc2, 129, 1)
	h.metrics()
	k := kubeletNew(h.plugins)
	k.start()
	return h, k, h.start(args...)
}

func (h *host) over(k *kubelet, p *process) {
	if p != nil {
		p.stop(syscall.SIGTERM)
	}
	k.stop()
	h.end()
}

// testRegister is registration, in both orders, and the list.
func testRegister() {
	h, k, p := two()
	k.health(share, 8, 0)
	e := k.plugin(share)
	same(e.request.Version, "v1beta1", "register: version")
	same(e.request.ResourceName, share, "register: resource")
	same(e.request.Endpoint, "kfdprio-share.sock", "register: endpoint")
	same(words(e.options.GetPreferredAllocationAvailable, e.options.PreStartRequired), "true false", "register: options")
	options, err := e.client.GetDevicePluginOptions(background(), empty())
	must(err)
	same(words(options.GetPreferredAllocationAvailable, options.PreStartRequired), "true false", "register: the same options when asked")
	same(k.ids(share), "[0000:c1:00.0/0 0000:c1:00.0/1 0000:c1:00.0/2 0000:c1:00.0/3 "+
		"0000:c2:00.0/0 0000:c2:00.0/1 0000:c2:00.0/2 0000:c2:00.0/3]", "register: the IDs, four of each GPU")
	same(e.devices["0000:c2:00.0/3"].Topology.Nodes[0].ID, 1, "register: the NUMA node")
	info, err := os.Stat(h.plugins + "/kfdprio-share.sock")
	must(err)
	same(info.Mode().Perm(), "-rwx------", "register: the socket is for root only")
	same(p.stop(syscall.SIGTERM), 0, "register: SIGTERM ends it, exit status 0")
	_, err = os.Lstat(h.plugins + "/kfdprio-share.sock")
	ok(os.IsNotExist(err), "register: no socket is left")
	k.wait(func() bool { return e.gone })
	k.stop()
	must(os.RemoveAll(h.plugins))
	must(os.Mkdir(h.plugins, 0o750))
	p = h.start()
	// its socket is there, and no kubelet
	k.start()
	k.health(share, 8, 0)
	ok(true, "register: a kubelet that starts after the plugin")
	// a kubelet that refuses is asked again
	k.stop()
	k.mutex.Lock()
	k.refuse = fmt.Errorf("the resource is taken")
	k.mutex.Unlock()
	k.start()
	k.wait(func() bool { return k.refused >= 3 })
	same(strings.Count(p.text(), "the resource is taken"), 1, "register: a refusal is printed once, and asked again after each poll")
	k.mutex.Lock()
	k.refuse = nil
	k.mutex.Unlock()
	k.health(share, 8, 0)
	ok(true, "register: registered when the kubelet no longer refuses")
	// a kubelet that drops the stream, and makes no new socket
	k.mutex.Lock()
	e = k.plugins[share]
	k.mutex.Unlock()
	e.cancel()
	k.wait(func() bool { return k.plugins[share] != e })
	k.health(share, 8, 0)
	ok(true, "register: registered again after the kubelet dropped the stream")
	h.over(k, p)
}

// testAllocate is the devices of containers.
func testAllocate() {
	h, k, p := two()
	k.health(share, 8, 0)
	e := k.plugin(share)
	answer, err := e.allocate("0000:c1:00.0/2")
	must(err)
	same(paths(answer), "/dev/kfd /dev/dri/renderD128", "allocate: /dev/kfd and the render node of the GPU")
	same(cdi(answer), "", "allocate: no CDI device without a class")
	same(words(len(answer.Mounts), len(answer.Envs), len(answer.Annotations)), "0 0 0", "allocate: nothing else")
	answer, err = e.allocate("0000:c1:00.0/0", "0000:c1:00.0/3", "0000:c1:00.0/1")
	must(err)
	same(paths(answer), "/dev/kfd /dev/dri/renderD128", "allocate: three shares of one GPU give its devices once")
	answer, err = e.allocate("0000:c2:00.0/0", "0000:c1:00.0/3", "0000:c2:00.0/1")
	must(err)
	same(paths(answer), "/dev/kfd /dev/dri/renderD128 /dev/dri/renderD129", "allocate: shares of two GPUs give the devices of both")
	// two pods on one GPU
	for i := 0; i < 8; i++ {
		_, err := k.run(fmt.Sprint("pod", i), share, 1)
		must(err)
	}
	on := map[string]int{}
	ids := map[string]bool{}
	for _, pod := range k.pods {
		on[paths(pod.answer)]++
		ids[pod.ids[0]] = true
	}
	same(on, map[string]int{"/dev/kfd /dev/dri/renderD128": 4, "/dev/kfd /dev/dri/renderD129": 4}, "allocate: eight pods, four on each GPU")
	same(len(ids), 8, "allocate: each with a share of its own")
	_, err = k.run("more", share, 1)
	same(err, errShort, "allocate: there is no ninth share")
	k.end("pod3")
	_, err = k.run("more", share, 1)
	same(err, nil, "allocate: there is one after the end of a pod")
	h.over(k, p)
}

// testSpread is GetPreferredAllocation.
func testSpread() {
	h := hostNew()
	for i := 1; i <= 4; i++ {
		h.gpu(i, i, i, 127+i, 0)
	}
	k := kubeletNew(h.plugins)
	k.start()
	p := h.start("-config", h.config("class=same shares=12\nclass=different shares=12 several=different\n"))
	for _, name := range []string{"same", "different"} {
		resource := "kfdprio.org/gpu-" + name
		k.health(resource, 48, 0)
		var first, all []string
		for i := 0; i < 12; i++ {
			pod, err := k.run(fmt.Sprint(name, i), resource, 1)
			must(err)
			all = append(all, pod.ids...)
			if i < 4 {
				first = append(first, pod.ids...)
			}
		}
		sort.Strings(first)
		same(first, "[0000:01:00.0/0 0000:02:00.0/0 0000:03:00.0/0 0000:04:00.0/0]", "spread: %s: four pods on four GPUs", name)
		same(counts(all), map[string]int{"0000:01:00.0": 3, "0000:02:00.0": 3, "0000:03:00.0": 3, "0000:04:00.0": 3},
			"spread: %s: twelve pods, three on each", name)
		// one GPU is emptied: the next pods go there
		for name, pod := range k.pods {
			if pod.resource == resource && gpuOf(pod.ids[0]) == "0000:03:00.0" {
				k.end(name)
			}
		}
		for i := 0; i < 3; i++ {
			pod, err := k.run(fmt.Sprint(name, "again", i), resource, 1)
			must(err)
			same(gpuOf(pod.ids[0]), "0000:03:00.0", "spread: %s: the GPU with the fewest shares taken comes first", name)
		}
		pod, err := k.run(name+"several", resource, 4)
		must(err)
		if name == "same" {
			same(len(counts(pod.ids)), 1, "spread: same: four shares of a container are of one GPU")
		} else {
			same(len(counts(pod.ids)), 4, "spread: different: four shares of a container are of four GPUs")
		}
	}
	// more than one GPU has: as few GPUs as there can be, those with the most first
	pod, err := k.run("large", "kfdprio.org/gpu-same", 17)
	must(err)
	same(len(counts(pod.ids)), 2, "spread: same: 17 shares are of two GPUs, where one has 5 free and three have 9")
	e := k.plugin("kfdprio.org/gpu-same")
	available := k.ids("kfdprio.org/gpu-same")
	ids, err := preferred(e, available, []string{"0000:02:00.0/7"}, 3)
	must(err)
	same(words(ids[0], counts(ids)), "0000:02:00.0/7 map[0000:02:00.0:3]", "spread: same: the others are of the GPU of a share that must be included")
	// two GPUs left
	ids, err = preferred(e, []string{"0000:04:00.0/1", "0000:01:00.0/11", "0000:01:00.0/2"}, nil, 2)
	must(err)
	same(ids, "[0000:01:00.0/2 0000:01:00.0/11]", "spread: same: a GPU that has both is preferred")
	h.over(k, p)
}

// testClasses is resources with priorities, and GPUs that are left out.
func testClasses() {
	h := hostNew()
	h.gpu(1, 11, 0xc1, 128, -1)
	h.gpu(2, 22, 0xc2, 129, -1)
	h.gpu(3, 33, 0xc3, 130, -1)
	k := kubeletNew(h.plugins)
	k.start()
	text := "# classes\nshares=5\nleave-out=0000:c2:00.0,0000:99:00.0\n" +
		"class=online shares=2 priority=high   # requests\nclass=offline shares=3 priority=low cdi=example.com/tool=all,example.com/net=a.b:c\n"
	p := h.start("-config", h.config(text))
	online, offline := "kfdprio.org/gpu-online", "kfdprio.org/gpu-offline"
	k.health(online, 4, 0)
	k.health(offline, 6, 0)
	same(k.ids(online), "[0000:c1:00.0/0 0000:c1:00.0/1 0000:c3:00.0/0 0000:c3:00.0/1]", "classes: online has two shares of each GPU but that which is left out")
	ok(k.plugin(online).devices["0000:c1:00.0/0"].Topology == nil, "classes: no NUMA node where the kernel has none")
	a, err := k.run("a", online, 1)
	must(err)
	b, err := k.run("b", offline, 1)
	must(err)
	same(paths(a.answer)+" "+cdi(a.answer), "/dev/kfd /dev/dri/renderD128 kfdprio.org/priority=high", "classes: online on a GPU")
	same(paths(b.answer)+" "+cdi(b.answer), "/dev/kfd /dev/dri/renderD128 kfdprio.org/priority=low example.com/tool=all example.com/net=a.b:c",
		"classes: offline on the same GPU")
	c, err := k.run("c", offline, 5)
	must(err)
	same(paths(c.answer)+" "+cdi(c.answer), "/dev/kfd /dev/dri/renderD128 /dev/dri/renderD130 kfdprio.org/priority=low example.com/tool=all example.com/net=a.b:c",
		"classes: the CDI devices are there once")
	_, err = k.run("d", offline, 1)
	same(err, errShort, "classes: the shares of a class are used up, those of the other are not")
	_, err = k.plugin(offline).allocate("0000:c2:00.0/0")
	ok(err != nil, "classes: no share of the GPU that is left out")
	same(p.stop(syscall.SIGTERM), 0, "classes: ends")
	p = h.start("-config", h.config("serve=0000:c2:00.0\n"))
	k.health(share, 4, 0)
	same(counts(k.ids(share)), map[string]int{"0000:c2:00.0": 4}, "classes: serve= serves that GPU alone")
	h.over(k, p)
}
