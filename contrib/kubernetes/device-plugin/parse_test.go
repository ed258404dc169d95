// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"strings"
	"testing"
)

// FuzzConfig: any text is a configuration within the bounds, or an error of one short line.
// "go test -fuzz FuzzConfig" goes on for as long as it is let.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{"", "shares=4", "class=a shares=2 priority=low\nclass=b shares=2 cdi=a.b/c=d", "serve=0000:c1:00.0", "\x00=\xff", "=", "a=b=c #d", "\x1b=1 b=2",
		"class=a shares=1 shares=1", strings.Repeat("class=a shares=1 ", 100)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		conf, err := configParse(data)
		if err != nil {
			if text := err.Error(); len(text) > 1000 || strings.ContainsAny(text, "\n\x00\x1b") {
				t.Fatalf("%q", text)
			}
			return
		}
		sum := 0
		for _, class := range conf.classes {
			sum += class.shares
			if !nameForm.MatchString(class.name) || class.shares < 1 || len(class.devices) > maxDevices {
				t.Fatalf("%+v", class)
			}
		}
		if len(conf.classes) < 1 || len(conf.classes) > maxClasses || sum > maxShares {
			t.Fatalf("%d classes, %d shares", len(conf.classes), sum)
		}
	})
}

// FuzzMetrics: the file of -metrics is parsed, whatever it has.
func FuzzMetrics(f *testing.F) {
	f.Add("kfdprio_preemption_off{gpu_id=\"26544\",pci=\"0000:c1:00.0\"} 1\n")
	f.Add("kfdprio_preemption_off{} 1\nkfdprio_preemption_off{gpu_id=\"\"} 1\nkfdprio_preemption_off{,,,} ")
	f.Fuzz(func(_ *testing.T, text string) { breakersParse(text) })
}

// TestMetrics: lines as kfdprio metrics prints them.
func TestMetrics(t *testing.T) {
	open := breakersParse("# HELP kfdprio_preemption_off 1 if\n# TYPE kfdprio_preemption_off gauge\n" +
		"kfdprio_preemption_off{gpu_id=\"26544\",pci=\"0000:83:00.0\"} 0\nkfdprio_preemption_off{gpu_id=\"41823\",pci=\"0000:c3:00.0\"} 1\n" +
		"kfdprio_preemption_off_other{gpu_id=\"5\"} 1\nkfdprio_preemption_off{gpu_id=\"7\"} 2\n")
	if len(open) != 3 || open[26544] || !open[41823] || open[7] {
		t.Fatal(open)
	}
}
