// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"errors"
	"fmt"
	"sort"
)

// errTooMany is the answer to a list that is longer than that of all devices.
var errTooMany = errors.New("more IDs than this resource has devices")

// known turns IDs of a request into GPUs, by ID; each ID is one of this resource, and is there once.
func known(ids []string, devices map[string]int) error {
	if len(ids) > len(devices) {
		return errTooMany
	}
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		if _, ok := devices[id]; !ok {
			return fmt.Errorf("device %.63q: not one of this resource", id)
		}
		if seen[id] {
			return fmt.Errorf("device %.63q is there twice", id)
		}
		seen[id] = true
	}
	return nil
}

// sorted are IDs in the order of their lengths and then of their letters, which is that of the shares of each GPU.
func sorted(ids []string) []string {
	all := append([]string{}, ids...)
	sort.Slice(all, func(i, j int) bool {
		if len(all[i]) != len(all[j]) {
			return len(all[i]) < len(all[j])
		}
		return all[i] < all[j]
	})
	return all
}

// chooser picks shares for one container.
type chooser struct {
	free  [][]string // by GPU, in the order of the shares
	taken []int      // by GPU: shares of other containers, as far as the request shows them
	mine  []int      // by GPU: shares that were picked
}

// take picks the first free share of a GPU.
func (c *chooser) take(gpu int) string {
	id := c.free[gpu][0]
	c.free[gpu] = c.free[gpu][1:]
	c.mine[gpu]++
	return id
}

// best is the GPU with free shares for which better prefers no other one; GPUs are compared in their order.
func (c *chooser) best(better func(a, b int) bool) int {
	best := -1
	for gpu := range c.free {
		if len(c.free[gpu]) > 0 && (best < 0 || better(gpu, best)) {
			best = gpu
		}
	}
	return best
}

// same is the GPU for the next share of a container that wants n more shares, on as few GPUs as there can be.
func (c *chooser) same(n int) int {
	return c.best(func(a, b int) bool {
		if (c.mine[a] > 0) != (c.mine[b] > 0) {
			return c.mine[a] > 0
		}
		if fits := len(c.free[a]) >= n; fits != (len(c.free[b]) >= n) {
			return fits
		} else if !fits && len(c.free[a]) != len(c.free[b]) {
			return len(c.free[a]) > len(c.free[b])
		}
		return c.taken[a] < c.taken[b]
	})
}

// different is the GPU for the next share of a container whose shares are spread.
func (c *chooser) different() int {
	return c.best(func(a, b int) bool {
		if c.mine[a] != c.mine[b] {
			return c.mine[a] < c.mine[b]
		}
		return c.taken[a] < c.taken[b]
	})
}

// prefer answers GetPreferredAllocation for one container: n of the available shares, with those of must.  devices has the GPU of
// each share of the class, gpus is their number; those shares that are not available count as taken.
func prefer(cl *class, devices map[string]int, gpus int, available, must []string, n int) ([]string, error) {
	if err := known(available, devices); err != nil {
		return nil, fmt.Errorf("available: %w", err)
	}
	if err := known(must, devices); err != nil {
		return nil, fmt.Errorf("to be included: %w", err)
	}
	if n < 1 || n > len(available) || n < len(must) {
		return nil, fmt.Errorf("%d devices of %d available, with %d to be included", n, len(available), len(must))
	}
	offered := make(map[string]bool, len(available))
	for _, id := range available {
		offered[id] = true
	}
	included := make(map[string]bool, len(must))
	for _, id := range must {
		if !offered[id] {
			return nil, fmt.Errorf("device %.63q is to be included and not available", id)
		}
		included[id] = true
	}
	c := &chooser{free: make([][]string, gpus), taken: make([]int, gpus), mine: make([]int, gpus)}
	for id, gpu := range devices {
		switch {
		case included[id]:
			c.mine[gpu]++
		case !offered[id]:
			c.taken[gpu]++
		}
	}
	for _, id := range sorted(available) {
		if !included[id] {
			c.free[devices[id]] = append(c.free[devices[id]], id)
		}
	}
	picked := append([]string{}, must...)
	for len(picked) < n {
		gpu := c.same(n - len(picked))
		if cl.spread {
			gpu = c.different()
		}
		picked = append(picked, c.take(gpu))
	}
	return picked, nil
}
