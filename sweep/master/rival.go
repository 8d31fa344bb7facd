package master

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"mlframework/sweep/task"
)

// Rival says that two processes had the name of one worker. Tasks of that name go to either of them, and the master, which
// hears one, would take those of the other for lost after a lease.
type Rival struct {
	Worker string
	Host   string // of the process that began first
	Since  time.Time
}

// String is cause and remedy.
func (r Rival) String() string {
	return fmt.Sprintf("two processes have the name %s: the one on %s, which began first, is told to end, and what it runs is run again; "+
		"give each worker a name of its own", r.Worker, r.Host)
}

// rivals are those that are told to end. The zero value is ready; it is safe for concurrent use.
type rivals struct {
	mu  sync.Mutex
	all map[string]told // by worker
}

type told struct {
	rival Rival
	last  time.Time
}

// note takes note of one that is told to end, and reports whether that is news.
func (r *rivals) note(worker, host string, now time.Time, lasting time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]told{}
	}
	t, known := r.all[worker]
	if !known || now.Sub(t.last) >= lasting {
		t = told{rival: Rival{worker, host, now}}
	}
	news := t.last.IsZero()
	t.last = now
	r.all[worker] = t
	return news
}

// Rivals lists, by name, the workers whose name two processes had until less than a lease ago.
func (m *Master) Rivals() (all []Rival) {
	m.rivals.mu.Lock()
	defer m.rivals.mu.Unlock()
	for _, t := range m.rivals.all {
		if m.o.Now().Sub(t.last) < m.o.Lease {
			all = append(all, t.rival)
		}
	}
	slices.SortFunc(all, func(a, b Rival) int { return cmp.Compare(a.Worker, b.Worker) })
	return all
}

// older is the process of a worker's name that began before the one that is known, and is not heard.
type older struct {
	since       time.Time // since when only it speaks; zero: it does not
	incarnation string
	host        string
	spoke       bool // since the one that is known spoke last
	turns       int  // how often it spoke after the one that is known did
}

func (o *older) heard(h task.Heartbeat) {
	if o.incarnation != h.Incarnation {
		*o = older{since: o.since, incarnation: h.Incarnation}
	}
	o.host, o.spoke = h.Host, true
}

// disown is called when the process that is known speaks. One that began before it, and has spoken twice in turn with it,
// lives beside it: it is told to end. Once may be a heartbeat that was on its way.
func (m *Master) disown(w *member, now time.Time) {
	o := &w.older
	o.since = time.Time{}
	if !o.spoke || m.o.Alone {
		return
	}
	o.spoke = false
	if o.turns++; o.turns < 2 {
		return
	}
	if m.rivals.note(w.kept.Name, o.host, now, m.o.Lease) {
		m.o.Log.Warn("two processes have the name of one worker: the one that began first is told to end", "worker", w.kept.Name, "host", o.host, "incarnation", o.incarnation)
	}
	m.post.tell(w.kept.Name, task.Control{Kind: task.RestartControl, Incarnation: o.incarnation, Now: true, Taken: true, Reason: "another process has its name"})
}
