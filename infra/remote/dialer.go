package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Options of a Dialer. The zero value does what ssh does, without asking anybody.
type Options struct {
	Identity string // a key file that is offered first; "": none
	HostKeys Policy // "": as ~/.ssh/config says, but never No; AcceptNew where it says nothing

	// Ask asks for a passphrase, on a terminal; nil: there is none. It is called once per key and
	// answer, for one key at a time or several.
	Ask func(ctx context.Context, prompt string) (string, error)
	// Warn is told what may not be as the user thinks, each thing once; host is "" where it is
	// about no single one. It is called by one goroutine at a time. nil: Logger gets it.
	Warn   func(host, text string)
	Logger *slog.Logger // nil: none

	// of one try to connect, without the time in which a person is asked; 0: 20 s
	Timeout   time.Duration
	KeepAlive time.Duration // between two keepalives; 0: 15 s

	Home  string // what ~ is; "": the user's home folder
	User  string // who logs in where nothing else says it; "": who runs this
	Agent string // socket of the ssh agent; "": that of SSH_AUTH_SOCK; "none": none
	// files in the order in which they count; nil: ~/.ssh/config, /etc/ssh/ssh_config
	Config []string
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Timeout = cmp.Or(o.Timeout, 20*time.Second)
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one there is nothing to read
	}
	if o.User == "" {
		if u, err := user.Current(); err == nil {
			o.User = u.Username
		} else {
			o.User = os.Getenv("USER")
		}
	}
	if o.Agent == "" {
		o.Agent = os.Getenv("SSH_AUTH_SOCK")
	}
	if o.Config == nil {
		o.Config = []string{filepath.Join(o.Home, ".ssh/config"), "/etc/ssh/ssh_config"}
	}
	return o
}

// maxConnects is how many handshakes go on at once. Sixty at once had 19 reset by one sshd
// (MaxStartups).
const maxConnects = 16

// Dialer connects to hosts. It may be used concurrently, and has all that hosts share: the
// configuration, keys that were unlocked, connections to jump hosts.
type Dialer struct {
	o          Options
	config     config
	keys       *keyring
	handshakes chan struct{}
	hops       hops

	mu     sync.Mutex // held while calling o.Warn, too
	warned map[[2]string]bool
	known  map[string]*known
}

// New makes a Dialer and reads the configuration files.
func New(o Options) *Dialer {
	o = o.withDefaults()
	d := &Dialer{o: o, handshakes: make(chan struct{}, maxConnects), warned: map[[2]string]bool{},
		known: map[string]*known{}}
	d.keys = &keyring{ask: o.Ask, files: map[string]*keyFile{}}
	d.hops = hops{shared: map[string]*hop{}}
	d.config = readConfig(o.Config, o.Home, func(text string) { d.warn("", text) })
	return d
}

// HostKeyCheck returns the StrictHostKeyChecking that ssh's configuration sets for a host; "":
// none.
func (d *Dialer) HostKeyCheck(host string) string {
	return d.config.get(host, "StrictHostKeyChecking")
}

func (d *Dialer) warn(host, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.warnLocked(host, text)
}

func (d *Dialer) warnLocked(host, text string) {
	about := [2]string{host, text}
	if d.warned[about] {
		return
	}
	d.warned[about] = true
	if d.o.Warn != nil {
		d.o.Warn(host, text)
		return
	}
	d.o.Logger.Warn("ssh", "host", host, "text", text)
}

// Connect connects to a host, or gives this machine. Its errors are *Error, and the cause of ctx. A
// host that hangs up at once is tried three times; one that saw too few of the keys, twice.
func (d *Dialer) Connect(ctx context.Context, t Target) (Host, error) {
	if t.Name == Local {
		return newLocal(d.o.User), nil
	}
	l, err := d.connect(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// ConnectAll connects to hosts in parallel, 16 at a time. It gives all that it reached, in the
// order of the targets and nil for the others, and what is wrong with those, joined and sorted by
// host.
func (d *Dialer) ConnectAll(ctx context.Context, targets []Target) ([]Host, error) {
	hosts, faults := make([]Host, len(targets)), make([]error, len(targets))
	var all sync.WaitGroup
	for i, t := range targets {
		all.Go(func() { hosts[i], faults[i] = d.Connect(ctx, t) })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		for i, h := range hosts {
			if h != nil {
				h.Close()
				hosts[i] = nil
			}
		}
		return hosts, context.Cause(ctx)
	}
	faults = slices.DeleteFunc(faults, func(err error) bool { return err == nil })
	slices.SortStableFunc(faults, func(a, b error) int { return cmp.Compare(hostOf(a), hostOf(b)) })
	return hosts, errors.Join(faults...)
}

func hostOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Host
	}
	return fmt.Sprint(err)
}
