// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// host is a node made of text files: KFD's topology, and the driver that kfdprio sees (tests/cli/fake-kfd.c).
type host struct {
	dir     string // all is below it
	root    string // -root
	plugins string // -plugins
	fake    string // FAKE_KFD
	totals  map[int]string
}

// programs are the files under test.
var programs struct{ plugin, kfdprio string }

const metricsPath = "/var/lib/prometheus/node-exporter/kfdprio.prom"

func hostNew() *host {
	dir, err := os.MkdirTemp("", "k")
	must(err)
	h := &host{dir: dir, root: dir + "/root", plugins: dir + "/plugins", fake: dir + "/fake", totals: map[int]string{}}
	must(os.MkdirAll(h.nodes(), 0o755))
	must(os.MkdirAll(filepath.Dir(h.root+metricsPath), 0o755))
	must(os.MkdirAll(h.plugins, 0o750))
	must(os.MkdirAll(h.fake, 0o755))
	must(os.Symlink(h.nodes(), h.fake+"/nodes"))
	h.cpu()
	return h
}

func (h *host) end() { must(os.RemoveAll(h.dir)) }

func (h *host) nodes() string { return h.root + "/sys/class/kfd/kfd/topology/nodes" }

func write(path, format string, args ...any) {
	must(os.WriteFile(path, []byte(fmt.Sprintf(format, args...)), 0o644))
}

// node makes a node of the topology in one step.
func (h *host) node(number, gpuID int, properties string) {
	made := fmt.Sprintf("%s/new", h.dir)
	must(os.Mkdir(made, 0o755))
	write(made+"/gpu_id", "%d\n", gpuID)
	write(made+"/name", "aldebaran\n")
	write(made+"/properties", "%s", properties)
	must(os.Rename(made, fmt.Sprintf("%s/%d", h.nodes(), number)))
}

func (h *host) cpu() {
	h.node(0, 0, "cpu_cores_count 8\nsimd_count 0\ndrm_render_minor 0\nlocation_id 0\ndomain 0\n")
}

// gpu adds one at PCI address 0000:BUS:00.0.
func (h *host) gpu(number, gpuID, bus, render, numa int) {
	pci := fmt.Sprintf("0000:%02x:00.0", bus)
	device := h.root + "/sys/bus/pci/devices/" + pci
	must(os.MkdirAll(device, 0o755))
	write(device+"/numa_node", "%d\n", numa)
	h.node(number, gpuID, fmt.Sprintf("cpu_cores_count 0\nsimd_count 416\nmem_banks_count 1\ngfx_target_version 90010\n"+
		"vendor_id 4098\ndevice_id 29711\nlocation_id %d\ndomain 0\ndrm_render_minor %d\nhive_id 0\nnum_xcc 1\n", bus<<8, render))
	h.totals[gpuID] = "0"
}

// gone takes a GPU out of the topology in one step.
func (h *host) gone(number int) {
	must(os.Rename(fmt.Sprintf("%s/%d", h.nodes(), number), h.dir+"/old"))
	must(os.RemoveAll(h.dir + "/old"))
}

// metrics runs "kfdprio metrics -o", with the circuit breakers of these GPUs open.
func (h *host) metrics(open ...int) {
	for gpu := range h.totals {
		h.totals[gpu] = "0"
	}
	for _, gpu := range open {
		h.totals[gpu] = "1"
	}
	var lines []string
	for gpu, flags := range h.totals {
		lines = append(lines, fmt.Sprintf("%d %s%s", gpu, flags, strings.Repeat(" 0", 14)))
	}
	write(h.fake+"/gpu-totals", "%s\n", strings.Join(lines, "\n"))
	command := exec.Command(programs.kfdprio, "metrics", "-o", h.root+metricsPath)
	command.Env = append(os.Environ(), "FAKE_KFD="+h.fake)
	out, err := command.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kfdprio metrics: %w: %s", err, out)
	}
	must(err)
}

// config writes the file of -config.
func (h *host) config(text string) string {
	path := h.dir + "/config"
	write(path, "%s", text)
	return path
}

// process is the plugin as it runs.
type process struct {
	command *exec.Cmd
	mutex   sync.Mutex
	log     bytes.Buffer
	more    *sync.Cond
	done    bool
	status  error
}

// Write takes what the plugin prints.
func (p *process) Write(data []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.log.Write(data)
	p.more.Broadcast()
	return len(data), nil
}

// start runs the plugin on this host, polling often.
func (h *host) start(args ...string) *process {
	p := &process{}
	p.more = sync.NewCond(&p.mutex)
	p.command = exec.Command(programs.plugin, append([]string{"-root", h.root, "-plugins", h.plugins, "-poll", "20ms"}, args...)...)
	p.command.Stderr = p
	must(p.command.Start())
	go func() {
		err := p.command.Wait()
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.done, p.status = true, err
		p.more.Broadcast()
	}()
	return p
}

// printed waits until the plugin has printed a part of a line, or has ended.
func (p *process) printed(part string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for !strings.Contains(p.log.String(), part) && !p.done {
		p.more.Wait()
	}
	return strings.Contains(p.log.String(), part)
}

// text is what it has printed.
func (p *process) text() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.log.String()
}

// ended waits for its end, and returns the exit status, -1 after a signal.
func (p *process) ended() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for !p.done {
		p.more.Wait()
	}
	var exit *exec.ExitError
	if errors.As(p.status, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// stop sends a signal and waits.
func (p *process) stop(signal syscall.Signal) int {
	p.command.Process.Signal(signal)
	return p.ended()
}

// once runs the plugin until it ends by itself.
func (h *host) once(args ...string) (status int, out, err string) {
	return h.onceAs(programs.plugin, nil, args...)
}

// onceAs does so with other credentials, and maybe a copy of the program.
func (h *host) onceAs(program string, who *syscall.Credential, args ...string) (status int, out, err string) {
	var stdout, stderr bytes.Buffer
	command := exec.Command(program, append([]string{"-root", h.root, "-plugins", h.plugins}, args...)...)
	command.Stdout, command.Stderr = &stdout, &stderr
	command.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	command.Run()
	return command.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// old sets the time of the metrics back.
func (h *host) old(age time.Duration) {
	then := time.Now().Add(-age)
	must(os.Chtimes(h.root+metricsPath, then, then))
}

// paths are the device nodes of an answer, and cdi its CDI devices.
func paths(answer *api.ContainerAllocateResponse) string {
	var all []string
	for _, device := range answer.GetDevices() {
		if device.HostPath != device.ContainerPath || device.Permissions != "rw" {
			all = append(all, "WRONG:"+device.String())
		}
		all = append(all, device.HostPath)
	}
	return strings.Join(all, " ")
}

func cdi(answer *api.ContainerAllocateResponse) string {
	var all []string
	for _, device := range answer.GetCdiDevices() {
		all = append(all, device.Name)
	}
	return strings.Join(all, " ")
}

// gpuOf is the GPU of a share.
func gpuOf(id string) string {
	gpu, _, _ := strings.Cut(id, "/")
	return gpu
}

// counts are how many shares each GPU has of a list of IDs.
func counts(ids []string) map[string]int {
	all := map[string]int{}
	for _, id := range ids {
		all[gpuOf(id)]++
	}
	return all
}
