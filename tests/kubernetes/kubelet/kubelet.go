// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// endpoint is the plugin of a resource, as the kubelet knows it.
type endpoint struct {
	request    *api.RegisterRequest
	options    *api.DevicePluginOptions
	connection *grpc.ClientConn
	client     api.DevicePluginClient
	cancel     context.CancelFunc
	devices    map[string]*api.Device
	lists      int // answers of ListAndWatch
	gone       bool
}

// pod is a container with the devices that it was given.
type pod struct {
	name     string
	resource string
	ids      []string
	answer   *api.ContainerAllocateResponse
}

// kubelet does what a kubelet's device manager does.  pods outlive its restarts, as its checkpoint does.
type kubelet struct {
	api.UnimplementedRegistrationServer
	dir     string
	admit   sync.Mutex // one pod at a time, as a kubelet
	mutex   sync.Mutex
	changed *sync.Cond
	refuse  error // answer to Register
	refused int
	server  *grpc.Server
	plugins map[string]*endpoint
	pods    map[string]*pod
}

func kubeletNew(dir string) *kubelet {
	k := &kubelet{dir: dir, plugins: map[string]*endpoint{}, pods: map[string]*pod{}}
	k.changed = sync.NewCond(&k.mutex)
	return k
}

var resourceForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// Register verifies what a kubelet verifies, and connects to the plugin.
func (k *kubelet) Register(_ context.Context, request *api.RegisterRequest) (*api.Empty, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	defer k.changed.Broadcast()
	if k.refuse != nil {
		k.refused++
		return nil, k.refuse
	}
	if request.Version != "v1beta1" {
		return nil, fmt.Errorf("version %q", request.Version)
	}
	if !resourceForm.MatchString(request.ResourceName) || strings.Contains(request.Endpoint, "/") {
		return nil, fmt.Errorf("resource %q at %q", request.ResourceName, request.Endpoint)
	}
	connection, err := dial(filepath.Join(k.dir, request.Endpoint))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &endpoint{request: request, connection: connection, client: api.NewDevicePluginClient(connection), cancel: cancel}
	e.options = request.Options
	if old := k.plugins[request.ResourceName]; old != nil {
		old.cancel()
		old.connection.Close()
	}
	k.plugins[request.ResourceName] = e
	go k.watch(ctx, e)
	return &api.Empty{}, nil
}

// dial connects to a socket of the directory.
func dial(path string) (*grpc.ClientConn, error) {
	return grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// watch follows the list of a plugin; when the stream ends its devices stay known, and none of them is healthy.
func (k *kubelet) watch(ctx context.Context, e *endpoint) {
	stream, err := e.client.ListAndWatch(ctx, &api.Empty{})
	for err == nil {
		var answer *api.ListAndWatchResponse
		if answer, err = stream.Recv(); err != nil {
			break
		}
		devices := map[string]*api.Device{}
		for _, device := range answer.Devices {
			devices[device.ID] = device
		}
		k.mutex.Lock()
		if len(devices) == len(answer.Devices) {
			e.devices = devices
		}
		e.lists++
		k.changed.Broadcast()
		k.mutex.Unlock()
	}
	k.mutex.Lock()
	e.gone = true
	k.changed.Broadcast()
	k.mutex.Unlock()
}

// start removes what is in the directory, as a kubelet does, and makes its socket.
func (k *kubelet) start() {
	must(os.MkdirAll(k.dir, 0o750))
	entries, err := os.ReadDir(k.dir)
	must(err)
	for _, entry := range entries {
		must(os.RemoveAll(filepath.Join(k.dir, entry.Name())))
	}
	listener, err := net.Listen("unix", filepath.Join(k.dir, "kubelet.sock"))
	must(err)
	k.mutex.Lock()
	k.server = grpc.NewServer()
	server := k.server
	k.mutex.Unlock()
	api.RegisterRegistrationServer(server, k)
	go server.Serve(listener)
}

// stop ends it as a kill does for others: connections break, and what it knows of plugins is lost, but for the pods.
func (k *kubelet) stop() {
	k.server.Stop()
	k.mutex.Lock()
	defer k.mutex.Unlock()
	for _, e := range k.plugins {
		e.cancel()
		e.connection.Close()
	}
	k.plugins = map[string]*endpoint{}
}

// wait returns when a condition holds; it is called with the mutex held.  The runner ends a test that hangs.
func (k *kubelet) wait(condition func() bool) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	for !condition() {
		k.changed.Wait()
	}
}

// health waits until a resource has so many healthy devices and so many others.
func (k *kubelet) health(resource string, healthy, other int) {
	k.wait(func() bool {
		e := k.plugins[resource]
		if e == nil || e.gone || e.devices == nil {
			return false
		}
		n := len(e.healthy())
		return n == healthy && len(e.devices)-n == other
	})
}

func (e *endpoint) healthy() []string {
	var ids []string
	for id, device := range e.devices {
		if device.Health == "Healthy" && !e.gone {
			ids = append(ids, id)
		}
	}
	return ids
}

// plugin is the endpoint of a resource now.
func (k *kubelet) plugin(resource string) *endpoint {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.plugins[resource]
}

// ids are all devices of a resource, as the last list has them.
func (k *kubelet) ids(resource string) []string {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	var ids []string
	for id := range k.plugins[resource].devices {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

var errShort = errors.New("not enough devices")

// run admits a pod: it picks devices that are healthy and not in use, those that the plugin prefers first, and calls Allocate.
func (k *kubelet) run(name, resource string, n int) (*pod, error) {
	k.admit.Lock()
	defer k.admit.Unlock()
	k.mutex.Lock()
	e := k.plugins[resource]
	if e == nil || e.gone {
		k.mutex.Unlock()
		return nil, errShort
	}
	used := map[string]bool{}
	for _, pod := range k.pods {
		for _, id := range pod.ids {
			used[id] = used[id] || pod.resource == resource
		}
	}
	var available []string
	for _, id := range e.healthy() {
		if !used[id] {
			available = append(available, id)
		}
	}
	if len(available) < n {
		k.mutex.Unlock()
		return nil, errShort
	}
	k.mutex.Unlock()
	ids, answer, err := e.ask(available, n)
	if err != nil {
		return nil, err
	}
	p := &pod{name: name, resource: resource, ids: ids, answer: answer}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.pods[name] = p
	return p, nil
}

// ask is the calls for one container.
func (e *endpoint) ask(available []string, n int) ([]string, *api.ContainerAllocateResponse, error) {
	rand.Shuffle(len(available), func(i, j int) { available[i], available[j] = available[j], available[i] })
	ids := available[:n]
	if e.options.GetPreferredAllocationAvailable {
		answer, err := e.client.GetPreferredAllocation(context.Background(), &api.PreferredAllocationRequest{
			ContainerRequests: []*api.ContainerPreferredAllocationRequest{{AvailableDeviceIDs: available, AllocationSize: int32(n)}},
		})
		if err != nil {
			return nil, nil, err
		}
		ids = answer.ContainerResponses[0].DeviceIDs
	}
	answer, err := e.allocate(ids...)
	return ids, answer, err
}

func (e *endpoint) allocate(ids ...string) (*api.ContainerAllocateResponse, error) {
	answer, err := e.client.Allocate(context.Background(), &api.AllocateRequest{
		ContainerRequests: []*api.ContainerAllocateRequest{{DevicesIds: ids}},
	})
	if err != nil {
		return nil, err
	}
	if len(answer.ContainerResponses) != 1 {
		return nil, fmt.Errorf("%d answers for one container", len(answer.ContainerResponses))
	}
	return answer.ContainerResponses[0], nil
}

// end is the end of a pod; a plugin is not notified of it.
func (k *kubelet) end(name string) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	delete(k.pods, name)
}
