// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

const (
	domain        = "kfdprio.org"
	defaultShares = 4
	maxShares     = 256       // of one GPU, over all classes
	maxClasses    = 16        // each has a socket and a server
	maxConfig     = 64 * 1024 // bytes
	maxDevices    = 8         // CDI devices of a class
)

// class is a resource that pods can ask for: so many shares of each GPU, and the CDI devices of its containers.
type class struct {
	name    string
	shares  int
	devices []string
	spread  bool // several shares of a container are of different GPUs
}

func (c *class) resource() string { return domain + "/gpu-" + c.name }

// config is what the administrator wants.
type config struct {
	classes  []*class
	serve    map[string]bool // PCI addresses; empty: all
	leaveOut map[string]bool
}

// serves reports whether a GPU is handed out here.
func (c *config) serves(pci string) bool {
	return (len(c.serve) == 0 || c.serve[pci]) && !c.leaveOut[pci]
}

var (
	nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,28}[a-z0-9])?$`)
	pciForm  = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
	cdiForm  = regexp.MustCompile(`^[A-Za-z]([-A-Za-z0-9._]*[A-Za-z0-9])?/[A-Za-z]([-A-Za-z0-9._]*[A-Za-z0-9])?=[A-Za-z0-9]([-A-Za-z0-9._:]*[A-Za-z0-9])?$`)
)

// configDefault is the configuration without a file: one class, no priority.
func configDefault(shares int) (*config, error) {
	if shares < 1 || shares > maxShares {
		return nil, fmt.Errorf("-shares %d: give a number from 1 to %d", shares, maxShares)
	}
	return &config{classes: []*class{{name: "share", shares: shares}}}, nil
}

// trusted reports why a file, or a directory, may have been written by a user other than root and the caller.
func trusted(info os.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("its owner is not known")
	}
	if stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d: chown root", stat.Uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("its group or others may write it (mode %04o): chmod go-w", info.Mode().Perm())
	}
	return nil
}

// trustedRead reads a file of at most limit bytes that no other user can have written.
func trustedRead(path string, limit int64) ([]byte, os.FileInfo, error) {
	// a FIFO must not stop the program
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: not a regular file", path)
	}
	if err := trusted(info); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(data)) > limit {
		return nil, nil, fmt.Errorf("%s: larger than %d KiB", path, limit/1024)
	}
	return data, info, nil
}

// replaceable reports why another user may replace a file of a directory.  The directory of a ConfigMap has mode 0777 and is
// mounted read-only.
func replaceable(dir string) error {
	var fs syscall.Statfs_t

	if syscall.Statfs(dir, &fs) == nil && fs.Flags&syscall.MS_RDONLY != 0 {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if err := trusted(info); err != nil && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// configRead reads the file of -config.
func configRead(path string) (*config, error) {
	data, _, err := trustedRead(path, maxConfig)
	if err != nil {
		return nil, err
	}
	// where the link of a ConfigMap leads
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(real)} {
		if err := replaceable(dir); err != nil {
			return nil, err
		}
	}
	conf, err := configParse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return conf, nil
}

func numberParse(key, value string, most int) (int, error) {
	number, err := strconv.ParseUint(value, 10, 31)
	if err != nil || number < 1 || int(number) > most || value[0] == '+' {
		return 0, fmt.Errorf("%s=%.32q: give a number from 1 to %d", key, value, most)
	}
	return int(number), nil
}

func pciParse(key, value string) (map[string]bool, error) {
	set := map[string]bool{}
	for _, pci := range strings.Split(value, ",") {
		if !pciForm.MatchString(pci) {
			return nil, fmt.Errorf("%s=: %.32q is not the PCI address of a GPU, as kfdprio -l --json prints it: 0000:c1:00.0", key, pci)
		}
		if set[pci] {
			return nil, fmt.Errorf("%s=: %s is there twice", key, pci)
		}
		set[pci] = true
	}
	return set, nil
}

// deviceAdd adds a CDI device to a class.
func (c *class) deviceAdd(device string) error {
	if !cdiForm.MatchString(device) || len(device) > 128 {
		return fmt.Errorf("cdi=: %.64q is not the name of a CDI device: vendor.com/class=name", device)
	}
	kind, _, _ := strings.Cut(device, "=")
	for _, other := range c.devices {
		if other == device || (kind == domain+"/priority" && strings.HasPrefix(other, kind+"=")) {
			return fmt.Errorf("class=%s has both %s and %s: give one of them", c.name, other, device)
		}
	}
	if len(c.devices) == maxDevices {
		return fmt.Errorf("class=%s has more than %d CDI devices", c.name, maxDevices)
	}
	c.devices = append(c.devices, device)
	return nil
}

// set takes one word of the line of a class.
func (c *class) set(key, value string) (err error) {
	switch key {
	case "shares":
		c.shares, err = numberParse(key, value, maxShares)
	case "priority":
		if value != "low" && value != "normal" && value != "high" {
			return fmt.Errorf("priority=%.32q: give low, normal or high", value)
		}
		err = c.deviceAdd(domain + "/priority=" + value)
	case "cdi":
		for _, device := range strings.Split(value, ",") {
			if err = c.deviceAdd(device); err != nil {
				break
			}
		}
	case "several":
		if value != "same" && value != "different" {
			return fmt.Errorf("several=%.32q: give same or different", value)
		}
		c.spread = value == "different"
	default:
		err = fmt.Errorf("unknown key %.32q; a class has shares=, priority=, cdi= and several=", key)
	}
	return err
}

type word struct{ key, value string }

// lineSplit divides a line into its words; a # at the beginning of a word begins a comment.
func lineSplit(line string) ([]word, error) {
	var words []word

	seen := map[string]bool{}
	for _, field := range strings.Fields(line) {
		if field[0] == '#' {
			break
		}
		key, value, found := strings.Cut(field, "=")
		if !found || key == "" || value == "" {
			return nil, fmt.Errorf("%.64q is not KEY=VALUE", field)
		}
		if seen[key] {
			return nil, fmt.Errorf("%.32q is there twice", key)
		}
		seen[key] = true
		words = append(words, word{key, value})
	}
	return words, nil
}

// parser is a configuration that is being read.
type parser struct {
	config
	shares int // of shares=, or 0
}

// line takes a line that is not empty.
func (p *parser) line(words []word) (err error) {
	first := words[0]
	if first.key != "class" && len(words) > 1 {
		return fmt.Errorf("%.32q stands alone on its line", first.key)
	}
	switch first.key {
	case "shares":
		if p.shares != 0 {
			return errors.New("a second shares=")
		}
		p.shares, err = numberParse(first.key, first.value, maxShares)
	case "serve":
		if p.serve != nil {
			return errors.New("a second serve=")
		}
		p.serve, err = pciParse(first.key, first.value)
	case "leave-out":
		if p.leaveOut != nil {
			return errors.New("a second leave-out=")
		}
		p.leaveOut, err = pciParse(first.key, first.value)
	case "class":
		err = p.class(first.value, words[1:])
	default:
		err = fmt.Errorf("unknown key %.32q; a line begins with shares=, serve=, leave-out= or class=", first.key)
	}
	return err
}

func (p *parser) class(name string, words []word) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("class=%.32q: give at most 30 of a-z, 0-9 and -, with a letter or a digit at both ends", name)
	}
	for _, other := range p.classes {
		if other.name == name {
			return fmt.Errorf("class=%s is there twice", name)
		}
	}
	if len(p.classes) == maxClasses {
		return fmt.Errorf("more than %d classes", maxClasses)
	}
	added := &class{name: name}
	for _, word := range words {
		if err := added.set(word.key, word.value); err != nil {
			return err
		}
	}
	if added.shares == 0 {
		return fmt.Errorf("class=%s has no shares=", name)
	}
	p.classes = append(p.classes, added)
	return nil
}

// whole verifies what no single line shows.
func (p *parser) whole() error {
	if p.serve != nil && p.leaveOut != nil {
		return errors.New("serve= and leave-out= are both given: remove one of them")
	}
	if len(p.classes) == 0 {
		shares := p.shares
		if shares == 0 {
			shares = defaultShares
		}
		p.classes = []*class{{name: "share", shares: shares}}
		return nil
	}
	sum := 0
	for _, class := range p.classes {
		sum += class.shares
	}
	most := maxShares
	if p.shares != 0 {
		most = p.shares
	}
	if sum > most {
		return fmt.Errorf("the classes have %d shares of each GPU, and there are %d: lower the shares= of a class", sum, most)
	}
	return nil
}

// configParse reads the text of a configuration.
func configParse(data []byte) (*config, error) {
	var p parser

	for number, line := range bytes.Split(data, []byte("\n")) {
		words, err := lineSplit(string(line))
		if err == nil && len(words) > 0 {
			err = p.line(words)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number+1, err)
		}
	}
	if err := p.whole(); err != nil {
		return nil, err
	}
	return &p.config, nil
}
