package monitor

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"
)

// How long somebody stays logged in, and how many of one role may be: beyond that the session of
// that role that was idle longest ends, so that logins of one role end no session of the
// other. They are kept in memory, so a restart logs everybody out.
const (
	sessionIdleTimeout = 2 * time.Hour
	sessionMaxAge      = 7 * 24 * time.Hour
	maxRoleSessions    = 128
)

// session is a logged-in user.
type session struct {
	role Role
	user string // in the audit
	// streams that it reads; the hub's mutex guards it
	readers int

	since, seen time.Time
}

// sessions are found by a hash of what the cookie holds, so that nothing in memory opens one.
type sessions struct {
	now func() time.Time
	mu  sync.Mutex
	all map[[sha256.Size]byte]*session
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, all: map[[sha256.Size]byte]*session{}}
}

// begin makes a session of a user, who is named in the audit; the id is for the cookie.
func (s *sessions) begin(role Role, user string) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(role)
	id = rand.Text()
	s.all[sha256.Sum256([]byte(id))] = &session{role: role, user: user, since: s.now(), seen: s.now()}
	return id
}

// drop makes room for a session of a role: it ends the one that was silent longest.
func (s *sessions) drop(role Role) {
	var oldest [sha256.Size]byte
	var seen time.Time
	n := 0
	for key, one := range s.all {
		if one.role != role {
			continue
		}
		n++
		if seen.IsZero() || one.seen.Before(seen) {
			oldest, seen = key, one.seen
		}
	}
	if n >= maxRoleSessions {
		delete(s.all, oldest)
	}
}

// find returns the session of an id, nil when there is none or it is over. It counts as a sign of
// life.
func (s *sessions) find(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.lookup(id)
	if have != nil {
		have.seen = s.now()
	}
	return have
}

func (s *sessions) lookup(id string) *session {
	key, now := sha256.Sum256([]byte(id)), s.now()
	have := s.all[key]
	if have != nil && (now.Sub(have.seen) > sessionIdleTimeout ||
		now.Sub(have.since) > sessionMaxAge) {
		delete(s.all, key)
		return nil
	}
	return have
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(id)))
}

// sessionCookie returns the name and path of the cookie with a session's id. Browsers keep the
// cookies of a host for all its ports: the name has that of the cluster. What comes before it makes
// browsers refuse such a cookie from who has no TLS, and with __Host- from the host's neighbours of
// the same domain.
func (m *Monitor) sessionCookie() (name, path string) {
	name, path = strings.TrimSuffix("monitor-"+m.o.Cluster, "-"), m.o.Prefix+"/"
	switch {
	case m.o.Secure && m.o.Prefix == "":
		return "__Host-" + name, path
	case m.o.Secure: // __Host- is for the path / alone
		return "__Secure-" + name, path
	}
	return name, path
}

// sessionID returns the id that a browser has; "": none.
func (m *Monitor) sessionID(r *http.Request) string {
	name, _ := m.sessionCookie()
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// setSessionID gives a browser the id of a session; "" removes what it has.
func (m *Monitor) setSessionID(w http.ResponseWriter, value string) {
	name, path := m.sessionCookie()
	c := &http.Cookie{Name: name, Value: value, Path: path,
		HttpOnly: true, Secure: m.o.Secure, SameSite: http.SameSiteStrictMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// equalSecrets compares secrets in a time that says nothing about either.
func equalSecrets(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
