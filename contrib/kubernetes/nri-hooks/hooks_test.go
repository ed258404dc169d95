// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"os"
	"path/filepath"
	"testing"
)

const hook = `"hook": {"path": "/bin/true"}, "stages": ["createRuntime"]`

func TestConditions(t *testing.T) {
	s := &subject{annotations: map[string]string{"a.b": "c\nx", "other": ""}, args: []string{"/bin/serve", "x"}, hasBindMounts: true}
	for _, test := range []struct {
		when     string
		expected int // hooks; -1: an error is reported
	}{
		{`{}`, 0},
		{`{"always": true}`, 1},
		{`{"always": false}`, 0},
		{`{"always": false, "hasBindMounts": true}`, 0},
		{`{"hasBindMounts": true}`, 1},
		{`{"hasBindMounts": false}`, 0},
		{`{"annotations": {"^a\\.b$": ".*"}}`, 1},
		{`{"annotations": {"^a\\.b$": "^c"}}`, 1},
		{`{"annotations": {"^a\\.b$": "^e"}}`, 0},
		{`{"annotations": {"^b$": ".*"}}`, 0},
		{`{"annotations": {"^a\\.b$": ".*", "^other$": "^$"}}`, 1},
		{`{"annotations": {"^a\\.b$": ".*", "^none$": ""}}`, 0},
		{`{"annotations": {"(": ".*"}}`, -1},
		{`{"annotations": {"a": "("}}`, -1},
		{`{"commands": ["^/bin/serve$"]}`, 1},
		{`{"commands": ["^x$"]}`, 0},
		{`{"commands": ["^x$", "serve"]}`, 1},
		{`{"commands": ["serve"], "annotations": {"^b$": ""}}`, 0},
		{`{"commands": ["("]}`, -1},
		{`[]`, -1},
	} {
		directory := t.TempDir()
		os.WriteFile(filepath.Join(directory, "x.json"), []byte(`{"version": "1.0.0", `+hook+`, "when": `+test.when+`}`), 0o600)
		found := 0
		hooks := hooksFor([]string{directory}, s, func(string, error) { found = -1 })
		if hooks != nil {
			found = len(hooks.CreateRuntime)
		}
		if found != test.expected {
			t.Errorf("%s: %d, expected %d", test.when, found, test.expected)
		}
	}
}

func TestFiles(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	write := func(directory, name, text string) {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(version, path, stage string) string {
		return `{"version": "` + version + `", "hook": {"path": "` + path + `"}, "when": {"always": true}, "stages": ["` + stage + `"]}`
	}
	write(first, "10.json", file("1.0.0", "/first", "createRuntime"))
	write(first, "20.json", file("1.0.0", "/replaced", "createRuntime"))
	write(second, "20.json", file("1.0.0", "/second", "createRuntime"))
	write(second, "05.json", file("1.0.0", "/before", "createRuntime"))
	write(second, "30.conf", file("1.0.0", "/no-json", "createRuntime"))
	write(second, "30.json", file("0.1.0", "/version", "createRuntime"))
	write(second, "31.json", file("1.0.0", "relative", "createRuntime"))
	write(second, "32.json", file("1.0.0", "/stage", "never"))
	write(second, "33.json", `{"version": `)
	// the first stage is known, and the hook is added to none
	write(second, "34.json", file("1.0.0", "/second-stage", `createRuntime", "never`))
	reported := map[string]bool{}
	hooks := hooksFor([]string{first, filepath.Join(first, "none"), second}, &subject{}, func(path string, _ error) {
		reported[filepath.Base(path)] = true
	})
	if hooks == nil || len(hooks.CreateRuntime) != 3 || hooks.CreateRuntime[0].Path != "/before" ||
		hooks.CreateRuntime[1].Path != "/first" || hooks.CreateRuntime[2].Path != "/second" {
		t.Errorf("hooks: %v", hooks)
	}
	if len(reported) != 5 || !reported["34.json"] || !reported["30.json"] || !reported["31.json"] || !reported["32.json"] || !reported["33.json"] {
		t.Errorf("reported: %v", reported)
	}
}
