// Package infra brings a cluster up on hosts, tells how it is, brings files to it, and takes hosts
// off it again.
//
// The commands may import it. It puts together what the packages below it do: connections
// (remote), facts (probe), decisions (plan), what is done on a host (agent), containers (docker),
// files (filesync). Of sweeps it knows nothing: what it has to ask a master goes through Control,
// which the commands hand in.
package infra

import (
	"context"
	"io"
	"net"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/engine"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
	"mlframework/projects"
)

// Dial opens a connection to a master's API.
type Dial func(ctx context.Context) (net.Conn, error)

// Control asks and tells a master. Its methods are called concurrently.
type Control interface {
	// Ready is nil when the master answers and has its broker, else why not.
	Ready(ctx context.Context, dial Dial) error
	// Workers are those that the master knows.
	Workers(ctx context.Context, dial Dial) ([]Worker, error)
	// Drain has a worker begin nothing more, so that it can be replaced or removed; Undrain has it
	// go on. Neither touches a drain that a person set. A worker that is unknown is no error.
	Drain(ctx context.Context, dial Dial, worker string) error
	Undrain(ctx context.Context, dial Dial, worker string) error
	// Resize has a worker run so many tasks at a time.
	Resize(ctx context.Context, dial Dial, worker string, slots int) error
	// Forget drops a worker that is away. One that is unknown is no error.
	Forget(ctx context.Context, dial Dial, worker string) error
	// Unfinished are the sweeps with tasks that have not ended, the oldest first.
	Unfinished(ctx context.Context, dial Dial) ([]Unfinished, error)
	// Revisions are those of sweeps that may still run something.
	Revisions(ctx context.Context, dial Dial) ([]string, error)
}

// Worker is one of a master's.
type Worker struct {
	Name     string
	Reason   string
	Drained  bool // it was told to take nothing more
	Replaced bool // that was for its replacement or removal
	Lacks    bool // it has said that files of open sweeps are not on its host
	Here     bool // it is heard
	Held     int  // tasks that it has, or that are on their way to it
	Running  []string
}

// Unfinished is a sweep with the number of its tasks that have not ended.
type Unfinished struct {
	Sweep string
	Tasks int64
}

// LocalDocker reaches this machine's Docker, as Options.Here is to.
func LocalDocker() Dial { return new(engine.Dialer).Dial }

// Reporter is told what happens, in no order among hosts. Its methods are called concurrently.
type Reporter interface {
	// Did tells that a step has ended.
	Did(host, what string, took time.Duration)
	// Says tells what a host's step is at, for steps that take long. It may be overwritten by the
	// next.
	Says(host, what string)
	// Warn tells of something that is not as it should be.
	Warn(host, what string)
}

// Dialer connects to hosts. *remote.Dialer is one. Its methods are called concurrently.
type Dialer interface {
	// Connect connects to one host. Its errors are *remote.Error, and the cause of ctx.
	Connect(ctx context.Context, to remote.Target) (remote.Host, error)
	// ConnectAll connects to several at the same time, and returns those that it reached in their
	// order, nil for the others, with the joined errors of those.
	ConnectAll(ctx context.Context, to []remote.Target) ([]remote.Host, error)
}

// Options of everything that works on hosts. All fields are needed.
type Options struct {
	Dialer  Dialer
	Control Control
	Report  Reporter
	Who     string // who is at work, for others who find a host locked: "anna@laptop"
	// Programs returns sweepd for hosts. It is called for each of them.
	Programs func() ([]agent.Program, error)
	// Here connects to this machine's Docker.
	Here   Dial
	Now    func() time.Time
	Random io.Reader
}

// Request is what is asked of Up.
type Request struct {
	plan.Cluster // Master is "" to join the cluster that runs; Owner is not read
	// of each host, by its name in the cluster; of hosts that carry nothing, too, where its master
	// may be
	Targets map[string]remote.Target
	// of the cluster, relative to the home folder unless absolute
	Folder string
	Files  *projects.Manifest // the project's; nil: there are none
	// Large is asked before a large project is brought; where a host has nothing of it, before the
	// first change.
	Large Large

	// Begin is called before the first change, when everything was checked; an error ends the call.
	// Nil is not called.
	Begin     func(plan.Plan) error
	Entry     Entry     // of the audit, when the call ends that has changed something; nil: none
	DryRun    io.Writer // the plan is written there, and nothing is changed; nil: it is carried out
	SkipBad   bool      // hosts of workers that have faults are left out
	Force     bool      // workers get another image also while tasks have not ended
	Keep      bool      // what was begun stays when it fails
	BreakLock bool
}
