package master

import (
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// Numbers of the placement: see window and chunk.
const (
	ahead     = 250 * time.Millisecond // work beyond the free slots that a worker has at hand
	message   = 100 * time.Millisecond // work in one batch
	mostAhead = 4096                   // tasks that a worker has at most
	mostTold  = 256                    // tasks in one batch
	enough    = 0.5                    // part of its window that a worker must have to be supplied
	long      = 5 * time.Second        // tasks of which a slot may wait for the master: some 10 ms are nothing to them
)

// window is how many tasks of a kind a worker should have: one for each slot and 250 ms of work for each beyond that, so
// that no slot waits for the master. Of long ones nothing waits on a worker where others could begin it. Mean is the running
// time of one task; 0 is not known yet, and may be long.
func window(slots int, mean time.Duration, others bool) int {
	slots = max(0, min(slots, mostAhead))
	switch {
	case others && (mean <= 0 || mean >= long):
		return slots
	case mean <= 0:
		return min(2*slots, mostAhead)
	}
	return min(slots+int(int64(slots)*int64(ahead)/int64(mean))+min(slots, 1), mostAhead)
}

// chunk is how many tasks travel together to a worker: 100 ms of work for it, so that long tasks travel alone and short
// ones cost little.
func chunk(slots int, mean time.Duration) int {
	if mean <= 0 {
		return 1
	}
	return max(1, min(int(int64(message)*int64(max(1, min(slots, mostAhead)))/int64(mean)), mostTold))
}

// place hands tasks to workers that have room, and puts them in the post.
func (m *Master) place() {
	m.placed, m.supplied = m.o.Now(), true
	m.emptied = m.empty()
	m.slots = 0
	for _, w := range m.workers {
		if w.takes() {
			m.slots += w.slots()
		}
	}
	batches := map[string][]task.Batch{}
	for _, only := range []bool{true, false} { // no task waits on a worker while another has a slot free
		for _, name := range m.names() {
			if w := m.workers[name]; w.takes() {
				batches[name] = append(batches[name], m.fill(name, w.slots(), only)...)
			}
		}
	}
	for _, name := range m.names() {
		if len(batches[name]) > 0 {
			m.post.add(letter{worker: name, batches: batches[name]})
		}
	}
}

// fill gives one worker what it has room for, or, when asked, only what its slots have: sweeps of the highest priority in turn, a batch each, and then, of what they
// leave, those of the next. What a worker has of a sweep takes its part of that sweep's window, and all parts together
// are one. A sweep keeps its turn until there is room for it: else one of short tasks, for which there is room all the
// time, would keep one of long tasks out for ever.
func (m *Master) fill(worker string, slots int, only bool) (batches []task.Batch) {
	taken := 0.0
	window := func(a *active) int {
		if only {
			return min(slots, mostAhead)
		}
		return window(slots, a.mean, m.others(worker))
	}
	part := func(a *active, tasks int) float64 { return float64(tasks) / float64(max(1, window(a))) }
	offer := core.Offer{Worker: worker, Empty: true, Alone: worker == m.emptied, Others: m.others(worker), Slots: m.slots}
	for _, a := range m.sweeps {
		if a.ledger.Solo(worker) {
			return nil
		}
		load := a.ledger.Load(worker)
		offer.Empty = offer.Empty && load == 0
		taken += part(a, load)
	}
	if offer.Alone && !offer.Empty {
		return nil
	}
filling:
	for _, turn := range m.ranks() {
		for idle := 0; idle < len(turn); {
			a := m.sweeps[turn[0]]
			if !m.workers[worker].reads(a.version()) {
				rotate(turn)
				idle++
				continue
			}
			room := room(window(a), taken)
			if room == 0 && a.ready(m.placed) {
				break filling
			}
			rotate(turn)
			offer.Tasks, offer.Lives = min(chunk(slots, a.mean), room), m.lives(turn[len(turn)-1])
			tasks := a.ledger.Place(offer, m.placed)
			if len(tasks) == 0 {
				idle++
				continue
			}
			idle, offer.Empty = 0, false
			taken += part(a, len(tasks))
			b := m.batch(a, tasks)
			b.Follow = m.followed(b.Sweep)
			batches = append(batches, b)
			if a.ledger.Solo(worker) {
				break filling
			}
		}
	}
	m.supplied = m.supplied && (only || taken >= enough)
	return batches
}

// rotate moves the first to the end.
func rotate(turn []string) {
	first := turn[0]
	copy(turn, turn[1:])
	turn[len(turn)-1] = first
}

// empty is a worker that gets nothing until a task which must run alone has it, where one waits for long; "": none.
func (m *Master) empty() string {
	lonely := 0 // the lowest version of batches with such a task
	for _, a := range m.sweeps {
		if v := a.version(); (lonely == 0 || v < lonely) && a.ledger.Lonely(m.placed) && !m.outranked(a) {
			lonely = v
		}
	}
	if lonely == 0 {
		return ""
	}
	if w := m.workers[m.emptied]; w != nil && w.takes() && w.reads(lonely) {
		return m.emptied
	}
	for _, name := range m.names() {
		if w := m.workers[name]; w.takes() && w.reads(lonely) {
			return name
		}
	}
	return ""
}

// room is how many tasks of a window still fit when a part of it is taken, which is a sum of fractions.
func room(window int, taken float64) int {
	const rounding = 1e-9
	return max(0, int((1-taken)*float64(window)+rounding))
}

// ready tells whether a sweep has a task to hand out now. Where some of its tasks back off and others do not, it may be
// wrong for those: then others go first.
func (a *active) ready(now time.Time) bool {
	h := a.ledger.Head()
	fresh := !h.Cut && h.Issued < h.Total
	return h.State == core.Open && (fresh || h.Rows[task.Pending] > 0 && a.ledger.Waiting(now).IsZero())
}

// batch is what a worker gets to know of tasks that were placed on it.
func (m *Master) batch(a *active, tasks []core.Task) task.Batch {
	b := task.Batch{Version: a.version(), Sweep: a.stored.Head.ID, Recipe: a.stored.Record.Recipe, Edition: a.edition}
	if e, own := m.environs[b.Sweep]; own {
		b.Environ, b.Edition = e.variables, e.edition
	}
	for _, t := range tasks {
		b.Attempts = append(b.Attempts, task.Attempt{Index: t.Index, Number: t.Try.Number, Args: a.points.Flags(nil, t.Index), Parameters: a.points.Given(t.Index)})
	}
	return b
}
