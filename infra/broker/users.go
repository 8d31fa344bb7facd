package broker

import (
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"

	"mlframework/sweep/queue/rights"
)

// Master is the master's user of the broker.
const Master = rights.Master

// WorkerUser is the user of one worker.
func WorkerUser(worker string) string { return rights.WorkerUser(worker) }

// rightsOf returns what a user may do.
func rightsOf(user string) rights.User {
	if worker, ok := rights.WorkerOfUser(user); ok {
		return rights.UserOfWorker(worker)
	}
	return rights.MasterUser()
}

// Users returns the names of the users, sorted.
func (s Secrets) Users() []string { return slices.Sorted(maps.Keys(s.Passwords)) }

// WithUsers returns secrets of exactly these users. Whoever has a password keeps it.
func (s Secrets) WithUsers(random io.Reader, users []string) (Secrets, error) {
	passwords := map[string]string{}
	for _, user := range users {
		passwords[user] = s.Passwords[user]
		if passwords[user] != "" {
			continue
		}
		password := make([]byte, 24)
		if _, err := io.ReadFull(random, password); err != nil {
			return Secrets{}, fmt.Errorf("make the password of the broker's user %s: %w", user, err)
		}
		passwords[user] = hex.EncodeToString(password)
	}
	s.Passwords = passwords
	return s, nil
}

// definitions are the users, their rights and the policies, as load_definitions and rabbitmqctl
// import_definitions read them. There is no guest.
func (s Secrets) definitions() []byte {
	var logins []rights.Login
	for _, user := range s.Users() {
		logins = append(logins, rights.Login{User: rightsOf(user),
			Hash: rights.Hash([4]byte(s.Salt), s.Passwords[user])})
	}
	return rights.Definitions("/", logins)
}
