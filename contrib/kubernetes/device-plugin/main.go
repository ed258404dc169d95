// SPDX-License-Identifier: GPL-2.0 OR MIT

// kfdprio-device-plugin offers shares of AMD GPUs to the kubelet of a Kubernetes node (device plugin API v1beta1).
//
// A share is a place on a GPU, not a part of its time: a pod with a share gets /dev/kfd, the render node of that GPU, and the CDI
// devices of the class, which give it a priority.  See Documentation/deploying.rst.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

const (
	statusFailed = 1 // exit statuses, as those of kfdprio
	statusUsage  = 2
)

// options are those of the command line.
type options struct {
	config  string
	shares  int
	plugins string
	root    string
	metrics string
	poll    time.Duration
	check   bool
	version bool
}

const usageText = `
Usage:
 kfdprio-device-plugin [options]

Offer shares of the AMD GPUs of this node to its kubelet.

Options:
 -config FILE   shares, classes and the GPUs to serve (Documentation/deploying.rst);
                  without it, each GPU has shares of one class, kfdprio.org/gpu-share
 -shares N      shares of each GPU, without -config (4)
 -plugins DIR   directory of the kubelet's sockets (/var/lib/kubelet/device-plugins)
 -metrics FILE  written by "kfdprio metrics -o FILE": which circuit breakers are open
                  (/var/lib/prometheus/node-exporter/kfdprio.prom)
 -poll TIME     how often the topology and the metrics are read (10s)
 -root DIR      where /sys and the file of -metrics are, for tests
 -check         print the resources of this node and exit
 -help          display this help
 -version       display the version of this program
`

// version is set by the Makefile, from META.
var version = "unknown"

// say prints one line to standard error, which is the log of the pod or of the service.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "kfdprio-device-plugin: "+format+"\n", args...)
}

// fail prints why and ends the program.
func fail(status int, format string, args ...any) {
	say(format, args...)
	os.Exit(status)
}

func optionsParse(args []string) options {
	var opts options

	flags := flag.NewFlagSet("kfdprio-device-plugin", flag.ContinueOnError)
	flags.SetOutput(os.Stderr)
	flags.Usage = func() {}
	flags.StringVar(&opts.config, "config", "", "")
	flags.IntVar(&opts.shares, "shares", 0, "")
	flags.StringVar(&opts.plugins, "plugins", "/var/lib/kubelet/device-plugins", "")
	flags.StringVar(&opts.root, "root", "", "")
	flags.StringVar(&opts.metrics, "metrics", "/var/lib/prometheus/node-exporter/kfdprio.prom", "")
	flags.DurationVar(&opts.poll, "poll", 10*time.Second, "")
	flags.BoolVar(&opts.check, "check", false, "")
	flags.BoolVar(&opts.version, "version", false, "")
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		fmt.Print(usageText)
		os.Exit(0)
	case err != nil:
		fail(statusUsage, "try -help for more information")
	case flags.NArg() > 0:
		fail(statusUsage, "unexpected argument %.64q; try -help for more information", flags.Arg(0))
	case opts.poll < time.Millisecond:
		fail(statusUsage, "-poll %v: give 1ms or more", opts.poll)
	}
	return opts
}

// configOf is the configuration that the options ask for.
func configOf(opts options) (*config, error) {
	if opts.config == "" {
		if opts.shares == 0 {
			opts.shares = defaultShares
		}
		return configDefault(opts.shares)
	}
	if opts.shares != 0 {
		return nil, fmt.Errorf("-shares and -config are both given: write shares= in %s", opts.config)
	}
	return configRead(opts.config)
}

func main() {
	opts := optionsParse(os.Args[1:])
	if opts.version {
		fmt.Println("kfdprio-device-plugin " + version)
		return
	}
	conf, err := configOf(opts)
	if err != nil {
		fail(statusUsage, "%v", err)
	}
	inv := inventoryNew(conf, opts.root, opts.metrics)
	inv.update()
	if opts.check {
		for _, class := range conf.classes {
			fmt.Printf("%s: %d shares of each GPU", class.resource(), class.shares)
			if len(class.devices) > 0 {
				fmt.Printf(", %s", strings.Join(class.devices, ", "))
			}
			fmt.Println()
		}
		for _, gpu := range inv.now().gpus {
			fmt.Printf("%s: renderD%d, %s\n", gpu.name, gpu.render, gpu.health())
		}
		return
	}
	// the sockets are for root only, whatever the umask was
	syscall.Umask(0o077)
	if err := nodeRun(conf, inv, opts.plugins, opts.poll); err != nil {
		fail(statusFailed, "%v", err)
	}
}
