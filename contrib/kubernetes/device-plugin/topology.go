// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// maxGPUs bounds the list of devices; kfdprio's driver has 64.
const maxGPUs = 64

// maxMinor is above all minor numbers of the kernel.
const maxMinor = 1 << 20

// found is a GPU of KFD's topology.  The kernel wrote all of it.
type found struct {
	node   int
	gpuID  uint64
	pci    string
	render int
	numa   int // -1: not known
}

// sysRead reads a small file of sysfs.
func sysRead(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 64*1024))
	return string(data), err
}

// properties are those of a node: lines of a name and a number.
func propertiesRead(path string) map[string]uint64 {
	all := map[string]uint64{}
	text, err := sysRead(path)
	if err != nil {
		return all
	}
	for _, line := range strings.Split(text, "\n") {
		name, value, _ := strings.Cut(line, " ")
		if number, err := strconv.ParseUint(value, 10, 64); err == nil {
			all[name] = number
		}
	}
	return all
}

// nodeRead reads a node of the topology; ok is false for a CPU, and for a GPU without a render node.  The error is that of a node
// which the device cgroup of this process hides.
func nodeRead(root, dir string, node int) (gpu found, ok bool, err error) {
	text, err := sysRead(filepath.Join(dir, "gpu_id"))
	if errors.Is(err, fs.ErrPermission) {
		return gpu, false, err
	}
	if err != nil {
		return gpu, false, nil
	}
	gpu.gpuID, err = strconv.ParseUint(strings.TrimSpace(text), 10, 32)
	if err != nil || gpu.gpuID == 0 {
		return gpu, false, nil
	}
	all := propertiesRead(filepath.Join(dir, "properties"))
	location := all["location_id"]
	gpu.node = node
	// bus, device and function as PCI packs them; of a partition, KFD has its number in the place of the function
	gpu.pci = fmt.Sprintf("%04x:%02x:%02x.%x", all["domain"], location>>8&0xff, location>>3&0x1f, location&7)
	gpu.render = int(all["drm_render_minor"])
	gpu.numa = -1
	device := fmt.Sprintf("%s/sys/bus/pci/devices/%s", root, gpu.pci)
	if text, err := sysRead(device + "/numa_node"); err == nil {
		if numa, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && numa >= 0 {
			gpu.numa = numa
		}
	}
	return gpu, gpu.render > 0 && gpu.render < maxMinor, nil
}

// topologyRead reads the GPUs of this node, in the order of KFD; none where there is no topology.  hidden are the nodes that this
// process may not read.
func topologyRead(root string) (gpus []found, hidden int) {

	nodes := filepath.Join(root, "/sys/class/kfd/kfd/topology/nodes")
	entries, err := os.ReadDir(nodes)
	if err != nil {
		return nil, 0
	}
	for _, entry := range entries {
		node, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		gpu, ok, err := nodeRead(root, filepath.Join(nodes, entry.Name()), node)
		if err != nil {
			hidden++
		}
		if ok {
			gpus = append(gpus, gpu)
		}
	}
	sort.Slice(gpus, func(i, j int) bool { return gpus[i].node < gpus[j].node })
	if len(gpus) > maxGPUs {
		gpus = gpus[:maxGPUs]
	}
	return gpus, hidden
}
