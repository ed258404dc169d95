// SPDX-License-Identifier: GPL-2.0 OR MIT

// kfdprio-nri-hooks lets containerd call the hooks that podman and CRI-O read from directories, oci-hooks(5). It is a plugin
// of NRI, the node resource interface of containerd 1.7 and later. For each container that containerd creates, it reads the
// directories, and adds to the container the hooks whose conditions hold for it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

const (
	name = "kfdprio-nri-hooks"
	// where podman and CRI-O look; the second one is the administrator's
	standard = "/usr/share/containers/oci/hooks.d:/etc/containers/oci/hooks.d"
	// the annotations of a pod with this prefix become annotations of its containers, which the hook of kfdprio reads
	prefix = "org.kfdprio."
)

// plugin has the directories of hooks; a file of a later one takes the place of a file of the same name.
type plugin struct {
	directories []string
}

// merged is what the conditions of the hooks are compared with: a pod's annotations hold for its containers.
func merged(pod *api.PodSandbox, container *api.Container) map[string]string {
	annotations := map[string]string{}
	for key, value := range container.GetAnnotations() {
		annotations[key] = value
	}
	for key, value := range pod.GetAnnotations() {
		annotations[key] = value
	}
	return annotations
}

// CreateContainer is called before the runtime makes the container. A file with an error is logged, and the container is made
// without its hook: as the hook of kfdprio, the plugin keeps no container from starting.
func (p *plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	s := &subject{annotations: merged(pod, container), args: container.GetArgs(), hasBindMounts: len(container.GetMounts()) > 0}
	hooks := hooksFor(p.directories, s, func(path string, err error) {
		log.Printf("%q is not used for container %q of pod %q: %q", path, container.GetName(), pod.GetName(), err.Error())
	})
	if hooks == nil {
		return nil, nil, nil
	}
	adjust := &api.ContainerAdjustment{}
	for key, value := range pod.GetAnnotations() {
		if strings.HasPrefix(key, prefix) {
			adjust.AddAnnotation(key, value)
		}
	}
	adjust.AddHooks(api.FromOCIHooks(hooks))
	return adjust, nil, nil
}

func main() {
	index := flag.String("index", "10", "two digits: plugins are called in the order of their index")
	directories := flag.String("hooks-dirs", standard, "directories of hooks, separated by colons")
	flag.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: %s [option]...\n\nAn NRI plugin: adds the hooks of directories, oci-hooks(5), to containers.\n\n", name)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	log.SetFlags(0)
	p := &plugin{directories: strings.Split(*directories, ":")}
	// containerd gives name and index to plugins that it has started itself
	options := []stub.Option{}
	if os.Getenv(api.PluginNameEnvVar) == "" {
		options = append(options, stub.WithPluginName(name), stub.WithPluginIdx(*index))
	}
	s, err := stub.New(p, options...)
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	if err := s.Run(context.Background()); err != nil {
		log.Fatalf("%s: %v", name, err)
	}
}
