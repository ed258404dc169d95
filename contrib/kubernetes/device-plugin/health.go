// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

const (
	maxMetrics = 4 << 20
	// the alert of contrib/prometheus has the same: ten runs of kfdprio-metrics.timer
	metricsAge = 5 * time.Minute
	metricOpen = "kfdprio_preemption_off{"
)

// breakers are the GPUs of which the circuit breaker is known: true is open.
type breakers map[uint64]bool

// labelValue finds a label of a line of Prometheus' text format; values of the labels here have nothing to escape.
func labelValue(labels, name string) (string, bool) {
	for _, label := range strings.Split(labels, ",") {
		if value, ok := strings.CutPrefix(label, name+`="`); ok {
			return strings.CutSuffix(value, `"`)
		}
	}
	return "", false
}

// breakersParse takes kfdprio_preemption_off out of what "kfdprio metrics" prints.
func breakersParse(text string) breakers {
	open := breakers{}
	for _, line := range strings.Split(text, "\n") {
		rest, ok := strings.CutPrefix(line, metricOpen)
		if !ok {
			continue
		}
		labels, value, ok := strings.Cut(rest, "} ")
		if !ok {
			continue
		}
		label, ok := labelValue(labels, "gpu_id")
		if !ok {
			continue
		}
		if gpu, err := strconv.ParseUint(label, 10, 32); err == nil {
			open[gpu] = value == "1"
		}
	}
	return open
}

// breakersRead reads the file of -metrics.  An error means that no breaker is known; missing is true where there is no such file,
// as on a node without kfdprio-metrics.timer.
func breakersRead(path string, now time.Time) (open breakers, missing bool, err error) {
	data, info, err := trustedRead(path, maxMetrics)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, fmt.Errorf("%s: there is no such file", path)
	}
	if err != nil {
		return nil, false, err
	}
	if age := now.Sub(info.ModTime()); age > metricsAge {
		return nil, false, fmt.Errorf("%s: older than %v", path, metricsAge)
	}
	return breakersParse(string(data)), false, nil
}
