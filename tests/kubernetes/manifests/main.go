// SPDX-License-Identifier: GPL-2.0 OR MIT

// manifests DIRECTORY - decode each manifest of contrib/kubernetes strictly into the types of Kubernetes, and evaluate the policies
// with Pods of users.  TAP.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	alpha "k8s.io/api/admissionregistration/v1alpha1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	scheduling "k8s.io/api/scheduling/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// kinds are the types of this library (0.32).  MutatingAdmissionPolicy has v1alpha1 there, with the fields of v1.
var kinds = map[string]func() any{
	"v1 ConfigMap":                       func() any { return new(core.ConfigMap) },
	"v1 Pod":                             func() any { return new(core.Pod) },
	"v1 ResourceQuota":                   func() any { return new(core.ResourceQuota) },
	"apps/v1 DaemonSet":                  func() any { return new(apps.DaemonSet) },
	"scheduling.k8s.io/v1 PriorityClass": func() any { return new(scheduling.PriorityClass) },
	"admissionregistration.k8s.io/v1 MutatingAdmissionPolicy":          func() any { return new(alpha.MutatingAdmissionPolicy) },
	"admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding":   func() any { return new(alpha.MutatingAdmissionPolicyBinding) },
	"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy":        func() any { return new(admission.ValidatingAdmissionPolicy) },
	"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding": func() any { return new(admission.ValidatingAdmissionPolicyBinding) },
}

var count, failed int

func ok(passed bool, format string, args ...any) {
	count++
	word := "ok"
	if !passed {
		word = "not ok"
		failed++
	}
	fmt.Printf("%s %d - %s\n", word, count, fmt.Sprintf(format, args...))
}

func diag(err error) {
	if err != nil {
		fmt.Println("#", strings.ReplaceAll(err.Error(), "\n", "\n# "))
	}
}

// decode reads one document; unknown and repeated keys are errors.
func decode(document []byte) (any, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(document, &head); err != nil {
		return nil, err
	}
	made := kinds[head.APIVersion+" "+head.Kind]
	if made == nil {
		return nil, fmt.Errorf("apiVersion %q, kind %q: not a type that this test knows", head.APIVersion, head.Kind)
	}
	object := made()
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return object, err
	}
	// as the API server: a key in other letters, capital or small, is unknown
	strict, err := json.UnmarshalStrict(text, object)
	return object, errors.Join(append(strict, err)...)
}

func main() {
	var objects []any
	var plugins *apps.DaemonSet
	var conf *core.ConfigMap

	files, err := filepath.Glob(os.Args[1] + "/*.yaml")
	if err != nil || len(files) == 0 {
		fmt.Println("Bail out! no manifests in", os.Args[1])
		os.Exit(1)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		for i, document := range bytes.Split(text, []byte("\n---\n")) {
			object, err := decode(document)
			ok(err == nil, "%s, document %d: %T", filepath.Base(file), i+1, object)
			diag(err)
			objects = append(objects, object)
			switch found := object.(type) {
			case *apps.DaemonSet:
				plugins = found
			case *core.ConfigMap:
				conf = found
			}
		}
	}
	// the decoder refuses what it does not know
	for _, wrong := range []string{"spec: {container: []}", "spec: {containers: [{name: a, imagePullPolice: Never}]}", "specs: {}", "spec: {containers: 1}",
		"metadata: {name: a}\nmetadata: {name: b}", "spec: {containers: [{name: a, securityContext: {readOnlyRootFileSystem: true}}]}"} {
		_, err := decode([]byte("apiVersion: v1\nkind: Pod\n" + wrong + "\n"))
		ok(err != nil, "refused: %s", strings.ReplaceAll(wrong, "\n", "; "))
	}
	mounts(plugins, conf)
	policies(objects)
	fmt.Printf("1..%d\n", count)
	if failed > 0 {
		os.Exit(1)
	}
}

// mounts compares the parts of the DaemonSet with each other, and with the file that its ConfigMap has.
func mounts(set *apps.DaemonSet, conf *core.ConfigMap) {
	pod := set.Spec.Template.Spec
	volumes := map[string]core.Volume{}
	for _, volume := range pod.Volumes {
		volumes[volume.Name] = volume
	}
	paths := map[string]string{}
	for _, mount := range pod.Containers[0].VolumeMounts {
		_, there := volumes[mount.Name]
		ok(there, "DaemonSet: the volume %s exists", mount.Name)
		paths[mount.Name] = mount.MountPath
		if host := volumes[mount.Name].HostPath; host != nil {
			ok(host.Path == mount.MountPath, "DaemonSet: %s is the same directory inside", host.Path)
		}
	}
	ok(len(volumes) == len(paths), "DaemonSet: each volume is mounted")
	source := volumes["config"].ConfigMap
	ok(source != nil && source.Name == conf.Name && set.Namespace == conf.Namespace, "DaemonSet: its ConfigMap exists")
	args := strings.Join(pod.Containers[0].Args, " ")
	for name := range conf.Data {
		ok(args == "-config "+paths["config"]+"/"+name, "DaemonSet: -config names the file of the ConfigMap")
		// for "kfdprio-device-plugin -check" of the runner
		if len(os.Args) > 2 {
			if err := os.WriteFile(os.Args[2], []byte(conf.Data[name]), 0o644); err != nil {
				panic(err)
			}
		}
	}
	labels := set.Spec.Template.Labels
	for name, value := range set.Spec.Selector.MatchLabels {
		ok(labels[name] == value, "DaemonSet: the selector %s matches its Pods", name)
	}
}
