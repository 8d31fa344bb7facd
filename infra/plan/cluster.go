// Package plan decides what is done to hosts: wanted and found in, ordered steps out. A dry run is
// printing them.
//
// infra and the commands may import it. It is pure.
package plan

import (
	"slices"
	"time"

	"mlframework/config"
	"mlframework/infra/docker"
	"mlframework/infra/host"
	"mlframework/infra/layout"
	"mlframework/infra/probe"
	"mlframework/nvdocker"
)

// Labels of everything that a cluster has on hosts.
const (
	ClusterLabel = "mlframework.cluster"
	OwnerLabel   = "mlframework.owner"
	RoleLabel    = "mlframework.role"
	HostLabel    = "mlframework.host" // the host's name in the cluster
	// of the broker: the version of its configuration, which is in files that it mounts
	ConfigLabel = "mlframework.config"
)

// Roles of containers.
const (
	Broker  = "broker"
	Master  = "master"
	Monitor = "monitor"
	Worker  = "worker"
)

// Cluster is what is wanted.
//
// A host that has left stays in the record as long as it has outputs (RecordHost.Outputs). Another
// host of the record that is not reached is in one of three states:
//
//	left behind  it stays in the cluster, and gets files and passwords later (LeftBehind)
//	leaving      it is not wanted, and what it runs is removed when it is back: it is Away in the
//	             call that finds that, and Leaves in the record from then on
//	given up     it is not wanted, and the record has it no more (GiveUp)
type Cluster struct {
	Name   string
	Owner  string   // the ssh user of the master's host when the cluster was set up
	Hosts  []Host   // each once
	Master string   // name of one of the hosts
	Adds   bool     // workers that are not wanted stay: the call joins a cluster
	Away   []string // hosts of the record that are to leave and cannot be reached
	GiveUp bool     // they leave all the same, with all that they have

	Program   string            // version of the program; "" where it is not known
	Schema    int               // version of the schema of its stores
	Downgrade bool              // the cluster may have a newer program
	Sweepd    map[string]string // hash of the program, by architecture
	Project   Project

	BrokerImage string
	BrokerPort  int    // 0: 5671, or the next that is free
	MonitorPort int    // 0: 5555, or the next that is free
	Address     string // where workers reach the broker, without port; "": as found
	// the monitor is for other machines, too, with TLS; else for its own host only
	Exposed bool
	// the time without a heartbeat after which a worker's tasks are rescheduled; 0:
	// core.DefaultLease
	Lease time.Duration

	Pull bool // references of images stand for what their registries have now
	// Told are images by reference, as registries and this machine tell. Those of which a host or
	// the record knows are missing, unless Pull is set.
	Told map[string]layout.RecordImage

	Rotate bool // all passwords, tokens and certificates are made anew

	DrainTime time.Duration // that a worker gets to finish what runs before it is stopped
	Now       bool          // no time at all
}

// Host is one machine.
type Host struct {
	Name    string // of its worker, and in the cluster
	Address host.Address
	// Work is what the worker is to be, beyond what its project says; nil: there is none. 0 slots
	// are one for each core. Without limits, they are the project's for each slot, or what the host
	// can spare.
	Work *config.HostOptions
}

// Project is what a project asks of the containers of its workers.
type Project struct {
	Revision     string
	Image        string // "" with Build, or when nothing names one
	Build        string // folder of a Dockerfile, relative to the project; "": none
	Recipe       string // with Build: changes with the Dockerfile, and with what it copies by name
	Volumes      []string
	Memory       int64 // bytes for each slot; 0 is no word about it
	Shm          int64
	Pids         int64 // for each slot; 0 is no word about it
	WritableRoot bool
}

// Found is what a host has.
type Found struct {
	probe.Facts
	Engine     docker.Info
	GPUs       nvdocker.Report
	Containers []docker.Container // those with ClusterLabel, of every cluster
	Others     []docker.Container // all; only where a port is asked for
	// Images are those that are wanted and there, by reference, and those of which the cluster's
	// containers are made, by id.
	Images       map[string]docker.Image
	Networks     []string // of this cluster
	Volumes      []string // of this cluster
	Reached      string   // the name or address under which it was reached from here
	Reaches      []string // addresses of the master's host with which it can speak, best first
	Logins       Logins   // of the master's host
	Outdated     []string // users of the broker with other credentials here than are kept
	NeedsRenewal Renewal  // of the master's host
	Running      []string // tasks that the host's worker runs, as far as the master tells
	Lacks        bool     // the worker has said that files of open sweeps are not there, likewise
	Drained      bool     // the worker was told to take nothing more for its replacement, likewise
	// Shares is the name of the host whose home folder this one has, too; "" for the first and all
	// others.
	Shares string
}

// Logins are the users of a cluster's broker, as the master's host keeps them. The zero value is
// none.
type Logins struct {
	Users   []string
	Pending bool // the broker may have others, or has to be told of a change
}

// Renewal is what of a cluster's secrets is to be renewed without being asked for. The zero value
// is nothing.
type Renewal struct {
	Certificate bool // the broker's own
	Authority   bool // that signs it: with it everything is made anew
	Monitor     bool // the monitor's certificate
	Rotation    bool // a rotation was cut off, and is to be finished
}

// role finds the cluster's container of a role. One that was set aside and never removed counts
// only where there is no other.
func (f Found) role(cluster, role string) (found docker.Container, there bool) {
	for _, c := range f.Containers {
		if c.Labels[ClusterLabel] != cluster || c.Labels[RoleLabel] != role {
			continue
		}
		if !there || c.Name == containerName(cluster, role) {
			found, there = c, true
		}
	}
	return found, there
}

// host finds a host by name.
func (c Cluster) host(name string) (Host, bool) {
	i := slices.IndexFunc(c.Hosts, func(h Host) bool { return h.Name == name })
	if i < 0 {
		return Host{}, false
	}
	return c.Hosts[i], true
}

// labels are those of a thing of the cluster.
func (c Cluster) labels(role, hostName string) map[string]string {
	return map[string]string{ClusterLabel: c.Name, OwnerLabel: c.Owner, RoleLabel: role,
		HostLabel: hostName}
}

// Container is the name of the cluster's container of a role. A host has at most one of each.
func (c Cluster) Container(role string) string { return containerName(c.Name, role) }

func containerName(cluster, role string) string { return "mlframework-" + cluster + "-" + role }

// ReplacedSuffix ends the name of a container that was stopped to be replaced, until the new one
// has started.
const ReplacedSuffix = "-replaced"
