// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// TAP: points may come from several goroutines.
var tap struct {
	mutex         sync.Mutex
	count, failed int
}

// ok prints a point, and returns whether it passed.
func ok(passed bool, format string, args ...any) bool {
	tap.mutex.Lock()
	defer tap.mutex.Unlock()
	tap.count++
	word := "ok"
	if !passed {
		word = "not ok"
		tap.failed++
	}
	fmt.Printf("%s %d - %s\n", word, tap.count, fmt.Sprintf(format, args...))
	return passed
}

// skip prints a point that is not tested, and why.
func skip(why, format string, args ...any) {
	ok(true, "%s # SKIP %s", fmt.Sprintf(format, args...), why)
}

// same compares two values as they are printed.
func same(got, want any, format string, args ...any) {
	if !ok(fmt.Sprint(got) == fmt.Sprint(want), format, args...) {
		diag("got  %v", got)
		diag("want %v", want)
	}
}

// contains looks for a part of a text.
func contains(text, part, format string, args ...any) {
	if !ok(strings.Contains(text, part), format, args...) {
		diag("got  %s", text)
		diag("want %s", part)
	}
}

func diag(format string, args ...any) {
	for _, line := range strings.Split(strings.TrimRight(fmt.Sprintf(format, args...), "\n"), "\n") {
		fmt.Println("#", line)
	}
}

// must ends the test where it cannot go on.
func must(err error) {
	if err != nil {
		fmt.Println("Bail out!", err)
		os.Exit(1)
	}
}
