package probe

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"mlframework/infra/layout"
)

// Facts are what a host has.
type Facts struct {
	OS, Arch string // as Go names them: "linux", "amd64"; as uname does when Go does not
	User     string
	UID, GID int
	Home     string
	// equal on two hosts that may share one home folder; "" when the host does not tell
	HomeKey string
	Boot    string // random text of the kernel since it was started; "" when it tells none
	Cores   int    // at least 1
	// mean number of busy processors in the last minute, and what waits for them; 0: not told
	Load      float64
	Memory    int64         // bytes
	ClockSkew time.Duration // of the host's clock, as far as it is certain; to a second

	Addresses []string // of its interfaces

	// RealSources are the folders that Host was asked for, with all links followed; none when the
	// host did not tell them all.
	RealSources []string
	// MissingSources are those of the folders that are certainly not there. One in a folder that
	// the user may not search is none of them.
	MissingSources []string

	Root         string         // the cluster's folder, absolute
	RealRoot     string         // Root with all links followed; "" when the host did not tell
	Unwritable   string         // the folder in which Root cannot be made; "" when it can
	NoExec       bool           // no program may be run there
	Free         int64          // bytes, on Root's disk
	RootNotEmpty bool           // Root is there and not empty
	Marker       *layout.Marker // nil: Root has none
	Binaries     []string       // of sweepd, by hash; the one that came last is the last
	Outputs      []string       // hosts whose workers left outputs of tasks in Root
	Revision     string         // of the project that is in force; "" is none

	// the address from which the host was asked, as it sees it; "" without ssh
	Client    string
	Listening []int // TCP ports
	// programs that listen, as far as the user may see them: "nginx (pid 812)"
	PortOwners   map[int]string
	MissingTools []string // programs that are needed and missing
	Bash         bool

	Toolkit string // version of NVIDIA's container toolkit; "": it is not there
	// NVIDIA's hook is there, and is not known to have come after Docker's start
	NVIDIAHook bool
	CDISpecs   []string // files with NVIDIA's devices, below /etc/cdi or /var/run/cdi
	CDINames   []string // of the devices in them, by number or UUID: "0", "0:1", "GPU-..."
}

// parse reads the script's output. The host was asked from a time here to another.
func parse(out string, asked, ended time.Time) (f Facts, err error) {
	done := false
	for line := range strings.Lines(out) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if word == "done" {
			done = true
			continue
		}
		if e := f.set(word, rest, asked, ended); e != nil {
			err = errors.Join(err, fmt.Errorf("what the host says of its %s is %q: %w", word, rest,
				e))
		}
	}
	if !done {
		err = errors.Join(err, errors.New("the host's answer ends too early"))
	}
	return f, err
}

// ahead is how far a clock is from the nearer end of the time in which it was read. A busy host
// takes seconds to answer, and what it says may be of any moment of them.
func ahead(clock, asked, ended time.Time) time.Duration {
	switch {
	case clock.Before(asked):
		return clock.Sub(asked)
	case clock.After(ended):
		return clock.Sub(ended)
	}
	return 0
}

func (f *Facts) set(word, rest string, asked, ended time.Time) (err error) {
	switch word {
	case "clock":
		var seconds int64
		seconds, err = strconv.ParseInt(rest, 10, 64)
		f.ClockSkew = ahead(time.Unix(seconds, 0), asked.Truncate(time.Second),
			ended.Truncate(time.Second))
	case "os":
		f.OS = strings.ToLower(rest)
	case "arch":
		f.Arch = architecture(rest)
	case "user":
		f.User = rest
	case "uid":
		f.UID, err = between(0, mostID, rest, 10)
	case "gid":
		f.GID, err = between(0, mostID, rest, 10)
	case "home":
		f.Home = rest
	case "homekey":
		if kind, inode, ok := strings.Cut(rest, " "); ok && kind != "" && inode != "" {
			f.HomeKey = rest
		}
	case "load":
		if rest != "" {
			f.Load, err = strconv.ParseFloat(rest, 64)
		}
	case "boot":
		f.Boot = rest
	case "cores":
		f.Cores, err = between(1, mostCores, rest, 10)
	case "memory":
		f.Memory, err = between(int64(0), math.MaxInt64, rest, 10)
	case "addresses":
		f.Addresses = words(rest)
	default:
		return f.setFolder(word, rest)
	}
	return err
}

// setFolder takes what is about the cluster's folder and the ports. A word that it does not know is
// a newer script's.
func (f *Facts) setFolder(word, rest string) (err error) {
	switch word {
	case "root":
		f.Root = rest
	case "realroot":
		f.RealRoot = rest
	case "realsource":
		f.RealSources = append(f.RealSources, rest)
	case "nosource":
		f.MissingSources = append(f.MissingSources, rest)
	case "unwritable":
		f.Unwritable = rest
	case "noexec":
		f.NoExec = rest != ""
	case "free":
		f.Free, err = strconv.ParseInt(rest, 10, 64)
	case "there":
		f.RootNotEmpty = strings.TrimSpace(rest) != "0"
	case "marker":
		var m layout.Marker
		if m, err = layout.ParseMarker([]byte(rest)); err == nil {
			f.Marker = &m
		}
	case "binaries":
		f.Binaries = words(rest)
	case "outputs":
		f.Outputs = words(rest)
	case "revision":
		f.Revision = rest
	case "listens":
		var port int
		if port, err = between(0, mostPort, rest, 16); err == nil {
			f.Listening = append(f.Listening, port)
		}
	case "holds":
		err = f.addPortOwner(rest)
	case "client":
		f.Client = rest
	case "lacks":
		f.MissingTools = append(f.MissingTools, rest)
	case "toolkit":
		f.Toolkit = cmp.Or(rest, "of an unknown version")
	case "hook":
		f.NVIDIAHook = before(rest)
	case "cdi":
		f.CDISpecs = append(f.CDISpecs, rest)
	case "cdinames":
		f.CDINames = append(f.CDINames, words(rest)...)
	case "has":
		f.Bash = f.Bash || rest == "bash"
	}
	return err
}

// before reports whether the first of two times is not known to be after the second.
func before(times string) bool {
	first, second, _ := strings.Cut(times, " ")
	a, err1 := strconv.ParseInt(first, 10, 64)
	b, err2 := strconv.ParseInt(second, 10, 64)
	return err1 != nil || err2 != nil || a <= b
}

func (f *Facts) addPortOwner(rest string) error {
	port, who, _ := strings.Cut(rest, " ")
	number, err := between(0, mostPort, port, 10)
	if f.PortOwners == nil {
		f.PortOwners = map[int]string{}
	}
	f.PortOwners[number] = who
	return err
}

// What a host can have at most: numbers of users and groups have 32 bits, those of ports 16. No
// machine has a million cores.
const (
	mostID    = 1<<32 - 1
	mostPort  = 1<<16 - 1
	mostCores = 1 << 20
)

// between reads a number; others than from least to most are no answer of a host.
func between[T int | int64](least, most T, text string, base int) (T, error) {
	n, err := strconv.ParseInt(text, base, 64)
	switch {
	case err != nil:
		return 0, err
	case n < int64(least) || n > int64(most):
		return 0, fmt.Errorf("it is not from %d to %d", least, most)
	}
	return T(n), nil
}

// architecture is uname's word in Go's.
func architecture(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return machine
}
