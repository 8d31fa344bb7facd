package core_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// handler is how events reach a ledger; the checker is tested with handlers that cheat.
type handler func(w *world, e task.Event)

func honest(w *world, e task.Event) {
	switch {
	case e.Kind == task.EndedEvent && e.Outcome.Class == task.Loss && w.IntN(2) == 0: // its host is known to be unfit
		w.ledger.Excuse(e, w.now)
		return
	case e.Kind != task.JoinedEvent:
		w.ledger.Event(e, w.now)
		return
	}
	if e.Attempt <= max(w.joined[e.Worker], w.store.joined[e.Worker]) {
		return // it comes again
	}
	w.joined[e.Worker] = e.Attempt
	for _, t := range w.ledger.Held(e.Worker) {
		if t.State != task.Queued {
			w.history.excuse(t.Index)
		}
	}
	w.ledger.Rejoin(e.Worker, "it began anew", core.Unknown, w.now)
}

// world is one sweep with its master, store, queue and workers, in one goroutine and driven by a seed. Its faults are
// those of failure.md that the ledger must stand: messages delayed, repeated and lost, workers that die, freeze or are
// taken for dead, and a master that is killed at any point.
type world struct {
	*rand.Rand
	now     time.Time
	store   *model
	ledger  *core.Ledger
	handle  handler
	workers []*simWorker
	joined  map[string]int // incarnations that the master knows and the store does not yet
	lost    []*simWorker   // workers that the master took for dead in this step
	calm    bool           // no more faults
	history history
}

func newWorld(seed uint64, handle handler) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 1)), now: at(0), handle: handle, joined: map[string]int{}}
	r := core.Record{Retry: core.Retry{Error: w.IntN(2), Timeout: w.IntN(2), OOM: w.IntN(2), Lost: w.IntN(3)}}
	total := 1 + w.Int64N(12)
	if w.IntN(2) == 0 {
		r.Ranges = core.Ranges{{From: 3, To: 5}, {From: 9, To: 30}}
	}
	if w.IntN(4) == 0 {
		r.MaxFailures = 1 + w.Int64N(5)
	}
	w.store = newModel(r, total)
	w.ledger = w.store.ledger()
	w.history = newHistory(r)
	w.history.maxFails = r.MaxFailures
	for i := range 1 + w.IntN(3) {
		w.workers = append(w.workers, newSimWorker(fmt.Sprintf("w%d", i)))
	}
	return w
}

// chance is true once in n times, and never when faults are over.
func (w *world) chance(n int) bool { return !w.calm && w.IntN(n) == 0 }

// run lets n random things happen, then ends the faults and lets the sweep come to its end. It returns what is wrong.
func (w *world) run(n int) error {
	for range n {
		if err := w.step(); err != nil {
			return err
		}
	}
	w.calm = true
	for range 5000 {
		w.ledger.Resume(w.now)
		if err := w.step(); err != nil {
			return err
		}
		if !w.store.head.Ended.IsZero() && w.idle() {
			return w.history.check(w.store)
		}
	}
	return fmt.Errorf("the sweep does not end: %+v", w.store.head)
}

func (w *world) idle() bool {
	return !slices.ContainsFunc(w.workers, func(s *simWorker) bool { return !s.idle() })
}

// step is one group of the master, and what workers do meanwhile.
func (w *world) step() error {
	w.now = w.now.Add(time.Duration(w.IntN(3000)) * time.Millisecond)
	for _, s := range w.workers {
		s.act(w)
	}
	for _, s := range w.workers {
		for range w.IntN(4) {
			if e, ok := s.outbox.next(); ok {
				w.handle(w, e)
			}
		}
	}
	if w.chance(6) {
		w.person()
	}
	if w.chance(15) {
		w.lose(w.workers[w.IntN(len(w.workers))])
	}
	if w.chance(15) {
		s := w.workers[w.IntN(len(w.workers))]
		s.die(w)
		s.join()
	}
	for _, s := range w.workers {
		for _, a := range s.running {
			if w.IntN(8) == 0 {
				w.ledger.Heard(s.name, a.index, a.number)
			}
		}
	}
	return w.commit(w.place())
}

// place hands tasks to workers, a few each.
func (w *world) place() map[*simWorker][]core.Task {
	placed, slots := map[*simWorker][]core.Task{}, 2*len(w.workers)
	for _, s := range w.workers {
		if n := 3 - w.ledger.Load(s.name); w.IntN(2) == 0 {
			placed[s] = w.ledger.Place(core.Offer{Worker: s.name, Tasks: n, Empty: w.ledger.Load(s.name) == 0, Others: len(w.workers) > 1, Slots: slots}, w.now)
			if len(placed[s]) > 0 {
				w.history.failing(w.ledger.Head(), int64(slots))
			}
			w.history.placed(s.name, placed[s])
		}
	}
	return placed
}

// commit is the second half of a step. The master may be killed before the commit, before anything was sent, or before
// the events were acknowledged.
func (w *world) commit(placed map[*simWorker][]core.Task) error {
	if w.chance(25) {
		w.restart()
		return w.history.wrong
	}
	changes := w.ledger.Take()
	w.store.keep(changes)
	maps.Copy(w.store.joined, w.joined)
	w.history.commit()
	w.lost = nil
	if err := w.store.check(w.ledger); err != nil {
		return err
	}
	if w.chance(25) {
		w.restart()
		return w.history.wrong
	}
	w.send(placed, changes.Controls)
	if w.chance(25) {
		w.restart()
		return w.history.wrong
	}
	for _, s := range w.workers {
		s.outbox.ack()
	}
	return w.history.wrong
}

func (w *world) send(placed map[*simWorker][]core.Task, orders []core.Order) {
	for s, tasks := range placed {
		s.inbox = append(s.inbox, tasks...)
	}
	for _, o := range orders {
		for _, s := range w.workers {
			if s.name == o.Worker && !w.chance(5) {
				s.controls = append(s.controls, o.Control)
			}
		}
	}
}

// restart kills the master and starts another. What was not acknowledged comes again, and what is queued is published
// again, as the same attempts. A worker that was taken for dead without a trace in the store is so again.
func (w *world) restart() {
	w.history.abort()
	clear(w.joined)
	w.ledger = w.store.ledger()
	for _, s := range w.workers {
		s.outbox.again()
		for _, i := range slices.Sorted(maps.Keys(w.store.rows)) {
			if t := w.store.rows[i]; t.State == task.Queued && t.Try.Worker == s.name {
				s.inbox = append(s.inbox, t)
				if a := (attempt{i, t.Try.Number}); s.taken[a] && !s.seen[a] { // it may run twice: see die
					w.history.excuse(i)
				}
			}
		}
	}
	w.send(nil, w.ledger.Take().Controls)
	for _, s := range w.lost {
		w.declare(s)
	}
}

// lose lets the master take a worker for dead. It may be, or have been and be back, or be only slow.
func (w *world) lose(s *simWorker) {
	if w.IntN(2) == 0 {
		s.die(w)
	}
	w.lost = append(w.lost, s)
	w.declare(s)
}

func (w *world) declare(s *simWorker) {
	for _, t := range w.ledger.Dump().Open {
		if t.State.Active() && t.Try.Worker == s.name {
			w.history.excuse(t.Index)
		}
	}
	w.ledger.Lose(s.name, "away", core.Unknown, w.now)
}
