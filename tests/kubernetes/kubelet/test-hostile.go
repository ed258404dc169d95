// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// testHostile is requests that no kubelet sends.
func testHostile() {
	h, k, p := two()
	k.health(share, 8, 0)
	e := k.plugin(share)
	many := make([]string, 100000)
	for i := range many {
		many[i] = fmt.Sprintf("%04x:c1:00.0/%d", i>>8, i&0xff)
	}
	short := make([]string, 100000)
	for i := range short {
		short[i] = fmt.Sprint(i % 10)
	}
	long := strings.Repeat("x", 500000)
	all := k.ids(share)
	for _, request := range []struct {
		name string
		ids  []string
		code codes.Code
	}{
		{"no device", nil, codes.InvalidArgument},
		{"an unknown ID", []string{"0000:c1:00.0/4"}, codes.InvalidArgument},
		{"an ID that begins like one", []string{"0000:c1:00.0/00"}, codes.InvalidArgument},
		{"a path", []string{"../../../etc"}, codes.InvalidArgument},
		{"an empty ID", []string{""}, codes.InvalidArgument},
		{"an ID twice", []string{"0000:c1:00.0/1", "0000:c1:00.0/1"}, codes.InvalidArgument},
		{"a known ID and an unknown one", []string{"0000:c1:00.0/1", "gpu0"}, codes.InvalidArgument},
		{"more IDs than there are", append(append([]string{}, all...), "0000:c1:00.0/0"), codes.InvalidArgument},
		{"100,000 IDs, 1.7 MB", many, codes.ResourceExhausted},
		{"100,000 IDs, 0.3 MB", short, codes.InvalidArgument},
		{"an ID of 500 kB", []string{long}, codes.InvalidArgument},
	} {
		_, err := e.allocate(request.ids...)
		if !ok(status.Code(err) == request.code && len(status.Convert(err).Message()) < 200, "hostile: Allocate: %s", request.name) {
			diag("%v %.300s", status.Code(err), fmt.Sprint(err))
		}
	}
	// the kubelet's protobuf sends no other than UTF-8
	conn, err := net.Dial("unix", h.plugins+"/kfdprio-share.sock")
	must(err)
	conn.Write([]byte(strings.Repeat("\x00\xff garbage\r\n", 1000)))
	conn.Close()
	for _, request := range []struct {
		name            string
		available, must []string
		size            int32
	}{
		{"none available", nil, nil, 1},
		{"size 0", all, nil, 0},
		{"size -1", all, nil, -1},
		{"size 2^31-1", all, nil, 1<<31 - 1},
		{"an unknown ID", []string{"gpu0"}, nil, 1},
		{"an ID twice", []string{all[0], all[0]}, nil, 1},
		{"one to be included that is not available", all[1:], all[:1], 1},
		{"one to be included twice", all, []string{all[0], all[0]}, 3},
		{"more to be included than the size", all, all[:2], 1},
		{"100,000 IDs", short, nil, 1},
		{"100,000 IDs to be included", all, short, 1},
	} {
		_, err := preferred(e, request.available, request.must, request.size)
		if !ok(status.Code(err) == codes.InvalidArgument, "hostile: GetPreferredAllocation: %s", request.name) {
			diag("%v", err)
		}
	}
	allocate := &api.AllocateRequest{}
	prefer := &api.PreferredAllocationRequest{}
	answer, err := e.client.Allocate(background(), allocate)
	same(words(len(answer.GetContainerResponses()), err), "0 <nil>", "hostile: Allocate for no container")
	for i := 0; i < 65; i++ {
		allocate.ContainerRequests = append(allocate.ContainerRequests, &api.ContainerAllocateRequest{DevicesIds: all[:1]})
		prefer.ContainerRequests = append(prefer.ContainerRequests, &api.ContainerPreferredAllocationRequest{AvailableDeviceIDs: all, AllocationSize: 1})
	}
	_, err = e.client.Allocate(background(), allocate)
	same(status.Code(err), codes.InvalidArgument, "hostile: Allocate for 65 containers")
	_, err = e.client.GetPreferredAllocation(background(), prefer)
	same(status.Code(err), codes.InvalidArgument, "hostile: GetPreferredAllocation for 65 containers")
	// streams and calls at once
	var failed atomic.Int32
	var done sync.WaitGroup
	for i := 0; i < 50; i++ {
		done.Add(2)
		go func() {
			defer done.Done()
			connection, err := dial(h.plugins + "/kfdprio-share.sock")
			must(err)
			defer connection.Close()
			stream, err := api.NewDevicePluginClient(connection).ListAndWatch(background(), empty())
			if err == nil {
				_, err = stream.Recv()
			}
			if err != nil {
				failed.Add(1)
			}
		}()
		go func() {
			defer done.Done()
			for j := 0; j < 20; j++ {
				e.allocate("gpu0")
				if _, err := e.allocate(all[j%8]); err != nil {
					failed.Add(1)
				}
			}
		}()
	}
	done.Wait()
	same(failed.Load(), 0, "hostile: 50 streams and 2,000 calls at once")
	got, err := e.allocate("0000:c1:00.0/2")
	same(words(paths(got), err), "/dev/kfd /dev/dri/renderD128 <nil>", "hostile: the plugin answers as before")
	same(p.stop(syscall.SIGTERM), 0, "hostile: and has not ended")
	h.over(k, nil)
}

// testDirectory is the directory of the sockets.
func testDirectory() {
	h := hostNew()
	h.gpu(1, 11, 0xc1, 128, 0)
	must(os.Chmod(h.plugins, 0o777))
	code, _, text := h.once()
	ok(code == 1, "directory: one that others may write is refused, exit status 1")
	contains(text, "its group or others may write it (mode 0777)", "directory: and the message has the reason")
	must(os.Chmod(h.plugins, 0o750))
	socket := h.plugins + "/kfdprio-share.sock"
	write(socket, "a file\n")
	code, _, text = h.once()
	ok(code == 1 && has(text, "address already in use"), "directory: a file in the place of the socket is not removed")
	must(os.Remove(socket))
	must(os.Symlink(h.dir+"/elsewhere", socket))
	code, _, _ = h.once()
	_, err := os.Lstat(h.dir + "/elsewhere")
	ok(code == 1 && os.IsNotExist(err), "directory: a link in the place of the socket is not followed")
	must(os.Remove(socket))
	must(os.RemoveAll(h.plugins))
	code, _, text = h.once()
	ok(code == 1 && has(text, "no such file or directory"), "directory: none")
	// it goes away, and another is made: a pod would still have the old one mounted
	k := kubeletNew(h.plugins)
	k.start()
	p := h.start()
	k.health(share, 4, 0)
	k.stop()
	must(os.Mkdir(h.dir+"/other", 0o750))
	must(exchange(h.plugins, h.dir+"/other"))
	same(p.ended(), 1, "directory: replaced: the plugin ends, to be started again")
	contains(p.text(), "the directory was replaced", "directory: and prints why")
	// a plugin that was killed leaves its socket
	k.start()
	p = h.start()
	k.health(share, 4, 0)
	p.stop(syscall.SIGKILL)
	_, err = os.Lstat(socket)
	same(err, nil, "directory: a socket is left by a plugin that was killed")
	p = h.start()
	k.health(share, 4, 0)
	ok(true, "directory: the next plugin takes its place")
	h.over(k, p)
}
