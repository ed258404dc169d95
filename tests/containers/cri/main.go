// SPDX-License-Identifier: GPL-2.0 OR MIT

// cri starts pods through CRI v1, the interface between the kubelet and a container runtime, with the cgroups, the
// namespaces and the annotations that a kubelet gives them. A pod has one container. Run it without arguments for its usage.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const usage = `usage: cri [--socket PATH] run [OPTION]... NAME COMMAND [ARGUMENT]...
       cri [--socket PATH] exec CONTAINER COMMAND [ARGUMENT]...
       cri [--socket PATH] remove POD...
       cri [--socket PATH] version | count

run prints the IDs of the pod and of its container, and the PID of the container's first process.
options of run:
`

// list is an option that may be given more than once.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

type client struct {
	ctx     context.Context
	runtime cri.RuntimeServiceClient
}

// pod is what a kubelet knows of a pod.
type pod struct {
	name, class, image, runtime string
	annotations                 map[string]string
	cdi, devices                list
	hostPID                     bool
}

func die(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "cri: "+format+"\n", args...)
	os.Exit(1)
}

// slice is the cgroup of a pod, by its class of service, as the kubelet names it with the systemd driver.
func slice(class, uid string) string {
	pod := "pod" + strings.ReplaceAll(uid, "-", "_") + ".slice"
	if class == "guaranteed" {
		return "/kubepods.slice/kubepods-" + pod
	}
	of := "kubepods-" + class
	return "/kubepods.slice/" + of + ".slice/" + of + "-" + pod
}

// uid makes the UID of a pod of its name: a test uses each name once at a time.
func uid(name string) string {
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", sha256.Sum256([]byte(name)))[:36]
}

func (p *pod) sandbox() *cri.PodSandboxConfig {
	namespaces := &cri.NamespaceOption{Network: cri.NamespaceMode_NODE, Pid: cri.NamespaceMode_CONTAINER}
	if p.hostPID {
		namespaces.Pid = cri.NamespaceMode_NODE
	}
	id := uid(p.name)
	return &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Name: p.name, Uid: id, Namespace: "default"},
		LogDirectory: "/tmp",
		Annotations:  p.annotations,
		Linux: &cri.LinuxPodSandboxConfig{
			CgroupParent:    slice(p.class, id),
			SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: namespaces},
		},
	}
}

func (p *pod) container(command []string, namespaces *cri.NamespaceOption) *cri.ContainerConfig {
	config := &cri.ContainerConfig{
		Metadata: &cri.ContainerMetadata{Name: "main"},
		Image:    &cri.ImageSpec{Image: p.image},
		Command:  command,
		LogPath:  p.name + ".log",
		Linux: &cri.LinuxContainerConfig{
			SecurityContext: &cri.LinuxContainerSecurityContext{NamespaceOptions: namespaces},
		},
	}
	for _, path := range p.devices {
		config.Devices = append(config.Devices, &cri.Device{HostPath: path, ContainerPath: path, Permissions: "rwm"})
	}
	for _, name := range p.cdi {
		config.CDIDevices = append(config.CDIDevices, &cri.CDIDevice{Name: name})
	}
	return config
}

func (c *client) pid(container string) int {
	status, err := c.runtime.ContainerStatus(c.ctx, &cri.ContainerStatusRequest{ContainerId: container, Verbose: true})
	if err != nil {
		die("ContainerStatus: %v", err)
	}
	var info struct {
		Pid int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(status.Info["info"]), &info); err != nil {
		die("ContainerStatus: %v", err)
	}
	return info.Pid
}

// run starts a pod with its container; a pod whose container cannot be started is removed.
func (c *client) run(p *pod, command []string) {
	sandbox := p.sandbox()
	made, err := c.runtime.RunPodSandbox(c.ctx, &cri.RunPodSandboxRequest{Config: sandbox, RuntimeHandler: p.runtime})
	if err != nil {
		die("RunPodSandbox: %v", err)
	}
	id := made.PodSandboxId
	container, err := c.runtime.CreateContainer(c.ctx, &cri.CreateContainerRequest{
		PodSandboxId:  id,
		Config:        p.container(command, sandbox.Linux.SecurityContext.NamespaceOptions),
		SandboxConfig: sandbox,
	})
	if err != nil {
		c.remove(id)
		die("CreateContainer: %v", err)
	}
	if _, err := c.runtime.StartContainer(c.ctx, &cri.StartContainerRequest{ContainerId: container.ContainerId}); err != nil {
		c.remove(id)
		die("StartContainer: %v", err)
	}
	fmt.Println(id, container.ContainerId, c.pid(container.ContainerId))
}

func (c *client) remove(id string) {
	if _, err := c.runtime.StopPodSandbox(c.ctx, &cri.StopPodSandboxRequest{PodSandboxId: id}); err != nil {
		die("StopPodSandbox: %v", err)
	}
	if _, err := c.runtime.RemovePodSandbox(c.ctx, &cri.RemovePodSandboxRequest{PodSandboxId: id}); err != nil {
		die("RemovePodSandbox: %v", err)
	}
}

func (c *client) exec(container string, command []string) {
	done, err := c.runtime.ExecSync(c.ctx, &cri.ExecSyncRequest{ContainerId: container, Cmd: command})
	if err != nil {
		die("ExecSync: %v", err)
	}
	os.Stdout.Write(done.Stdout)
	os.Stderr.Write(done.Stderr)
	os.Exit(int(done.ExitCode))
}

func (c *client) version() {
	version, err := c.runtime.Version(c.ctx, &cri.VersionRequest{})
	if err != nil {
		die("Version: %v", err)
	}
	status, err := c.runtime.Status(c.ctx, &cri.StatusRequest{})
	if err != nil {
		die("Status: %v", err)
	}
	for _, condition := range status.Status.Conditions {
		if condition.Type == "RuntimeReady" && !condition.Status {
			die("the runtime is not ready: %s", condition.Message)
		}
	}
	fmt.Println(version.RuntimeName, version.RuntimeVersion, "CRI", version.RuntimeApiVersion)
}

// count prints how many pods and containers the runtime has, in any state.
func (c *client) count() {
	pods, err := c.runtime.ListPodSandbox(c.ctx, &cri.ListPodSandboxRequest{})
	if err != nil {
		die("ListPodSandbox: %v", err)
	}
	containers, err := c.runtime.ListContainers(c.ctx, &cri.ListContainersRequest{})
	if err != nil {
		die("ListContainers: %v", err)
	}
	fmt.Println(len(pods.Items), "pods", len(containers.Containers), "containers")
}

func (c *client) runCommand(args []string) {
	p := pod{annotations: map[string]string{}}
	var annotations list
	flags := flag.NewFlagSet("cri run", flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage); flags.PrintDefaults() }
	flags.Var(&annotations, "annotation", "annotation of the pod, `KEY=VALUE`; repeatable")
	flags.Var(&p.cdi, "cdi", "`NAME` of a CDI device; repeatable")
	flags.Var(&p.devices, "device", "`PATH` of a device; repeatable")
	flags.StringVar(&p.class, "class", "besteffort", "class of service: besteffort, burstable or guaranteed")
	flags.StringVar(&p.image, "image", "localhost/kfd:1", "name of the image, which the runtime has")
	flags.StringVar(&p.runtime, "runtime", "", "name of the runtime's handler, as a RuntimeClass has it (default: that of the runtime)")
	flags.BoolVar(&p.hostPID, "host-pid", false, "the PID namespace of the host")
	flags.Parse(args)
	if flags.NArg() < 2 {
		flags.Usage()
		os.Exit(2)
	}
	for _, text := range annotations {
		key, value, found := strings.Cut(text, "=")
		if !found {
			die("--annotation is KEY=VALUE, not '%s'", text)
		}
		p.annotations[key] = value
	}
	p.name = flags.Arg(0)
	c.run(&p, flags.Args()[1:])
}

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	socket := flag.String("socket", "/run/containerd/containerd.sock", "of the runtime")
	flag.Parse()
	connection, err := grpc.Dial("unix://"+*socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		die("%s: %v", *socket, err)
	}
	c := client{ctx: context.Background(), runtime: cri.NewRuntimeServiceClient(connection)}
	args := flag.Args()
	switch {
	case len(args) > 2 && args[0] == "run":
		c.runCommand(args[1:])
	case len(args) > 2 && args[0] == "exec":
		c.exec(args[1], args[2:])
	case len(args) > 1 && args[0] == "remove":
		for _, id := range args[1:] {
			c.remove(id)
		}
	case len(args) == 1 && args[0] == "version":
		c.version()
	case len(args) == 1 && args[0] == "count":
		c.count()
	default:
		flag.Usage()
		os.Exit(2)
	}
}
