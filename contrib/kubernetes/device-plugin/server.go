// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sort"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	apiVersion = "v1beta1"
	// the IDs of 64 GPUs with 256 shares each are 350 kB
	maxMessage    = 1 << 20
	maxContainers = 64 // of one request; the kubelet sends one
)

// service is the device plugin of one class.
type service struct {
	api.UnimplementedDevicePluginServer
	class   *class
	inv     *inventory
	streams atomic.Int32  // of ListAndWatch
	opened  atomic.Uint32 // all that there were
}

// plugin is a service with its socket.
type plugin struct {
	service
	path       string
	server     *grpc.Server
	socket     os.FileInfo
	registered bool
	before     uint32 // streams that were opened before it was registered
	unwatched  int    // polls since the end of the last one
	failed     string // the last failure to register, which was printed
}

// pluginOptions are announced at registration, and when the kubelet asks.
func pluginOptions() *api.DevicePluginOptions {
	return &api.DevicePluginOptions{GetPreferredAllocationAvailable: true}
}

func (s *service) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return pluginOptions(), nil
}

func (s *service) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	s.opened.Add(1)
	s.streams.Add(1)
	defer s.streams.Add(-1)
	for {
		state := s.inv.now()
		if err := stream.Send(state.list(s.class)); err != nil {
			return err
		}
		select {
		case <-state.changed:
		case <-stream.Context().Done():
			return nil
		}
	}
}

func refuse(err error) error { return status.Error(codes.InvalidArgument, err.Error()) }

func (s *service) GetPreferredAllocation(_ context.Context, request *api.PreferredAllocationRequest) (*api.PreferredAllocationResponse, error) {
	if len(request.ContainerRequests) > maxContainers {
		return nil, refuse(fmt.Errorf("more than %d containers", maxContainers))
	}
	state := s.inv.now()
	devices := state.shares(s.class)
	answer := &api.PreferredAllocationResponse{}
	for _, c := range request.ContainerRequests {
		ids, err := prefer(s.class, devices, len(state.gpus), c.AvailableDeviceIDs, c.MustIncludeDeviceIDs, int(c.AllocationSize))
		if err != nil {
			return nil, refuse(err)
		}
		answer.ContainerResponses = append(answer.ContainerResponses, &api.ContainerPreferredAllocationResponse{DeviceIDs: ids})
	}
	return answer, nil
}

// device is a device node of the host, under the same name in the container.
func device(path string) *api.DeviceSpec {
	return &api.DeviceSpec{ContainerPath: path, HostPath: path, Permissions: "rw"}
}

// allocate answers for one container: the devices of each GPU once, however many of its shares it has.
func (s *service) allocate(state *snapshot, devices map[string]int, ids []string) (*api.ContainerAllocateResponse, error) {
	if len(ids) == 0 {
		return nil, refuse(fmt.Errorf("a container without devices"))
	}
	if err := known(ids, devices); err != nil {
		return nil, refuse(err)
	}
	answer := &api.ContainerAllocateResponse{Devices: []*api.DeviceSpec{device("/dev/kfd")}}
	renders := map[int]bool{}
	for _, id := range ids {
		gpu := state.gpus[devices[id]]
		if gpu.gone {
			return nil, status.Errorf(codes.Unavailable, "device %s: the GPU is no longer in KFD's topology", id)
		}
		renders[gpu.render] = true
	}
	sorted := make([]int, 0, len(renders))
	for render := range renders {
		sorted = append(sorted, render)
	}
	sort.Ints(sorted)
	for _, render := range sorted {
		answer.Devices = append(answer.Devices, device(fmt.Sprintf("/dev/dri/renderD%d", render)))
	}
	for _, name := range s.class.devices {
		answer.CdiDevices = append(answer.CdiDevices, &api.CDIDevice{Name: name})
	}
	return answer, nil
}

func (s *service) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	if len(request.ContainerRequests) > maxContainers {
		return nil, refuse(fmt.Errorf("more than %d containers", maxContainers))
	}
	state := s.inv.now()
	devices := state.shares(s.class)
	answer := &api.AllocateResponse{}
	for _, c := range request.ContainerRequests {
		container, err := s.allocate(state, devices, c.DevicesIds)
		if err != nil {
			return nil, err
		}
		answer.ContainerResponses = append(answer.ContainerResponses, container)
	}
	return answer, nil
}

func (s *service) PreStartContainer(context.Context, *api.PreStartContainerRequest) (*api.PreStartContainerResponse, error) {
	return &api.PreStartContainerResponse{}, nil
}

// listen makes the socket anew and serves it.
func (p *plugin) listen() error {
	// left by a plugin that was killed; of anything but a socket this fails below
	if info, err := os.Lstat(p.path); err == nil && info.Mode()&os.ModeSocket != 0 {
		os.Remove(p.path)
	}
	listener, err := net.Listen("unix", p.path)
	if err != nil {
		return err
	}
	p.socket, err = os.Lstat(p.path)
	if err != nil {
		listener.Close()
		return err
	}
	p.server = grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.MaxConcurrentStreams(maxContainers))
	api.RegisterDevicePluginServer(p.server, &p.service)
	server := p.server
	go func() {
		if err := server.Serve(listener); err != nil {
			say("%s: %v", p.path, err)
		}
	}()
	return nil
}

// lost reports whether the socket is no longer the one that is served: a kubelet that starts removes all sockets of the directory.
func (p *plugin) lost() bool {
	info, err := os.Lstat(p.path)
	return err != nil || !os.SameFile(info, p.socket)
}

func (p *plugin) stop() {
	if p.server != nil {
		p.server.Stop()
		p.server = nil
	}
	p.registered = false
}

// watched is called at each poll.  A kubelet that gives up the stream and stays there makes no new socket: the plugin registers
// again at the second poll after the end of the stream.
func (p *plugin) watched() {
	if p.registered && p.streams.Load() == 0 && p.opened.Load() != p.before {
		p.unwatched++
	} else {
		p.unwatched = 0
	}
	if p.unwatched >= 2 {
		p.registered = false
	}
}

// pluginNew is the plugin of a class, which is not served yet.
func pluginNew(c *class, inv *inventory, dir string) *plugin {
	return &plugin{service: service{class: c, inv: inv}, path: filepath.Join(dir, "kfdprio-"+c.name+".sock")}
}
