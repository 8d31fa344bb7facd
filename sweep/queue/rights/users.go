// Package rights says who may do what on the broker: the names of its queues and exchanges, a user
// for the master and one for each worker, and the policies that bound what may lie there.
//
// It is pure. sweep/queue/amqp, infra/broker and the commands may import it; it imports the
// standard library only, so that the code that makes the users agrees with the code that uses them.
//
// # Least rights
//
// The master declares, binds and deletes everything. A worker declares nothing: it publishes to one
// exchange with keys that end with its own name, and consumes two queues that are its own. So a
// worker, or a task that has got hold of its worker's password, reaches no other worker, and what
// it says carries its name.
package rights

import (
	"fmt"
	"regexp"
	"strings"
)

// Users of the broker.
const (
	Master = "master"

	workerPrefix = "worker-"
)

// WorkerUser is the user of a worker.
func WorkerUser(worker string) string { return workerPrefix + worker }

// WorkerOfUser returns the worker that a user belongs to; false when it is nobody's.
func WorkerOfUser(user string) (worker string, ok bool) {
	return strings.CutPrefix(user, workerPrefix)
}

var workerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@-]{0,126}$`)

// CheckWorker returns an error for a name that no worker can have: it stands in names of queues and
// users, and in permissions.
func CheckWorker(name string) error {
	if workerName.MatchString(name) {
		return nil
	}
	if len(name) > 200 {
		name = name[:200]
	}
	return fmt.Errorf("%q cannot name a worker: it has 1 to 127 letters, digits, or -_.@ and "+
		"begins with a letter or digit", name)
}

// User is one user of the broker and what it may do. Configure, Write and Read are regular
// expressions over the names of queues and exchanges, as rabbitmqctl set_permissions takes them.
type User struct {
	Name                   string
	Configure, Write, Read string
	Topics                 []Topic
	Connections, Channels  int // at most so many at a time; 0: no limit
}

// Topic is what a user may do at a topic exchange: regular expressions over routing keys (Write)
// and binding keys (Read).
type Topic struct{ Exchange, Write, Read string }

// Limits of one worker. Its process has two connections with four channels each; those that broke a
// moment ago count until the broker knows, and who starts a worker looks first whether another one
// of its name is there.
const (
	workerConnections = 16
	workerChannels    = 128
)

// matchNothing matches no name and no key.
const matchNothing = `^$`

// matchNames matches the given names, and a name that ends with "*" as a prefix.
func matchNames(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		prefix, is := strings.CutSuffix(name, "*")
		quoted[i] = regexp.QuoteMeta(prefix)
		if is {
			quoted[i] += ".+"
		}
	}
	// $ would also match before a newline at the end
	return `^(` + strings.Join(quoted, "|") + `)\z`
}

// MasterUser returns the master's user. It may do everything to what package queue/amqp describes,
// and nothing else.
func MasterUser() User {
	queues := []string{tasksPrefix + "*", controlPrefix + "*", EventsQueue, HeartbeatsQueue,
		MasterLock, MasterHolder, HeartbeatsPrefix + "*", LinesPrefix + "*", PiecesPrefix + "*"}
	return User{
		Name:      Master,
		Configure: matchNames(append([]string{FromWorkers}, queues...)...),
		// amq.default is the exchange to each queue by its name
		Write:  matchNames(append([]string{"amq.default"}, queues...)...),
		Read:   matchNames(append([]string{FromWorkers}, queues...)...),
		Topics: []Topic{{FromWorkers, matchNothing, `.*`}},
	}
}

// UserOfWorker returns the user of a worker. CheckWorker knows the names that it may have.
func UserOfWorker(name string) User {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return User{
		Name:      WorkerUser(name),
		Configure: matchNothing,
		Write:     matchNames(FromWorkers),
		Read:      matchNames(TasksQueue(name), ControlQueue(name)),
		Topics: []Topic{{FromWorkers,
			`^(` + strings.Join(words, "|") + `)\.` + regexp.QuoteMeta(name) + `\z`, matchNothing}},
		Connections: workerConnections,
		Channels:    workerChannels,
	}
}
