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
	Images  []string      // of workers that get another one: "OLD -> NEW", each once
}

// Step is one thing done to one host. It begins when those that it needs have ended.
type Step struct {
	ID    string // "gpu1/worker"
	Host  string
	Title string // for people: "start the worker, 4 slots"
	Needs []string
	Do    Action
}

// Ids of steps that others need, without the host. A container's step has the name of its role.
const (
	stepFolders       = "folders"
	stepSweepd        = "sweepd"
	stepFiles         = "files"
	stepOpenFiles     = "open files"
	stepRecord        = "record"
	stepRecordAtLast  = "record at last"
	stepSecrets       = "secrets"
	stepSecretsAtLast = "secrets at last"
	stepBrokerFiles   = "broker files"
	stepBrokerImage   = "broker image"
	stepCredentials   = "credentials"
	stepLogin         = "login"
	stepLoginAgain    = "login again"
	stepLoginOfWorker = "login of worker"
	stepUsers         = "users"
	stepUsersAtLast   = "users at last"
	stepReady         = "ready"
	stepReach         = "reach"
	stepReported      = "reported"
	stepDrain         = "drain"
	stepImage         = "image"
	stepBase          = "base"
	stepSlots         = "slots"
	stepFinish        = "finish"
	stepRemoveWorker  = "remove worker"
	stepClear         = "clear"
	stepCertificate   = "certificate"
	stepToken         = "token"
)

// Action is what a step does: one of the types below. Each says how it is undone when it or a later
// step fails.
type Action interface{ action() }

type (
	// Folders makes the cluster's folder, with its marker, and those in it.
	// Undone by removing the folder, where there was none of the cluster before.
	Folders struct {
		Root           string
		Names          []string // absolute
		Owner, Cluster string
		UID            int // to whom they are given; -1: they stay with who made them
		GID            int
	}
	// Sweepd puts the program where containers find it.
	// Not undone: it goes with the folder.
	Sweepd struct{ To string }
	// Files brings the project's files.
	// Not undone: a release that is not used goes in time.
	Files struct{}
	// Secrets writes files that only the owner may read. Secret values are not part of a plan:
	// whose they are is. Undone in a rotation alone, by writing what was there before, until the
	// broker has the new ones.
	Secrets struct {
		Dir      string
		For      string   // Broker, Monitor, MonitorToken, or a user of the broker
		Names    []string // of Monitor: those in its certificate
		Logins   Logins   // of Broker
		Renew    bool     // of Broker: it gets a new certificate
		UID, GID int
	}
	// Rotate makes all secrets of the broker anew, and keeps them on the master's host. Nobody else
	// has them then.
	// Undone by keeping the secrets of before, until the broker has the new ones.
	Rotate struct{ Logins Logins }
	// Finish ends a rotation: the authority of before is not trusted any more.
	// Not undone.
	Finish struct{}
	// Users has the broker that runs have the users of its files and no others, and its
	// certificate. Deleting a user closes its connections. Undone by taking the users that are not
	// in Back from the broker, unless Back is nil.
	Users struct {
		Container string
		Logins    Logins
		// Back: users that a rollback restores. New users that no container can have used are left
		// out. nil: do not roll back.
		Back []string
		// Files are the broker's.
		Files Secrets
		// Close closes all connections: their clients come back with the credentials that they have
		// by then.
		Close bool
	}
	// Image makes an image available: from where it is, from its registry, or from this machine.
	// Not undone: it is there for the next call.
	Image struct{ Ref, Arch string }
	// CheckBroker finds out whether an image can be the broker's. It changes nothing.
	CheckBroker struct{ Ref string }
	// Build makes an image of the project's own Dockerfile.
	// Not undone, as Image.
	Build struct {
		Ref, Folder string
		Labels      map[string]string
	}
	// Ship brings an image that another host has built.
	// Not undone, as Image.
	Ship struct{ Ref, From string }
	// Base makes the image with nothing in it but the folders that sweepd needs, which belong to
	// its user. Undone by removing the image.
	Base struct {
		Ref      string
		User     string
		UID, GID int
		Labels   map[string]string
	}
	// Network makes a network.
	// Undone by removing it.
	Network struct {
		Name   string
		Labels map[string]string
	}
	// Volume makes a volume.
	// Undone by removing it.
	Volume struct {
		Name   string
		Labels map[string]string
	}
	// Run makes and starts a container, in the place of one that has its name. Undone by removing
	// the container, unless it replaced another: that one goes on only where this step itself
	// fails.
	Run struct {
		Spec    docker.Spec
		Replace string        // id of the one that goes first; "" is none
		Grace   time.Duration // that it gets
		// the option by which its program is told in which image it runs; "": it is not
		Image string
	}
	// Restart ends a container and starts it again.
	// Not undone.
	Restart struct {
		Name  string
		Grace time.Duration
	}
	// Start starts a container that is there and does not run.
	// Not undone.
	Start struct{ Name string }
	// Login waits until the broker takes a login of a user, as sweepd on the host sees it.
	// It changes nothing.
	Login struct {
		Sweepd, Dir string
		Address     string // HOST:PORT
		Wait        time.Duration
	}
	// Ready waits until the master answers that it is ready.
	// It changes nothing.
	Ready struct{}
	// Reported waits until a worker has reported to the master, and has it go on where it was
	// drained for its replacement: a person's drain stays.
	// Not undone.
	Reported struct{ Worker string }
	// Drain has a worker finish what runs, for its replacement or removal.
	// Undone by having the worker go on, unless a person drained it.
	Drain struct {
		Worker string
		Wait   time.Duration // for the end of that; 0: without limit
		Now    bool          // do not wait, only have it take nothing more
	}
	// Relay copies revisions that a host lacks from the master's host: those of open sweeps, and
	// the current one. Not undone, as Files.
	Relay struct{ CurrentRevision string }
	// SetSlots has a worker run another number of tasks at a time. What runs goes on.
	// Undone by giving the worker the slots of before. Its limits stay.
	SetSlots struct {
		Worker        string
		Slots, Before int
		Container     string        // whose limits change first
		Limits        docker.Limits // zero: none
	}
	// Forget has the master drop a worker that is gone for good.
	// Not undone.
	Forget struct{ Worker string }
	// Remove stops and removes a container.
	// Not undone: the container goes on only where this step itself fails.
	Remove struct {
		ID    string
		Grace time.Duration
	}
	// Clear removes what the cluster has on a host that it leaves: its networks and images. Files
	// stay. Not undone.
	Clear struct{ Labels map[string]string }
	// Keep writes the record.
	// Undone by writing the record of before, where there was one.
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
func (SetSlots) action()    {}
func (Forget) action()      {}
func (Remove) action()      {}
func (Clear) action()       {}
func (Keep) action()        {}
