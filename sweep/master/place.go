package master

import (
	"time"

	"mlframework/sweep"
	"mlframework/sweep/task"
)

// Numbers of the placement: see window and chunk.
const (
	ahead     = 200 * time.Millisecond // work beyond the free slots that a worker has at hand
	message   = 100 * time.Millisecond // work in one batch
	mostAhead = 4096                   // tasks that a worker has at most
	mostTold  = 256                    // tasks in one batch
	enough    = 0.5                    // part of its window that a worker must have to be supplied
)

// window is how many tasks of a kind a worker should have: one for each slot and 200 ms of work for each beyond that,
// so that no slot waits for the master, and no worker hoards. Mean is the running time of one task; 0 is not known yet.
func window(slots int, mean time.Duration) int {
	slots = max(0, min(slots, mostAhead))
	if mean <= 0 {
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
	for _, name := range m.names() {
		if w := m.workers[name]; w.takes() {
			if batches := m.fill(name, w.slots()); len(batches) > 0 {
				m.post.add(letter{worker: name, batches: batches})
			}
		}
	}
}

// fill gives one worker what it has room for: sweeps in turn, a batch each. What a worker has of a sweep takes its part
// of that sweep's window, and all parts together are one. A sweep keeps its turn until there is room for it: else one
// of short tasks, for which there is room all the time, would keep one of long tasks out for ever.
func (m *Master) fill(worker string, slots int) (batches []task.Batch) {
	taken := 0.0
	part := func(a *active, tasks int) float64 { return float64(tasks) / float64(max(1, window(slots, a.mean))) }
	offer := sweep.Offer{Worker: worker, Empty: true, Alone: worker == m.emptied, Others: m.others(worker)}
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
	for idle := 0; idle < len(m.turn); {
		a := m.sweeps[m.turn[0]]
		room := room(window(slots, a.mean), taken)
		if room == 0 && a.ready(m.placed) {
			break
		}
		m.turn = append(m.turn[1:], m.turn[0])
		offer.Tasks = min(chunk(slots, a.mean), room)
		tasks := a.ledger.Place(offer, m.placed)
		if len(tasks) == 0 {
			idle++
			continue
		}
		idle, offer.Empty = 0, false
		taken += part(a, len(tasks))
		b := a.batch(tasks)
		b.Follow = m.followed(b.Sweep)
		batches = append(batches, b)
		if a.ledger.Solo(worker) {
			break
		}
	}
	m.supplied = m.supplied && taken >= enough
	return batches
}

// empty is a worker that gets nothing until a task which must run alone has it, where one waits for long; "": none.
func (m *Master) empty() string {
	lonely := false
	for _, a := range m.sweeps {
		lonely = lonely || a.ledger.Lonely(m.placed)
	}
	if !lonely {
		return ""
	}
	if w := m.workers[m.emptied]; w != nil && w.takes() {
		return m.emptied
	}
	for _, name := range m.names() {
		if m.workers[name].takes() {
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
	return h.State == sweep.Open && (fresh || h.Rows[task.Pending] > 0 && a.ledger.Waiting(now).IsZero())
}

// batch is what a worker gets to know of tasks that were placed on it.
func (a *active) batch(tasks []sweep.Task) task.Batch {
	b := task.Batch{Version: task.Version, Sweep: a.stored.Head.ID, Recipe: a.stored.Record.Recipe}
	for _, t := range tasks {
		b.Attempts = append(b.Attempts, task.Attempt{Index: t.Index, Number: t.Try.Number, Args: a.flags.Append(nil, a.stored.Record.Point(t.Index))})
	}
	return b
}
