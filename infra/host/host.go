// Package host is which machines a cluster is made of: their addresses, where they stand in the
// list, and which of them carry the master and the workers.
//
// Everything here is pure: nothing is resolved, dialled or read. The packages of infra, config and
// the commands may import it; it imports nothing of this project. All of it is safe for concurrent
// use.
package host

import (
	"fmt"
	"strconv"
	"strings"
)

// LocalName is how this machine is written, and the name of its worker. It is not its host name, so
// that one cluster.yml says the same on every laptop.
const LocalName = "local"

// Address is where a host is reached, as a person wrote it. The zero value is no address.
type Address struct {
	User string // "" leaves it to ssh's configuration, and that to who runs the command
	// host name, alias of ssh's configuration or IP address, without brackets; LocalName is this
	// machine
	Name string
	Port int // 0 leaves it to ssh's configuration, and that to 22
}

// Local is this machine, which is reached without ssh.
var Local = Address{Name: LocalName}

// Local tells whether it is this machine.
func (a Address) Local() bool { return a == Local }

// String is the address as Parse reads it: [user@]name[:port], IPv6 with a port in brackets.
func (a Address) String() string {
	text := a.Name
	switch {
	case a.Port != 0 && strings.Contains(a.Name, ":"):
		text = "[" + a.Name + "]:" + strconv.Itoa(a.Port)
	case a.Port != 0:
		text += ":" + strconv.Itoa(a.Port)
	case strings.Contains(a.Name, ":"):
		text = "[" + a.Name + "]"
	}
	if a.User != "" {
		text = a.User + "@" + text
	}
	return text
}

// Option is one of the options that say which machines there are.
type Option string

// The options, as their short flags.
const (
	Hosts   Option = "-a"
	Master  Option = "-m"
	Workers Option = "-w"
)

// Fault is one thing that is wrong in one of the options.
type Fault struct {
	Option  Option
	Element int    // of a list, from 1; 0 is the whole option
	Problem string // what is wrong, naming the text
	Remedy  string // what to write instead; may be empty
}

// Error is one line: "-a: element 2: PROBLEM; REMEDY".
func (f Fault) Error() string {
	text := f.Problem
	if f.Element > 0 {
		text = fmt.Sprintf("element %d: %s", f.Element, text)
	}
	if f.Option != "" {
		text = string(f.Option) + ": " + text
	}
	if f.Remedy != "" {
		text += "; " + f.Remedy
	}
	return text
}

// Faults is everything that is wrong, by option and element. As an error it prints a line for each.
type Faults []Fault

func (l Faults) Error() string {
	lines := make([]string, len(l))
	for i, f := range l {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// err is nil for no faults.
func (l Faults) err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
