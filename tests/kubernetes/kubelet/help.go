// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"

	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

func background() context.Context { return context.Background() }

func empty() *api.Empty { return &api.Empty{} }

func has(text, part string) bool { return part != "" && strings.Contains(text, part) }

// words are values with blanks between them.
func words(values ...any) string { return strings.TrimSpace(fmt.Sprintln(values...)) }

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o644) }

func chmod(path string, mode os.FileMode) error { return os.Chmod(path, mode) }

func remove(path string) error { return os.Remove(path) }

// exchange gives two directories each other's name, in one step.
func exchange(a, b string) error {
	const renameat2, here, flag = 316, ^uintptr(99), 2 // of x86-64; AT_FDCWD; RENAME_EXCHANGE
	from, _ := syscall.BytePtrFromString(a)
	to, _ := syscall.BytePtrFromString(b)
	_, _, errno := syscall.Syscall6(renameat2, here, uintptr(unsafe.Pointer(from)), here, uintptr(unsafe.Pointer(to)), flag, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// readOnly mounts a directory on itself, read-only; the function that it returns takes that away.
func readOnly(path string) (func(), error) {
	if err := syscall.Mount(path, path, "", syscall.MS_BIND, ""); err != nil {
		return nil, err
	}
	done := func() { must(syscall.Unmount(path, syscall.MNT_DETACH)) }
	if err := syscall.Mount("", path, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// preferred is GetPreferredAllocation for one container.
func preferred(e *endpoint, available, included []string, size int32) ([]string, error) {
	answer, err := e.client.GetPreferredAllocation(background(), &api.PreferredAllocationRequest{
		ContainerRequests: []*api.ContainerPreferredAllocationRequest{
			{AvailableDeviceIDs: available, MustIncludeDeviceIDs: included, AllocationSize: size},
		},
	})
	if err != nil {
		return nil, err
	}
	return answer.ContainerResponses[0].DeviceIDs, nil
}

// sharedID reports whether two pods have the same share of the same resource.
func (k *kubelet) sharedID() bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	owner := map[string]string{}
	for name, pod := range k.pods {
		for _, id := range pod.ids {
			if other, taken := owner[pod.resource+id]; taken && other != name {
				return true
			}
			owner[pod.resource+id] = name
		}
	}
	return false
}
