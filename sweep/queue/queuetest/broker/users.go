package broker

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mlframework/sweep/queue/rights"
)

// users are those of package rights that a broker was given. The zero value has none.
type users struct {
	mu        sync.Mutex
	passwords map[string]string
	allowed   map[string][]string // users by vhost
}

// usualWorkers are the names that most tests use: all are made at once, as each import takes a
// while.
var usualWorkers = []string{"w1", "w2", "w3", "w4"}

// Master makes the master's user in a vhost, as a cluster has it, and gives the file with its
// credentials.
func (b *Broker) Master(t testing.TB, vhost string) (credentials string) {
	t.Helper()
	b.allow(t, vhost, rights.Master)
	return b.credentialsOf(rights.Master)
}

// Worker makes the user of a worker in a vhost, as a cluster has it, and gives the file with its
// credentials.
func (b *Broker) Worker(t testing.TB, vhost, name string) (credentials string) {
	t.Helper()
	b.allow(t, vhost, rights.WorkerUser(name))
	return b.credentialsOf(rights.WorkerUser(name))
}

func (b *Broker) credentialsOf(user string) string { return filepath.Join(b.Dir, "users", user) }

// MakeUser makes a user that is none of package rights, with one expression for all rights in a
// vhost. File has its credentials.
func (b *Broker) MakeUser(t testing.TB, vhost, name, pattern string) {
	t.Helper()
	b.users.mu.Lock()
	defer b.users.mu.Unlock()
	u := rights.User{Name: name, Configure: pattern, Write: pattern, Read: pattern}
	b.Import(t, rights.Definitions(vhost, []rights.Login{{User: u,
		Hash: rights.Hash([4]byte{1, 2, 3, 4}, b.password(t, name))}}))
}

// File is where the credentials of a user are that was made.
func (b *Broker) File(user string) string { return b.credentialsOf(user) }

// allow makes a user in a vhost, and with the first one of those that are usual.
func (b *Broker) allow(t testing.TB, vhost, user string) {
	t.Helper()
	b.users.mu.Lock()
	defer b.users.mu.Unlock()
	if slices.Contains(b.users.allowed[vhost], user) {
		return
	}
	wanted := []string{user}
	if len(b.users.allowed[vhost]) == 0 {
		wanted = append(wanted, rights.Master)
		for _, name := range usualWorkers {
			wanted = append(wanted, rights.WorkerUser(name))
		}
		slices.Sort(wanted)
		wanted = slices.Compact(wanted)
	}
	b.define(t, vhost, wanted)
	if b.users.allowed == nil {
		b.users.allowed = map[string][]string{}
	}
	b.users.allowed[vhost] = append(b.users.allowed[vhost], wanted...)
}

// define imports users, with their rights in a vhost and its policies. The caller holds the lock.
func (b *Broker) define(t testing.TB, vhost string, names []string) {
	t.Helper()
	var logins []rights.Login
	for _, name := range names {
		user := rights.MasterUser()
		if worker, ok := rights.WorkerOfUser(name); ok {
			user = rights.UserOfWorker(worker)
		}
		logins = append(logins, rights.Login{User: user,
			Hash: rights.Hash([4]byte{1, 2, 3, 4}, b.password(t, name))})
	}
	b.Import(t, rights.Definitions(vhost, logins))
}

func (b *Broker) password(t testing.TB, user string) string {
	t.Helper()
	if b.users.passwords == nil {
		b.users.passwords = map[string]string{}
	}
	if b.users.passwords[user] == "" {
		password, file := rand.Text(), b.credentialsOf(user)
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = os.WriteFile(file, []byte(user+":"+password+"\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		b.users.passwords[user] = password
	}
	return b.users.passwords[user]
}

// redefine makes all users again, after the broker has lost them.
func (b *Broker) redefine(t testing.TB) {
	t.Helper()
	b.users.mu.Lock()
	defer b.users.mu.Unlock()
	for vhost, names := range b.users.allowed {
		b.define(t, vhost, names)
	}
}

// Import imports definitions, as rabbitmqctl import_definitions does, which takes seconds.
func (b *Broker) Import(t testing.TB, definitions []byte) {
	t.Helper()
	out := b.Eval(t, fmt.Sprintf(`rabbit_definitions:import_raw(base64:decode(<<"%s">>))`,
		base64.StdEncoding.EncodeToString(definitions)))
	if !strings.Contains(out, "ok") || strings.Contains(out, "error") {
		t.Fatalf("import definitions: %s", out)
	}
}
