// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// testKubelet is restarts of the kubelet: it removes all sockets, and makes its own anew.
func testKubelet() {
	h, k, p := two("-config", "")
	k.health(share, 8, 0)
	ids := k.ids(share)
	_, err := k.run("before", share, 2)
	must(err)
	const restarts = 20
	first := k.plugin(share)
	for i := 0; i < restarts; i++ {
		k.stop()
		k.start()
		k.health(share, 8, 0)
	}
	same(k.ids(share), ids, "kubelet: the same IDs after %d restarts of the kubelet", restarts)
	ok(first.gone && k.plugin(share) != first, "kubelet: registered again")
	_, err = k.run("after", share, 6)
	same(err, nil, "kubelet: the other shares are there")
	_, err = k.run("more", share, 1)
	same(err, errShort, "kubelet: and no more")
	same(p.stop(syscall.SIGTERM), 0, "kubelet: one plugin served all of them")
	h.over(k, nil)
}

// testLoad is restarts of the plugin while pods start and end.
func testLoad() {
	h, k, p := two("-shares", "16")
	k.health(share, 32, 0)
	ids := k.ids(share)
	long, err := k.run("long", share, 5)
	must(err)
	want := paths(long.answer)
	const workers, pods, restarts = 4, 150, 12
	var wrong, shared, failed atomic.Int32
	var done sync.WaitGroup
	for worker := 0; worker < workers; worker++ {
		done.Add(1)
		go func() {
			defer done.Done()
			for i := 0; i < pods; {
				name := fmt.Sprint(worker, "-", i)
				pod, err := k.run(name, share, 1+i%3)
				if err != nil {
					// the plugin is away; kubelet lets the pod fail, and its controller makes another one
					failed.Add(1)
					time.Sleep(time.Millisecond)
					continue
				}
				i++
				for _, id := range pod.ids {
					gpu := map[string]string{"0000:c1:00.0": "/dev/dri/renderD128", "0000:c2:00.0": "/dev/dri/renderD129"}[gpuOf(id)]
					if !has(paths(pod.answer), gpu) {
						wrong.Add(1)
					}
				}
				if k.sharedID() {
					shared.Add(1)
				}
				k.end(name)
			}
		}()
	}
	ended := make(chan bool)
	go func() { done.Wait(); close(ended) }()
	made := 0
	for ; made < restarts; made++ {
		p.stop([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[made%2])
		p = h.start("-shares", "16")
		k.health(share, 32, 0)
		// so that pods start between two restarts
		_, err := k.run("between", share, 1)
		for err != nil {
			_, err = k.run("between", share, 1)
		}
		k.end("between")
	}
	<-ended
	diag("%d pods, %d calls failed while the plugin was away", workers*pods, failed.Load())
	same(wrong.Load(), 0, "load: each of %d pods got the devices of its shares, over %d restarts of the plugin", workers*pods, restarts)
	same(shared.Load(), 0, "load: no share was given twice")
	same(k.ids(share), ids, "load: the same IDs")
	answer, err := k.plugin(share).allocate(long.ids...)
	same(words(paths(answer), err), want+" <nil>", "load: the shares of a pod of before mean the same devices")
	_, err = k.run("rest", share, 27)
	same(err, nil, "load: all other shares are free at the end")
	h.over(k, p)
}

// testGone is a GPU that goes away and comes back.
func testGone() {
	h, k, p := two()
	k.health(share, 8, 0)
	ids := k.ids(share)
	_, err := k.run("a", share, 1)
	must(err)
	h.gone(1)
	k.health(share, 4, 4)
	e := k.plugin(share)
	same(words(e.devices["0000:c1:00.0/0"].Health, e.devices["0000:c2:00.0/0"].Health), "Unhealthy Healthy", "gone: its shares are unhealthy, those of the other GPU are not")
	ok(p.printed("0000:c1:00.0 (renderD128): Unhealthy: it is no longer in KFD's topology"), "gone: one line in the log")
	_, err = e.allocate("0000:c1:00.0/1")
	ok(err != nil && has(err.Error(), "Unavailable"), "gone: no share of it is given")
	_, err = k.run("b", share, 4)
	same(err, nil, "gone: the other GPU is given")
	// the driver was loaded again: another gpu_id, another render node
	h.gpu(1, 12, 0xc1, 131, 0)
	k.health(share, 8, 0)
	same(k.ids(share), ids, "gone: the same IDs when it is back")
	c, err := k.run("c", share, 1)
	must(err)
	same(paths(c.answer), "/dev/kfd /dev/dri/renderD131", "gone: with its render node of now")
	// all of them: the driver is unloaded
	h.gone(1)
	h.gone(2)
	k.health(share, 0, 8)
	_, err = k.run("d", share, 1)
	same(err, errShort, "gone: no GPU, no share")
	// two GPUs change places in KFD's order
	h.gpu(2, 11, 0xc1, 128, 0)
	h.gpu(1, 22, 0xc2, 129, 0)
	k.health(share, 8, 0)
	answer, err := k.plugin(share).allocate("0000:c1:00.0/0")
	must(err)
	same(paths(answer), "/dev/kfd /dev/dri/renderD128", "gone: another order in KFD's topology changes no share")
	h.over(k, p)
}

// testBreaker is the circuit breaker, as "kfdprio metrics" prints it.
func testBreaker() {
	h, k, p := two()
	k.health(share, 8, 0)
	h.metrics(22)
	k.health(share, 4, 4)
	e := k.plugin(share)
	same(words(e.devices["0000:c1:00.0/0"].Health, e.devices["0000:c2:00.0/0"].Health), "Healthy Unhealthy", "breaker: open: the shares of that GPU are unhealthy")
	ok(p.printed("0000:c2:00.0 (renderD129): Unhealthy: its circuit breaker is open"), "breaker: one line in the log")
	_, err := e.allocate("0000:c2:00.0/0")
	same(err, nil, "breaker: a share that the kubelet has chosen is given: the GPU works")
	h.metrics()
	k.health(share, 8, 0)
	ok(true, "breaker: closed: healthy")
	h.metrics(11, 22)
	k.health(share, 0, 8)
	h.old(6 * time.Minute)
	k.health(share, 8, 0)
	ok(p.printed("older than 5m0s: an open circuit breaker is not noticed"), "breaker: metrics of six minutes ago do not count, and the log has the reason")
	h.metrics(11)
	k.health(share, 4, 4)
	must(chmod(h.root+metricsPath, 0o666))
	k.health(share, 8, 0)
	ok(p.printed("its group or others may write it"), "breaker: a file that others may write does not count")
	h.metrics(11)
	k.health(share, 4, 4)
	must(remove(h.root + metricsPath))
	k.health(share, 8, 0)
	ok(p.printed("there is no such file: an open circuit breaker is not noticed"), "breaker: nor is one noticed without the file")
	write(h.root+metricsPath, "kfdprio_preemption_off{gpu_id=\"11\",pci=\"0000:c1:00.0\"} 1\nkfdprio_preemption_off{\nkfdprio_preemption_off{gpu_id=\"x\"} 1\nkfdprio_preemption_off{gpu_id=22} 1\n")
	k.health(share, 4, 4)
	ok(true, "breaker: lines that are cut are skipped")
	h.over(k, p)
}
