// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"sync"
	"time"

	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// Health of a device, as the kubelet spells it.
const (
	healthy   = "Healthy"
	unhealthy = "Unhealthy"
)

// gpu is one that is handed out, or was until it went away.
type gpu struct {
	name   string // PCI address; part of the IDs of its shares
	render int
	numa   int
	gone   bool // no longer in the topology
	open   bool // its circuit breaker
}

func (g *gpu) health() string {
	if g.gone || g.open {
		return unhealthy
	}
	return healthy
}

// shareID is the ID of a device for the kubelet.  It is the same after a restart of the plugin, of the kubelet and of the node.
func shareID(gpu string, share int) string { return gpu + "/" + strconv.Itoa(share) }

// snapshot is the state of all GPUs at one time; it is never changed.
type snapshot struct {
	gpus    []*gpu
	changed chan struct{} // closed when there is a newer one
}

// list is the answer of ListAndWatch for a class.
func (s *snapshot) list(c *class) *api.ListAndWatchResponse {
	answer := &api.ListAndWatchResponse{}
	for _, gpu := range s.gpus {
		var topology *api.TopologyInfo
		if gpu.numa >= 0 {
			topology = &api.TopologyInfo{Nodes: []*api.NUMANode{{ID: int64(gpu.numa)}}}
		}
		for share := 0; share < c.shares; share++ {
			answer.Devices = append(answer.Devices, &api.Device{
				ID: shareID(gpu.name, share), Health: gpu.health(), Topology: topology,
			})
		}
	}
	return answer
}

// shares are the devices of a class: which GPU each belongs to, as an index of gpus.
func (s *snapshot) shares(c *class) map[string]int {
	all := make(map[string]int, len(s.gpus)*c.shares)
	for i, gpu := range s.gpus {
		for share := 0; share < c.shares; share++ {
			all[shareID(gpu.name, share)] = i
		}
	}
	return all
}

// inventory keeps the newest snapshot.  update() is called by one goroutine.
type inventory struct {
	conf    *config
	root    string
	metrics string
	mutex   sync.Mutex
	newest  *snapshot
	noted   string // of the last message about the metrics
	hidden  int    // nodes of the topology, as of the last message about them
}

func inventoryNew(conf *config, root, metrics string) *inventory {
	return &inventory{conf: conf, root: root, metrics: metrics, newest: &snapshot{changed: make(chan struct{})}}
}

func (inv *inventory) now() *snapshot {
	inv.mutex.Lock()
	defer inv.mutex.Unlock()
	return inv.newest
}

// note prints a message once, until it is another one.
func (inv *inventory) note(message string) {
	if message != inv.noted && message != "" {
		say("%s", message)
	}
	inv.noted = message
}

// served are the GPUs of the topology that the configuration serves.
func (inv *inventory) served() []*gpu {
	var gpus []*gpu

	open, missing, err := breakersRead(filepath.Join(inv.root, inv.metrics), time.Now())
	switch {
	case err == nil:
		inv.note("")
	case missing:
		inv.note(fmt.Sprintf("%v: an open circuit breaker is not noticed (systemctl enable --now kfdprio-metrics.timer)", err))
	default:
		inv.note(fmt.Sprintf("%v: an open circuit breaker is not noticed", err))
	}
	times := map[string]int{}
	all, hidden := topologyRead(inv.root)
	if hidden != inv.hidden && hidden > 0 {
		say("KFD hides %d of the nodes of its topology: run the plugin as a service of the node, or in a privileged Pod", hidden)
	}
	inv.hidden = hidden
	for _, found := range all {
		if !inv.conf.serves(found.pci) {
			continue
		}
		// drivers before partitions had numbers of their own
		name := found.pci
		if n := times[name]; n > 0 {
			name += "+" + strconv.Itoa(n)
		}
		times[found.pci]++
		gpus = append(gpus, &gpu{name: name, render: found.render, numa: found.numa, open: open[found.gpuID]})
	}
	return gpus
}

// update reads the topology and the metrics again, and wakes the streams of ListAndWatch if that changed anything.  A GPU that
// went away stays in the list, unhealthy.
func (inv *inventory) update() {
	gpus := inv.served()
	there := map[string]bool{}
	for _, gpu := range gpus {
		there[gpu.name] = true
	}
	last := inv.now()
	was := map[string]string{}
	for _, old := range last.gpus {
		was[old.name] = old.health()
		if there[old.name] {
			continue
		}
		kept := *old
		kept.gone, kept.open = true, false
		gpus = append(gpus, &kept)
	}
	if reflect.DeepEqual(gpus, last.gpus) {
		return
	}
	for _, gpu := range gpus {
		why := ""
		switch {
		case gpu.gone:
			why = ": it is no longer in KFD's topology"
		case gpu.open:
			why = ": its circuit breaker is open"
		}
		if was[gpu.name] != gpu.health() {
			say("%s (renderD%d): %s%s", gpu.name, gpu.render, gpu.health(), why)
		}
	}
	inv.mutex.Lock()
	inv.newest = &snapshot{gpus: gpus, changed: make(chan struct{})}
	inv.mutex.Unlock()
	close(last.changed)
}
