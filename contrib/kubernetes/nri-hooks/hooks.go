// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	spec "github.com/opencontainers/runtime-spec/specs-go"
)

// definition is a file of a directory of hooks, as oci-hooks(5) describes version 1.0.0.
type definition struct {
	Version string    `json:"version"`
	Hook    spec.Hook `json:"hook"`
	When    struct {
		Always        *bool             `json:"always"`
		Annotations   map[string]string `json:"annotations"`
		Commands      []string          `json:"commands"`
		HasBindMounts *bool             `json:"hasBindMounts"`
	} `json:"when"`
	Stages []string `json:"stages"`
}

// subject is what the conditions of a hook are compared with.
type subject struct {
	annotations   map[string]string
	args          []string
	hasBindMounts bool
}

func definitionRead(path string) (*definition, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := &definition{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, err
	}
	if d.Version != "1.0.0" {
		return nil, fmt.Errorf("version %q is unknown, 1.0.0 is known", d.Version)
	}
	if !filepath.IsAbs(d.Hook.Path) {
		return nil, fmt.Errorf("%q is not the path of a hook", d.Hook.Path)
	}
	// before any stage is used: a file with an error adds no hook at all
	for _, stage := range d.Stages {
		if list(&spec.Hooks{}, stage) == nil {
			return nil, fmt.Errorf("stage %q is unknown", stage)
		}
	}
	return d, nil
}

// annotated reports whether an annotation matches a pair of patterns.
func annotated(annotations map[string]string, key, value *regexp.Regexp) bool {
	for k, v := range annotations {
		if key.MatchString(k) && value.MatchString(v) {
			return true
		}
	}
	return false
}

// matches reports whether all conditions hold. A hook without a condition is called for no container.
func (d *definition) matches(s *subject) (bool, error) {
	when, held := d.When, 0
	if when.Always != nil {
		if !*when.Always {
			return false, nil
		}
		held++
	}
	if when.HasBindMounts != nil {
		if *when.HasBindMounts != s.hasBindMounts {
			return false, nil
		}
		held++
	}
	for keyPattern, valuePattern := range when.Annotations {
		key, err := regexp.Compile(keyPattern)
		if err != nil {
			return false, err
		}
		value, err := regexp.Compile(valuePattern)
		if err != nil {
			return false, err
		}
		if !annotated(s.annotations, key, value) {
			return false, nil
		}
		held++
	}
	if len(when.Commands) > 0 {
		found := false
		for _, pattern := range when.Commands {
			command, err := regexp.Compile(pattern)
			if err != nil {
				return false, err
			}
			found = found || (len(s.args) > 0 && command.MatchString(s.args[0]))
		}
		if !found {
			return false, nil
		}
		held++
	}
	return held > 0, nil
}

// list is the list of a stage; nil: the stage is unknown.
func list(hooks *spec.Hooks, stage string) *[]spec.Hook {
	return map[string]*[]spec.Hook{
		"prestart":        &hooks.Prestart,
		"createRuntime":   &hooks.CreateRuntime,
		"createContainer": &hooks.CreateContainer,
		"startContainer":  &hooks.StartContainer,
		"poststart":       &hooks.Poststart,
		"poststop":        &hooks.Poststop,
	}[stage]
}

// files lists the definitions in the order of their names. One of a later directory takes the place of one of the same name.
func files(directories []string) []string {
	paths := map[string]string{}
	for _, directory := range directories {
		// a directory that is not there has no hooks
		entries, _ := os.ReadDir(directory)
		for _, entry := range entries {
			if strings.HasSuffix(entry.Name(), ".json") {
				paths[entry.Name()] = filepath.Join(directory, entry.Name())
			}
		}
	}
	names := make([]string, 0, len(paths))
	for name := range paths {
		names = append(names, name)
	}
	sort.Strings(names)
	for i, name := range names {
		names[i] = paths[name]
	}
	return names
}

// hooksFor returns the hooks whose conditions hold, or nil. A file with an error has none; report is called for it.
func hooksFor(directories []string, s *subject, report func(path string, err error)) *spec.Hooks {
	hooks, found := &spec.Hooks{}, false
	for _, path := range files(directories) {
		d, err := definitionRead(path)
		matches := false
		if err == nil {
			matches, err = d.matches(s)
		}
		if err != nil {
			report(path, err)
		} else if matches {
			for _, stage := range d.Stages {
				at := list(hooks, stage)
				*at = append(*at, d.Hook)
				found = true
			}
		}
	}
	if !found {
		return nil
	}
	return hooks
}
