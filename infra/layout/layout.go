// Package layout names everything that a cluster keeps on a host: folders, files, and the paths
// at which containers see them. It also has the formats of the two files that every release has
// to understand: the marker, which says whose a folder is, and the record of the cluster.
//
// Both sides of a connection to a host, and the script that removes a cluster, take the names
// from here. It is pure.
package layout

import "path"

// Names of what lies in a cluster's folder, the root.
const (
	MarkerFile = ".mlframework-root" // whose the root is: a Marker
	Programs   = "bin"               // HASH/sweepd
	Program    = "sweepd"
	Releases   = "releases"  // REVISION: the read-only files of a project
	Manifests  = "manifests" // REVISION: what the release was made of
	Current    = "current"   // a link to the release that was pushed last
	FilesLock  = "lock"      // held while files are brought
	Hosts      = "hosts"     // HOST/outputs and so on: hosts may share one root
	Outputs    = "outputs"
	RecordFile = "cluster.json" // on the master's host
	Audit      = "audit.jsonl"  // on the master's host: what commands changed
)

// Names outside the root.
const (
	// TokenPrefix begins the names of files in a home folder by which hosts that share it are
	// found.
	TokenPrefix = ".mlframework-token."
	// Cache is the folder of the programs that agents run, in the user's cache folder; CachedPrefix
	// begins their names, and CachedPart those of what is not whole yet.
	Cache        = "mlframework"
	CachedPrefix = "sweepd-" // SHA-256 follows, in hex
	CachedPart   = ".part."
)

// Sockets of the master.
const (
	Socket        = "master.sock"  // in Root.Run
	MonitorSocket = "monitor.sock" // in Root.Read; it runs no new code
)

// Root is the path of a cluster's folder on a host.
type Root string

func (r Root) join(names ...string) string {
	return path.Join(append([]string{string(r)}, names...)...)
}

// Lock returns the file that infrainit holds locked while it works. It lies beside the root, which
// may not exist yet.
func (r Root) Lock() string {
	return path.Join(path.Dir(string(r)), "."+path.Base(string(r))+
		".lock")
}

// Sweepd returns the program with a hash.
func (r Root) Sweepd(hash string) string { return r.join(Programs, hash, Program) }

// Releases returns the folder with the files of projects.
func (r Root) Releases() string { return r.join(Releases) }

// Record returns the file with the cluster's Record, on the master's host.
func (r Root) Record() string { return r.join(RecordFile) }

// Authority returns the folder of Secrets, which no container mounts.
func (r Root) Authority() string { return r.join("authority") }

// Secrets returns the file with what the broker was made with, on the master's host.
func (r Root) Secrets() string { return path.Join(r.Authority(), "secrets.json") }

// Broker returns the folder that the broker's container mounts, on the master's host.
func (r Root) Broker() string { return r.join("broker") }

// Master returns the folder with the master's credentials, on its host.
func (r Root) Master() string { return r.join("master") }

// Monitor returns the folder with the monitor's token, on the master's host.
func (r Root) Monitor() string { return r.join("monitor") }

// Certificate returns the folder with the certificate of a monitor that others may reach, on the
// master's host.
func (r Root) Certificate() string { return r.join("certificate") }

// Run returns the folder of the master's Socket.
func (r Root) Run() string { return r.join("run") }

// Read returns the folder of the master's MonitorSocket, which the monitor mounts: the other socket
// is out of its reach.
func (r Root) Read() string { return r.join("read") }

// Outputs returns the folder in which attempts of a host's worker run.
func (r Root) Outputs(host string) string { return r.join(HostOutputs(host)) }

// HostOutputs returns Outputs relative to the root.
func HostOutputs(host string) string { return path.Join(Hosts, host, Outputs) }

// State returns the folder with what outlives a host's worker.
func (r Root) State(host string) string { return r.join(Hosts, host, "state") }

// Home returns the home folder of a host's programs.
func (r Root) Home(host string) string { return r.join(Hosts, host, "home") }

// Login returns the folder with the credentials of a host's worker.
func (r Root) Login(host string) string { return r.join(Hosts, host, "secrets") }
