// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"fmt"
	"math/rand"
	"testing"
)

// made is a class with shares on some GPUs: the devices, and all IDs.
func made(gpus, shares int, spread bool) (*class, map[string]int, []string) {
	var ids []string

	c := &class{name: "test", shares: shares, spread: spread}
	state := &snapshot{}
	for i := 0; i < gpus; i++ {
		state.gpus = append(state.gpus, &gpu{name: fmt.Sprintf("0000:%02x:00.0", i), numa: -1})
	}
	for _, device := range state.list(c).Devices {
		ids = append(ids, device.ID)
	}
	return c, state.shares(c), ids
}

// touched are the GPUs of IDs, with how many of them each has.
func touched(ids []string, devices map[string]int) map[int]int {
	all := map[int]int{}
	for _, id := range ids {
		all[devices[id]]++
	}
	return all
}

// fewest is the smallest number of GPUs that have n free shares, beside those that are included already.
func fewest(free map[int]int, included map[int]int, n int) int {
	used := map[int]bool{}
	for gpu, count := range included {
		if count > 0 {
			used[gpu] = true
			n -= free[gpu]
		}
	}
	for n > 0 {
		best := -1
		for gpu, count := range free {
			if !used[gpu] && (best < 0 || count > free[best]) {
				best = gpu
			}
		}
		used[best] = true
		n -= free[best]
	}
	return len(used)
}

// TestPrefer compares random requests with what is promised of them.
func TestPrefer(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for i := 0; i < 20000; i++ {
		c, devices, ids := made(1+random.Intn(5), 1+random.Intn(6), i%2 == 1)
		gpus := len(ids) / c.shares
		random.Shuffle(len(ids), func(a, b int) { ids[a], ids[b] = ids[b], ids[a] })
		available := ids[:1+random.Intn(len(ids))]
		included := available[:random.Intn(1+len(available)/2)]
		n := max(1, len(included)) + random.Intn(len(available)-max(1, len(included))+1)
		got, err := prefer(c, devices, gpus, available, included, n)
		if err != nil {
			t.Fatalf("%v: %d of %v with %v", err, n, available, included)
		}
		if err := known(got, devices); err != nil || len(got) != n {
			t.Fatalf("%d of %v with %v: %v: %v", n, available, included, got, err)
		}
		offered := touched(available, devices)
		mine := touched(got, devices)
		for gpu, count := range touched(included, devices) {
			offered[gpu] -= count
			if mine[gpu] < count {
				t.Fatalf("%v: not with %v", got, included)
			}
		}
		for gpu, count := range mine {
			if count > offered[gpu]+touched(included, devices)[gpu] {
				t.Fatalf("%v: not all of %v", got, available)
			}
		}
		if !c.spread {
			if want := fewest(offered, touched(included, devices), n-len(included)); len(mine) > want {
				t.Fatalf("%d of %v with %v: %v: %d GPUs, and %d have as many", n, available, included, got, len(mine), want)
			}
			continue
		}
		// no GPU has two more than another that has a free one left
		for a, most := range mine {
			for b := 0; b < gpus; b++ {
				left := offered[b] + touched(included, devices)[b] - mine[b]
				if most > mine[b]+1 && left > 0 && most > touched(included, devices)[a] {
					t.Fatalf("%d of %v with %v: %v: not spread", n, available, included, got)
				}
			}
		}
	}
}

// TestLeastTaken: a single share is of the GPU of which the fewest are taken.
func TestLeastTaken(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for i := 0; i < 5000; i++ {
		c, devices, ids := made(4, 5, i%2 == 1)
		random.Shuffle(len(ids), func(a, b int) { ids[a], ids[b] = ids[b], ids[a] })
		available := ids[:1+random.Intn(len(ids))]
		got, err := prefer(c, devices, 4, available, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		free := touched(available, devices)
		for _, count := range free {
			if count > free[devices[got[0]]] {
				t.Fatalf("%v of %v", got, available)
			}
		}
	}
}

// TestSorted: shares are taken by their numbers, not by the letters of these.
func TestSorted(t *testing.T) {
	c, devices, _ := made(1, 12, false)
	got, err := prefer(c, devices, 1, []string{"0000:00:00.0/11", "0000:00:00.0/10", "0000:00:00.0/9"}, nil, 2)
	if err != nil || got[0] != "0000:00:00.0/9" || got[1] != "0000:00:00.0/10" {
		t.Fatal(got, err)
	}
}
