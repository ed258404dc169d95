// SPDX-License-Identifier: GPL-2.0 OR MIT

// kubelet PLUGIN KFDPRIO [TEST...] - a stand-in for the kubelet tests kfdprio-device-plugin: its registration, the calls for pods,
// restarts of both, GPUs that go away, hostile requests.  KFDPRIO is the program on a driver made of text files.  TAP.
package main

import (
	"fmt"
	"os"
)

var tests = []struct {
	name string
	run  func()
}{
	{"usage", testUsage},
	{"config", testConfig},
	{"register", testRegister},
	{"allocate", testAllocate},
	{"spread", testSpread},
	{"classes", testClasses},
	{"kubelet", testKubelet},
	{"load", testLoad},
	{"gone", testGone},
	{"breaker", testBreaker},
	{"hostile", testHostile},
	{"directory", testDirectory},
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: kubelet PLUGIN KFDPRIO [TEST...]")
		os.Exit(2)
	}
	programs.plugin, programs.kfdprio = os.Args[1], os.Args[2]
	wanted := map[string]bool{}
	for _, name := range os.Args[3:] {
		wanted[name] = true
	}
	for _, test := range tests {
		if len(wanted) == 0 || wanted[test.name] {
			test.run()
		}
	}
	fmt.Printf("1..%d\n", tap.count)
	if tap.failed > 0 || tap.count == 0 {
		os.Exit(1)
	}
}
