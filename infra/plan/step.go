package plan

import (
	"time"

	"mlframework/infra/docker"
	"mlframework/infra/layout"
)

// Plan is what is to be done. Its steps are in an order in which they can be done one by one.
type Plan struct {
	Steps   []Step
	Before  layout.Record // what it is made of until those that leave have left
	Record  layout.Record // what the cluster will be
	Changes bool          // whether anything but looks is among the steps
}

// Step is one thing done to one host. It begins when those that it needs have ended.
type Step struct {
	ID    string // "gpu1/worker"
	Host  string
	Title string // for people: "start the worker, 4 slots"
	Needs []string
	Do    Action
}

// Action is what a step does: one of the types below.
type Action interface{ action() }

type (
	// Folders makes the cluster's folder, with its marker, and those in it.
	Folders struct {
		Root           string
		Names          []string // absolute
		Group          string   // who may enter Shared; "" is nobody
		Shared         string   // one more folder, for the group
		Owner, Cluster string
		UID            int // to whom they are given; -1: they stay with who made them
		GID            int
	}
	// Sweepd puts the program where containers find it.
	Sweepd struct{ To string }
	// Files brings the project's files.
	Files struct{}
	// Secrets writes files that only the owner may read. Secret values are not part of a plan: whose they are is.
	Secrets struct {
		Dir      string
		For      string   // Broker, Monitor, MonitorTokens, or a user of the broker
		Names    []string // of Monitor: those in its certificate
		Logins   Logins   // of Broker
		Renew    bool     // of Broker: it gets a new certificate
		UID, GID int
	}
	// Rotate makes all secrets of the broker anew, and keeps them on the master's host. Nobody else
	// has them then.
	Rotate struct{ Logins Logins }
	// Finish ends a rotation: the authority of before is not trusted any more.
	Finish struct{}
	// Users has the broker that runs have the users of its files and no others, and its certificate. Deleting a user closes its
	// connections.
	Users struct {
		Container string
		Logins    Logins
		// Back are the users to go back to when what follows fails: without those that nobody can have used. Nil: nothing.
		Back []string
		// Files are the broker's.
		Files Secrets
		// Close closes all connections: their clients come back with the credentials that they have by then.
		Close bool
	}
	// Image makes an image available: from where it is, from its registry, or from this machine.
	Image struct{ Ref, Arch string }
	// CheckBroker finds out whether an image can be the broker's. It changes nothing.
	CheckBroker struct{ Ref string }
	// Build makes an image of the project's own Dockerfile.
	Build struct {
		Ref, Folder string
		Labels      map[string]string
	}
	// Ship brings an image that another host has built.
	Ship struct{ Ref, From string }
	// Base makes the image with nothing in it but the folders that sweepd needs, which belong to its user.
	Base struct {
		Ref      string
		User     string
		UID, GID int
		Labels   map[string]string
	}
	// Network makes a network.
	Network struct {
		Name   string
		Labels map[string]string
	}
	// Volume makes a volume.
	Volume struct {
		Name   string
		Labels map[string]string
	}
	// Run makes and starts a container, in the place of one that has its name.
	Run struct {
		Spec    docker.Spec
		Replace string        // id of the one that goes first; "" is none
		Grace   time.Duration // that it gets
		Resume  string        // the worker that goes on in it, should it have been drained; "" is none
		Image   string        // the option by which its program is told in which image it runs; "": it is not
	}
	// Restart ends a container and starts it again.
	Restart struct {
		Name  string
		Grace time.Duration
	}
	// Start starts a container that is there and does not run.
	Start struct{ Name string }
	// Login waits until the broker takes a login of a user, as sweepd on the host sees it.
	Login struct {
		Sweepd, Dir string
		Address     string // HOST:PORT
		Wait        time.Duration
	}
	// Ready waits until the master answers that it is ready.
	Ready struct{}
	// Reported waits until a worker has reported to the master.
	Reported struct{ Worker string }
	// Drain has a worker finish what runs.
	Drain struct {
		Worker string
		Wait   time.Duration
	}
	// Relay copies revisions that a host lacks from the master's host: those of open sweeps, and the current one.
	Relay struct{ Root, CurrentRevision string }
	// Resume has a worker that was drained go on.
	Resume struct{ Worker string }
	// SetSlots has a worker run another number of tasks at a time. What runs goes on.
	SetSlots struct {
		Worker        string
		Slots, Before int
		Container     string        // whose limits change first
		Limits        docker.Limits // zero: none
	}
	// Forget has the master drop a worker that is gone for good.
	Forget struct{ Worker string }
	// Remove stops and removes a container.
	Remove struct {
		ID    string
		Grace time.Duration
	}
	// Clear removes what the cluster has on a host that it leaves: its networks and images. Files stay.
	Clear struct{ Labels map[string]string }
	// Keep writes the record.
	Keep struct{ Record layout.Record }
)

func (Folders) action()     {}
func (Sweepd) action()      {}
func (Files) action()       {}
func (Secrets) action()     {}
func (Rotate) action()      {}
func (Finish) action()      {}
func (Users) action()       {}
func (Image) action()       {}
func (Build) action()       {}
func (CheckBroker) action() {}
func (Ship) action()        {}
func (Base) action()        {}
func (Network) action()     {}
func (Volume) action()      {}
func (Run) action()         {}
func (Restart) action()     {}
func (Start) action()       {}
func (Login) action()       {}
func (Ready) action()       {}
func (Reported) action()    {}
func (Drain) action()       {}
func (Relay) action()       {}
func (Resume) action()      {}
func (SetSlots) action()    {}
func (Forget) action()      {}
func (Remove) action()      {}
func (Clear) action()       {}
func (Keep) action()        {}
