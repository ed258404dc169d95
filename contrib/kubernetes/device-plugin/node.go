// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// A kubelet that does not answer is asked again after -poll.
const registerTimeout = 10 * time.Second

// node is the plugins of all classes, and the kubelet that they are registered with.
type node struct {
	dir     string
	info    os.FileInfo
	kubelet os.FileInfo // its socket, as of the last registration
	plugins []*plugin
}

func (n *node) kubeletPath() string { return filepath.Join(n.dir, "kubelet.sock") }

// register announces a resource to the kubelet, which then connects to its socket.
func (n *node) register(p *plugin) error {
	connection, err := grpc.NewClient("unix://"+n.kubeletPath(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), registerTimeout)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(ctx, &api.RegisterRequest{
		Version: apiVersion, Endpoint: filepath.Base(p.path), ResourceName: p.class.resource(), Options: pluginOptions(),
	})
	return err
}

// sameSocket compares inodes and times: a file system gives the inode of a removed socket to the next one.
func sameSocket(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime())
}

// step serves and registers what is not: at the start, and after a kubelet has started.
func (n *node) step() error {
	info, err := os.Stat(n.dir)
	if err != nil {
		return err
	}
	if !os.SameFile(info, n.info) {
		return fmt.Errorf("%s: the directory was replaced", n.dir)
	}
	kubelet, err := os.Lstat(n.kubeletPath())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	again := !sameSocket(kubelet, n.kubelet)
	n.kubelet = kubelet
	for _, p := range n.plugins {
		if again {
			p.registered = false
		}
		if p.server != nil && p.lost() {
			p.stop()
		}
		if p.server == nil {
			if err := p.listen(); err != nil {
				return err
			}
		}
		if p.registered || kubelet == nil {
			continue
		}
		p.before = p.opened.Load()
		if err := n.register(p); err != nil {
			if p.failed != err.Error() {
				say("%s: the kubelet does not register it, and is asked again: %v", p.class.resource(), err)
			}
			p.failed = err.Error()
			continue
		}
		p.registered, p.failed = true, ""
		say("%s: registered, %d shares of each GPU", p.class.resource(), p.class.shares)
	}
	return nil
}

func (n *node) stop() {
	for _, p := range n.plugins {
		p.stop()
	}
}

// nodeRun serves all classes until a signal; an error ends it, and the pod or the service starts it again.
func nodeRun(conf *config, inv *inventory, dir string, poll time.Duration) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: not a directory", dir)
	}
	// another user could take the place of the kubelet, or of this program
	if err := trusted(info); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	if err := watcher.Add(dir); err != nil {
		return err
	}
	n := &node{dir: dir, info: info}
	for _, c := range conf.classes {
		n.plugins = append(n.plugins, pluginNew(c, inv, dir))
	}
	defer n.stop()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if err := n.step(); err != nil {
			return err
		}
		select {
		case <-signals:
			return nil
		case <-tick.C:
			inv.update()
			for _, p := range n.plugins {
				p.watched()
			}
		case event, ok := <-watcher.Events:
			if !ok {
				return errors.New("inotify ended")
			}
			if event.Name != n.kubeletPath() {
				continue
			}
		case err := <-watcher.Errors:
			return err
		}
	}
}
