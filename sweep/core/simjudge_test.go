package core_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/internal/invariants"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// simJudge writes down what happens, for the invariants, and looks at every step for what these
// cannot see at the end.
type simJudge struct {
	*sim
	starts    []invariants.Start
	faulty    []*invariants.Fault
	confirmed map[string]int64
	cancelled []*invariants.Cancel
	output    map[runOn][]int64 // bytes that runs of an attempt printed
	outputs   int64
	handed    map[runKey]string         // attempts, and their workers
	slots     map[string]int            // most slots that a worker told of
	gpus      map[string]task.GPU       // by UUID, as workers told last
	beats     map[string]task.Heartbeat // by incarnation, the newest
	inTrial   map[string]time.Time
	asked     map[asking]bool   // who had tasks of sweeps whose secrets it asks for
	before    map[string]string // the processes of workers that were registered before this step
	wrong     error
}

type runOn struct {
	worker string
	runKey
}

type asking struct{ worker, sweep string }

func newSimJudge(s *sim) simJudge {
	return simJudge{sim: s, confirmed: map[string]int64{}, output: map[runOn][]int64{},
		handed: map[runKey]string{}, slots: map[string]int{}, gpus: map[string]task.GPU{},
		beats:   map[string]task.Heartbeat{},
		inTrial: map[string]time.Time{}, asked: map[asking]bool{}, before: map[string]string{}}
}

func (j *simJudge) report(format string, args ...any) {
	if j.wrong == nil {
		j.wrong = fmt.Errorf(format, args...)
	}
}

// fault notes what may have ended attempts.
func (j *simJudge) fault(worker, sweep string, from, to time.Time) *invariants.Fault {
	f := &invariants.Fault{Worker: worker, Sweep: sweep, From: from, To: to}
	j.faulty = append(j.faulty, f)
	return f
}

// started notes a start and returns its place among all, from 1.
func (j *simJudge) started(worker string, k runKey, a task.Attempt) int {
	j.starts = append(j.starts, invariants.Start{Task: k.id, Attempt: k.number, Worker: worker,
		Time: j.now, GPUs: task.UUIDs(a.Devices), Share: a.Share})
	return len(j.starts)
}

// printed is how many bytes a run printed: no two as many.
func (j *simJudge) printed(worker string, k runKey) int64 {
	j.outputs++
	on := runOn{worker, k}
	j.output[on] = append(j.output[on], j.outputs)
	return j.outputs
}

// kept is how many bytes are kept of the run whose end counts.
func (j *simJudge) kept(id task.ID, t core.Attempt) (stdout, stderr int64, err error) {
	all := j.output[runOn{t.Worker, runKey{id, t.Number}}]
	if !slices.Contains(all, t.Outcome.Stdout.Bytes) {
		return 0, 0, fmt.Errorf("its runs printed %d bytes", all)
	}
	return t.Outcome.Stdout.Bytes, 0, nil
}

// cancel notes that something was cancelled.
func (j *simJudge) cancel(sweep string, index int64, known bool) {
	for _, c := range j.cancelled {
		if c.Sweep == sweep && c.Index == index && c.Until.IsZero() {
			return
		}
	}
	c := &invariants.Cancel{Sweep: sweep, Index: index, At: j.now}
	if !known {
		c.Until = j.now
	} else if j.faults.quiet() {
		c.Quiet = j.now.Add(5 * time.Second)
	}
	j.cancelled = append(j.cancelled, c)
}

// uncancel notes that what was cancelled of a sweep runs again: all of it, or some tasks.
func (j *simJudge) uncancel(sweep string, indexes []int64) {
	for _, c := range j.cancelled {
		if c.Sweep == sweep && c.Until.IsZero() &&
			(len(indexes) == 0 || c.Index == invariants.Whole ||
				slices.Contains(indexes, c.Index)) {
			c.Until = j.now
		}
	}
}

// evidence is what is known beside the store.
func (j *simJudge) evidence() (e invariants.Evidence) {
	e.Confirmed, e.Starts, e.Output = j.confirmed, j.starts, j.kept
	if e.Starts == nil {
		e.Starts = []invariants.Start{}
	}
	for _, f := range j.faulty {
		e.Faults = append(e.Faults, *f)
	}
	for _, c := range j.cancelled {
		e.Cancelled = append(e.Cancelled, *c)
	}
	for _, p := range j.alive("") {
		for _, r := range p.running {
			e.Alive = append(e.Alive, invariants.Start{Task: r.id, Attempt: r.number,
				Worker: p.name})
		}
	}
	return e
}

// steps looks at the input of a step before it is decided.
func (j *simJudge) steps(in *core.Input) {
	clear(j.asked)
	clear(j.before)
	for _, h := range in.Heartbeats {
		j.before[h.Worker] = j.store.workers[h.Worker].Incarnation
		for _, n := range h.Needs {
			j.asked[asking{h.Worker, n.Sweep}] = j.store.held(h.Worker, n.Sweep) > 0
		}
	}
}

// heard notes a heartbeat that reached the master.
func (j *simJudge) heard(h task.Heartbeat) {
	j.slots[h.Worker] = max(j.slots[h.Worker], h.Slots)
	j.beats[h.Incarnation] = h
	for _, g := range h.GPUs {
		j.gpus[g.UUID] = g
	}
}

// committed looks at the store after a step: it has what the core has, so that one made of it goes
// on in the same way.
func (j *simJudge) committed(effects *core.Effects) {
	j.quarantines()
	for i := range effects.Changed {
		r := &effects.Changed[i]
		for _, old := range r.Changes.OldAttempts {
			k := runKey{task.ID{Sweep: r.Head.ID, Index: old.Index}, old.Attempt.Number}
			if old.Attempt.Superseded && j.abandoned(old.Attempt.Worker, k) {
				j.report("lease: attempt %d of %v ended on %s and was not rescheduled, but does "+
					"not count", k.number, k.id, old.Attempt.Worker)
			}
		}
	}
	if j.IntN(50) > 0 {
		return
	}
	sweeps, workers := j.store.load()
	anew, _ := core.Load(core.Options{Lease: simLease}, sweeps, workers, j.now)
	for _, s := range sweeps {
		id := s.Head.ID
		is, have := j.master.core.Dump(id)
		if !have {
			continue // it was kept a moment ago, and has not begun
		}
		want, _ := anew.Dump(id)
		want.Head.Ran = is.Head.Ran            // which increases by itself
		is.Head.Waits, is.Head.Silent = "", "" // which follow from what workers report
		if !reflect.DeepEqual(is, want) {
			j.report("restart: a core made anew has another %s (-running +anew):\n%s", id,
				cmp.Diff(is, want))
		}
		if err := j.store.byID[id].model.counts(); err != nil {
			j.report("1: %s: %v", id, err)
		}
	}
}

// quarantines looks for a quarantine that does not end.
func (j *simJudge) quarantines() {
	for _, name := range j.master.core.Quarantined() {
		since, noted := j.inTrial[name]
		if !noted {
			j.inTrial[name] = j.now
		} else if j.now.Sub(since) > longestQuarantine {
			j.report("quarantine: that of %s does not end", name)
		}
	}
	for name := range j.inTrial {
		if !slices.Contains(j.master.core.Quarantined(), name) {
			delete(j.inTrial, name)
		}
	}
}

// longestQuarantine is how long one lasts, with the time in which a master that was away sees it.
const longestQuarantine = 11 * time.Minute

// told looks at messages that are about to be sent, after what they say was kept.
func (j *simJudge) told(messages []core.Message) {
	for i := range messages {
		m := &messages[i]
		if m.Secrets != nil {
			j.releases(m)
		}
		if c := m.Control; c != nil && c.Kind == task.StopControl {
			k := runKey{task.ID{Sweep: c.Sweep, Index: c.Index}, c.Attempt}
			if j.abandoned(m.Worker, k) {
				j.report("lease: attempt %d of %v on %s is stopped, but was not rescheduled",
					k.number, k.id, m.Worker)
			}
		}
		fresh := false
		for _, b := range m.Batches {
			var news []task.Attempt
			for _, a := range b.Attempts {
				k := runKey{task.ID{Sweep: b.Sweep, Index: a.Index}, a.Number}
				other, handed := j.handed[k]
				if handed && other != m.Worker {
					j.report("2: attempt %d of %v goes to %s, which %s had", k.number, k.id,
						m.Worker, other)
				}
				if !handed {
					fresh, news = true, append(news, a)
				}
				j.handed[k] = m.Worker
				j.placed(k, m.Worker)
			}
			if len(news) > 0 {
				j.resources(m.Worker, &b, news)
			}
		}
		if fresh {
			j.capacity(m.Worker)
		}
	}
}

// abandoned reports whether the lease of an attempt's worker ended and no other attempt was placed:
// the attempt must be resumed. The attempts of a task that a person retries have ended.
func (j *simJudge) abandoned(worker string, k runKey) bool {
	w := j.store.byID[k.id.Sweep]
	if w == nil {
		return false
	}
	row := w.model.rows[k.id.Index]
	o := row.Attempt.Outcome
	return row.State == task.Pending && row.Attempt.Number == k.number &&
		row.Attempt.Worker == worker && row.Charged.Lost > 0 && o != nil &&
		strings.Contains(o.Reason, " was silent for ")
}

// placed checks that the store has what is sent.
func (j *simJudge) placed(k runKey, worker string) {
	row := j.store.byID[k.id.Sweep].model.rows[k.id.Index]
	if row.Attempt.Number != k.number || row.Attempt.Worker != worker || !row.State.Active() {
		j.report("2: attempt %d of %v goes to %s, and the store has %v, attempt %d of %s", k.number,
			k.id, worker, row.State, row.Attempt.Number, row.Attempt.Worker)
	}
}

// capacity checks that a worker that is sent something new has no more than its window, and takes
// tasks.
func (j *simJudge) capacity(worker string) {
	slots := j.slots[worker]
	most := max(core.PrefetchTarget(slots, 0, false),
		core.PrefetchTarget(slots, shortestTask, false))
	held := 0
	for _, w := range j.store.sweeps {
		if id := w.model.head.ID; w.model.head.Ended.IsZero() {
			held += j.store.held(worker, id) * j.slotsOf(worker, w.model.record.Recipe.Needs)
		}
	}
	if held > most {
		j.report("capacity: %s is given tasks that take %d slots and has %d", worker, held, slots)
	}
	for _, w := range j.master.core.Workers() {
		if w.Name == worker && w.State != core.WorkerReady {
			j.report("capacity: %s is given tasks and is %s", worker, w.State)
		}
	}
}

// releases checks that secrets go to the registered process of a worker that has its tasks, or to
// the one that was registered when the step began: another may register after that one's heartbeat
// was answered, which then cannot read the answer.
func (j *simJudge) releases(m *core.Message) {
	need := m.Secrets.Need
	if j.store.held(m.Worker, need.Sweep) == 0 && !j.asked[asking{m.Worker, need.Sweep}] {
		j.report("secrets: those of %s go to %s, which has no task of it", need.Sweep, m.Worker)
	}
	if key := string(m.Secrets.Key); key != j.store.workers[m.Worker].Incarnation &&
		key != j.before[m.Worker] {
		j.report("secrets: those of %s go to a process of %s that is not registered", need.Sweep,
			m.Worker)
	}
}

// answered looks for the audit entry of a command that was answered.
func (j *simJudge) answered(c *simCall, err error) {
	want := core.AuditDone
	if err != nil {
		want = core.AuditRefused
	}
	for _, e := range slices.Backward(j.store.audit) {
		if text, _, _ := strings.Cut(e.Detail, " "); text == c.detail {
			if e.Outcome != want || e.Action != c.audit.Action {
				j.report("audit: %s ended with %v, and its entry is %+v", c.detail, err, e)
			}
			return
		}
	}
	j.report("audit: %s (%s %s) was answered and has no entry", c.detail, c.audit.Action,
		c.audit.Object)
}
