package plan

import (
	"path"
	"strconv"
)

// Layout is where things are in a cluster's folder on a host. Everything lies below Root, but a socket for a group.
type Layout struct{ Root string }

// Sweepd is the program of that hash.
func (l Layout) Sweepd(hash string) string { return path.Join(l.Root, "bin", hash, "sweepd") }

// Revisions is where the files of projects are.
func (l Layout) Revisions() string { return path.Join(l.Root, "releases") }

// Record is the file that says what the cluster is made of, on the master's host.
func (l Layout) Record() string { return path.Join(l.Root, "cluster.json") }

// Secrets is the file with what the broker was made with, on the master's host.
func (l Layout) Secrets() string { return path.Join(l.Authority(), "secrets.json") }

// Authority is the folder of that file, which no container mounts.
func (l Layout) Authority() string { return path.Join(l.Root, "authority") }

// Broker and Master are the folders that their containers mount, on the master's host.
func (l Layout) Broker() string { return path.Join(l.Root, "broker") }

// Master is the master's folder with its credentials.
func (l Layout) Master() string { return path.Join(l.Root, "master") }

// Monitor is the monitor's folder with its token.
func (l Layout) Monitor() string { return path.Join(l.Root, "monitor") }

// Certificate is the folder with that of a monitor that others may reach, on the master's host.
func (l Layout) Certificate() string { return path.Join(l.Root, "certificate") }

// Run is the folder of the master's socket. A group has to come through every folder above it, which homes forbid.
func (l Layout) Run(cluster, group string, uid int) string {
	if group == "" {
		return path.Join(l.Root, "run")
	}
	return "/var/tmp/mlframework-" + cluster + "-" + strconv.Itoa(uid)
}

// Socket is the master's, in the folder Run.
const Socket = "master.sock"

// Read is the folder of the master's socket that only answers questions, which the monitor mounts: the other is out of its
// reach.
func (l Layout) Read() string { return path.Join(l.Root, "read") }

// ReadSocket is the master's read-only one, in the folder Read.
const ReadSocket = "read.sock"

// Of a worker: hosts that share a home folder each have their own.
func (l Layout) worker(host, what string) string { return path.Join(l.Root, "hosts", host, what) }

// Outputs is where attempts of a host's worker run.
func (l Layout) Outputs(host string) string { return l.worker(host, "outputs") }

// State is what outlives a worker.
func (l Layout) State(host string) string { return l.worker(host, "state") }

// Home is the home folder of programs.
func (l Layout) Home(host string) string { return l.worker(host, "home") }

// Login is the folder with a worker's credentials.
func (l Layout) Login(host string) string { return l.worker(host, "secrets") }

// Within containers: the folders of the master's sockets, and that of what a worker or monitor keeps.
const (
	RunAt   = "/run/mlframework"
	readAt  = "/run/mlframework-read"
	StateAt = "/mlframework/state"
)

// Other folders within containers.
const (
	programAt   = "/mlframework/bin"
	revisionsAt = "/mlframework/revisions"
	outputsAt   = "/mlframework/outputs"
	homeAt      = "/mlframework/home"
	secretsAt   = "/mlframework/secrets"
	attemptsAt  = "/mlframework/attempts" // files of secrets while attempts run
	storeAt     = "/store"
)
