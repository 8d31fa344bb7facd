package master

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Lease is how long a worker may be silent, where Options name nothing else, before what it has goes to others.
const Lease = 30 * time.Second

// member is a worker as the loop knows it.
type member struct {
	kept    store.Worker
	changed bool           // kept is not on disk as it is
	beat    task.Heartbeat // the newest; zero: none since the master started
	seen    time.Time      // when that came
	away    string         // why it counts as gone; "": it does not
	gone    time.Time      // since when
	stale   bool           // it was away, and what it holds went to others
	left    string         // the incarnation that said it ends
	newer   int            // the version of what it says, when that is newer than what this program reads; 0: it is not
	dropped int            // the version of its events that were dropped because of that, and said so
	trial   trial
	doubts  map[doubt]since
	endings endings
	told    time.Time // of its newest event, by its clock
	telling time.Time // when that came
	restart restart
	older   older
	measure semaphore // of those who want tasks measured there

	key      []byte             // of the registered process: what only it may read is sealed to it
	released map[task.Need]bool // secrets that the registered process was sent
	asked    bool               // it asked with another key, and that was said
	foreign  bool               // it told of attempts that were not placed on it, and that was said
	joins    joins
}

// member finds a worker, or makes it known.
func (m *Master) member(name string) *member {
	w := m.workers[name]
	if w == nil {
		w = &member{kept: store.Worker{Name: name}, measure: make(semaphore, measuring)}
		m.workers[name] = w
	}
	return w
}

// known reads the workers of the store.
func (m *Master) known(all []store.Worker) {
	for _, k := range all {
		m.member(k.Name).kept = k
		m.senders.register(k.Name, k.Host)
	}
}

// names lists the workers in order.
func (m *Master) names() []string { return slices.Sorted(maps.Keys(m.workers)) }

// hear notes what a worker says of itself.
func (m *Master) hear(ctx context.Context, s *step, h task.Heartbeat) {
	if !m.admits(h.Worker) {
		return
	}
	if h.Version > task.Newest {
		m.refuse(h)
		return
	}
	w, now := m.member(h.Worker), m.o.Now()
	if h.Incarnation == w.left || h.Incarnation < cmp.Or(w.beat.Incarnation, w.kept.Incarnation) && !m.outlived(w, h, now) {
		return // of a process that has ended or that another has followed
	}
	m.disown(w, now)
	w.stale = w.stale || w.away != "" || w.newer > 0
	if w.away != "" || w.beat.Incarnation != h.Incarnation {
		s.joined = append(s.joined, h.Worker)
	}
	w.newer, w.dropped, w.away, w.beat, w.seen = 0, 0, "", h, now
	w.endings.compare(h, now, m.o.Lease/3)
	if w.kept.Incarnation == "" {
		m.register(w, h)
	}
	if w.registered() && !m.o.Alone {
		m.remind(w)
		m.compare(ctx, w, now)
	}
	if !m.o.Alone && w.registered() {
		m.tellSecrets(w, h)
	}
}

// mostWorkers bounds the workers that are known: each costs memory at every step.
const mostWorkers = 1024

// admits reports whether a worker is known, or may become so.
func (m *Master) admits(name string) bool {
	if name == "" || m.workers[name] == nil && len(m.workers) >= mostWorkers {
		if name != "" && !m.crowded {
			m.o.Log.Error("no more workers are taken: forget those that are gone (run-tasks workers forget)", "worker", name, "known", len(m.workers))
			m.crowded = true
		}
		return false
	}
	return true
}

// outlived takes up a process that seems to have begun before the one that is known, when for a lease nobody else speaks:
// the clock of its host was set back, and what it kept of its starts is gone.
func (m *Master) outlived(w *member, h task.Heartbeat, now time.Time) bool {
	w.older.heard(h)
	switch alive := !w.seen.IsZero() && now.Sub(w.seen) < m.o.Lease; {
	case w.older.since.IsZero():
		m.o.Log.Warn("a worker's process is not heard, as another of its name began later", "worker", h.Worker, "not heard", h.Incarnation)
		w.older.since = now
		return false
	case alive:
		w.older.since = now
		return false
	case now.Sub(w.older.since) < m.o.Lease:
		return false
	}
	m.lose(w, "", "its worker "+h.Worker+" ended and began anew", core.Unknown)
	m.register(w, h)
	w.older = older{}
	return true
}

// remind tells a worker again what was asked of it and it does not do: messages may get lost.
func (m *Master) remind(w *member) {
	switch drained := w.kept.Drained || !w.trial.until.IsZero(); {
	case w.restart.incarnation == w.beat.Incarnation && (!w.beat.Leaving || w.restart.now):
		m.tellRestart(w)
	case drained != w.beat.Draining && !w.beat.Leaving:
		m.drain(w)
	}
	if wanted := cmp.Or(w.kept.Slots, w.kept.Started); wanted != w.beat.Slots && wanted > 0 {
		m.post.tell(w.kept.Name, task.Control{Kind: task.SlotsControl, Slots: w.kept.Slots})
	}
	for sweep := range m.followers {
		m.show(w.kept.Name, sweep, true)
	}
	if w.trial.probation && len(w.beat.Running) > 0 {
		w.trial.ran(w.beat.Running[0])
	}
}

// registered tells whether the process that speaks is the one whose registration was processed.
func (w *member) registered() bool {
	return w.beat.Incarnation != "" && w.beat.Incarnation == w.kept.Incarnation
}

// register takes up a worker's process.
func (m *Master) register(w *member, h task.Heartbeat) {
	w.kept.Incarnation, w.kept.Host, w.kept.Program, w.kept.Started = h.Incarnation, h.Host, h.Program, h.Slots
	w.kept.Image, w.kept.Environment = h.Image, h.Environment
	w.changed, w.doubts, w.trial, w.endings = true, nil, trial{}, nil
	w.key, w.released, w.asked, w.foreign = h.Key, nil, false, false
	m.senders.register(h.Worker, h.Host)
	m.recordJoin(w)
}

// join processes the registration of a worker's process, once.
func (m *Master) join(h task.Heartbeat) {
	if !m.admits(h.Worker) {
		return
	}
	w := m.member(h.Worker)
	if h.Incarnation <= w.kept.Incarnation {
		return
	}
	again := w.kept.Incarnation != ""
	m.register(w, h)
	if !again {
		return
	}
	fate := core.Unknown
	if h.Told {
		fate = core.Told
	}
	for _, a := range m.sweeps {
		a.ledger.Rejoin(h.Worker, "its worker "+h.Worker+" ended and began anew", fate, m.o.Now())
	}
}

// leave processes that a worker's process ends by itself. What is on its way to it goes to others.
func (m *Master) leave(h task.Heartbeat) {
	if w := m.workers[h.Worker]; w != nil && h.Incarnation == w.kept.Incarnation && w.left != h.Incarnation {
		w.left = h.Incarnation
		away := "it was stopped"
		if w.restart.incarnation == h.Incarnation || h.Leaving {
			away = "it starts again"
		}
		m.lose(w, away, "its worker "+h.Worker+" was stopped", core.Told)
	}
}

// lose takes everything from a worker, out of its queue, too: what would begin when it returns does not count.
func (m *Master) lose(w *member, away, reason string, fate core.Fate) {
	w.away, w.gone, w.doubts, w.endings = away, m.o.Now(), nil, nil
	m.post.add(letter{worker: w.kept.Name, remove: true})
	for _, a := range m.sweeps {
		a.ledger.Lose(w.kept.Name, reason, fate, m.o.Now())
	}
}

// expire takes everything from workers whose lease has ended. While the queue is away or takes nothing no heartbeat can
// come, and after that, or after this process was held up, every lease is whole again.
func (m *Master) expire(now time.Time) {
	if held := now.Sub(m.ticked); m.ticked.IsZero() || held > min(stalled, max(2*tick, m.o.Lease/3)) {
		m.whole = now
	}
	m.ticked = now
	status := m.o.Queue.Status()
	if status.Away || status.Blocked != "" {
		m.whole = now
		return
	}
	if status.Since.After(m.whole) {
		m.whole = status.Since
	}
	for _, name := range m.names() {
		w := m.workers[name]
		last := w.seen
		if m.whole.After(last) {
			last = m.whole
		}
		switch silent := now.Sub(last) >= m.o.Lease; {
		case silent && w.away == "":
			m.o.Log.Warn("a worker is away: what it had goes to others", "worker", name, "lease", m.o.Lease)
			m.lose(w, fmt.Sprintf("no heartbeat for %s", m.o.Lease), fmt.Sprintf("its worker %s was silent for %s", name, m.o.Lease), core.Unknown)
		case !silent && w.away == "" && w.newer == 0 && w.beat.Incarnation > w.kept.Incarnation:
			m.unregistered(w, now)
		}
	}
}

// unregistered takes up a process that speaks for a lease and whose registration does not come: a broker that came back
// empty has lost it.
func (m *Master) unregistered(w *member, now time.Time) {
	if w.doubts == nil {
		w.doubts = map[doubt]since{}
	}
	begin, doubted := w.doubts[doubt{}]
	if !doubted || w.beat.Unsent > 0 {
		w.doubts[doubt{}] = since{now, w.beat.Time}
	} else if now.Sub(begin.at) >= m.o.Lease && w.caughtUp(begin, now) {
		m.join(w.beat)
	}
}

// takes tells whether a worker may get tasks.
func (w *member) takes() bool {
	return w.registered() && w.away == "" && w.refused() == "" && !w.kept.Drained && !w.beat.Draining && !w.restarting() && w.trial.until.IsZero()
}

// slots is how many attempts a worker is to have at a time: one, while it is tried again, and none for slots in which
// processes of attempts that have ended are being ended.
func (w *member) slots() int {
	slots := max(0, w.beat.Slots-w.beat.Ending)
	if w.trial.probation {
		return min(1, slots)
	}
	return slots
}

// others tells whether another worker takes tasks, too.
func (m *Master) others(than string) bool {
	for name, w := range m.workers {
		if name != than && w.takes() {
			return true
		}
	}
	return false
}
