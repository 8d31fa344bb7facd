package core_test

import (
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// simMaster does with a core what package master does, and can be killed at any point of that.
type simMaster struct {
	*sim
	up     bool
	epoch  int // of the process
	core   *core.Core
	beats  []task.Heartbeat
	calls  []*simCall
	outbox []core.Message
	next   time.Time // of the step that is due; zero: there is none
}

// simCall is a command of a person.
type simCall struct {
	detail  string // by which its audit entry is found
	audit   core.AuditEntry
	prepare func() (core.Command, error)
	done    func(*core.Effects, error)
	lost    func() // it is not known whether it was done
}

// The points of a step at which a master may be killed.
const (
	beforeCommit = iota
	beforeSending
	beforeAcknowledging
	afterAcknowledging
	points
)

func (m *simMaster) start() {
	m.up, m.next, m.beats = true, time.Time{}, nil
	m.epoch++
	sweeps, workers := m.store.load()
	for id := range m.store.secrets {
		if w := m.store.byID[id]; w == nil || !w.model.head.Ended.IsZero() {
			delete(m.store.secrets, id)
		}
	}
	if m.bug.loaded != nil {
		m.bug.loaded(sweeps)
	}
	c, out := core.Load(core.Options{Lease: simLease}, sweeps, workers, m.now)
	m.core = c
	effects, _ := out.Commit(m.commit(&core.Input{}))
	m.do(effects)
	m.wake(0)
}

// kill ends the process. What it was asked and did not answer has an unknown end.
func (m *simMaster) kill() {
	m.tracef("the master is killed")
	m.up, m.core, m.outbox, m.beats = false, nil, nil, nil
	m.epoch++
	calls := m.calls
	m.calls = nil
	for _, c := range calls {
		c.lost()
	}
	for _, q := range m.broker.queues {
		q.read = 0
	}
	away := []time.Duration{10 * time.Millisecond, time.Second, 4 * time.Second, 25 * time.Second}
	longest := away[m.IntN(len(away))]
	if m.plain {
		longest = time.Second
	}
	m.after(m.upTo(longest)+1, func() {
		if !m.up {
			m.start()
		}
	})
}

// killBetweenSteps kills the process unless somebody waits for its answer.
func (m *simMaster) killBetweenSteps() {
	if m.up && len(m.calls) == 0 {
		m.kill()
	}
}

func (m *simMaster) idle() bool { return m.up && len(m.calls)+len(m.outbox)+len(m.beats) == 0 }

// later lets something happen unless this process is killed before.
func (m *simMaster) later(d time.Duration, do func()) {
	epoch := m.epoch
	m.after(d, func() {
		if m.epoch == epoch {
			do()
		}
	})
}

// wake lets a step be taken soon.
func (m *simMaster) wake(d time.Duration) {
	at := m.now.Add(max(0, d))
	if !m.up || !m.next.IsZero() && !m.next.After(at) {
		return
	}
	m.next = at
	m.later(at.Sub(m.now), func() {
		if m.next.Equal(at) {
			m.next = time.Time{}
			m.step()
		}
	})
}

func (m *simMaster) heartbeat(h task.Heartbeat) {
	if m.up && !m.broker.down {
		m.beats = append(m.beats, h)
		m.judge.heard(h)
		m.wake(m.upTo(20 * time.Millisecond))
	}
}

// step takes one step.
func (m *simMaster) step() {
	dies := points
	if m.chance(m.faults.masterKills, 60) {
		dies = m.IntN(points)
	}
	call, in := m.gather()
	fail := func(at int) bool {
		if dies != at {
			return false
		}
		if call != nil {
			call.lost()
		}
		m.kill()
		return true
	}
	if m.bug.ackFirst {
		m.acknowledge()
	}
	m.judge.steps(&in)
	out := m.core.Step(in, m.now)
	if m.bug.stepped != nil {
		m.bug.stepped(m, &in)
	}
	if m.bug.tellFirst {
		effects, _ := out.Commit(func(*core.Rows) error { return nil })
		m.outbox = append(m.outbox, effects.Messages...)
		m.flush()
	}
	if fail(beforeCommit) {
		return
	}
	effects, _ := out.Commit(m.commit(&in))
	if m.bug.tellFirst {
		effects.Messages = nil
	}
	if m.bug.kept != nil {
		m.bug.kept(m, &in)
	}
	m.judge.committed(&effects)
	if fail(beforeSending) {
		return
	}
	m.do(effects)
	if call != nil {
		m.answer(call, &effects)
	}
	call = nil
	if fail(beforeAcknowledging) {
		return
	}
	if !m.bug.ackFirst {
		m.acknowledge()
	}
	if fail(afterAcknowledging) {
		return
	}
	if next := m.core.Next(); !next.IsZero() {
		m.wake(next.Sub(m.now))
	}
	if len(m.calls) > 0 || m.unread() {
		m.wake(m.upTo(10 * time.Millisecond))
	}
}

// gather collects what came in, and looks up what the core needs to know of it.
func (m *simMaster) gather() (call *simCall, in core.Input) {
	in.Heartbeats, m.beats = m.beats, nil
	in.Queue = core.QueueStatus{Down: m.broker.down, Since: m.broker.since}
	if !m.broker.down {
		for _, name := range m.broker.names() {
			for _, e := range m.broker.queues[name].take(m.sim) {
				in.Events = append(in.Events, core.Event{Event: e})
			}
		}
	}
	if m.bug.input != nil {
		m.bug.input(m, &in)
	}
	if len(m.calls) > 0 {
		call, m.calls = m.calls[0], m.calls[1:]
		command, err := call.prepare()
		if err != nil {
			command = core.Refuse{Err: err}
		}
		in.Command, in.Audit = command, &call.audit
	}
	for i := range in.Events {
		m.lookUp(&in.Events[i])
	}
	return call, in
}

// lookUp reads what the core needs to know of an event.
func (m *simMaster) lookUp(e *core.Event) {
	if e.Sweep == "" {
		return
	}
	m.add(e.Sweep)
	if m.bug.event != nil {
		m.bug.event(m, e)
	}
	if e.Origin = core.OriginAssigned; !m.core.IsCurrent(&e.Event) {
		p := m.store.placement(e.ID(), e.Attempt)
		e.Origin = core.OriginOf(e.Worker, e.Attempt, p.Worker, p.Newest)
	}
}

// add gives the core a sweep, also one that has ended.
func (m *simMaster) add(id string) {
	if w := m.store.byID[id]; w != nil && !m.core.Has(id) {
		m.core.Add(m.store.loaded(w))
	}
}

func (m *simMaster) commit(in *core.Input) func(*core.Rows) error {
	return func(rows *core.Rows) error {
		if m.bug.rows != nil {
			m.bug.rows(m, in, rows)
		}
		m.store.commit(rows)
		m.traceRows(rows)
		return nil
	}
}

func (m *simMaster) traceRows(rows *core.Rows) {
	if m.trace == nil {
		return
	}
	for i := range rows.Sweeps {
		r := &rows.Sweeps[i]
		for _, t := range r.Changes.Tasks {
			m.tracef("    %s/%d: %v, tries %d, attempt %d on %s", r.Head.ID, t.Index, t.State,
				t.Attempts, t.Attempt.Number, t.Attempt.Worker)
		}
		for _, t := range r.Changes.OldAttempts {
			m.tracef("    %s/%d: left attempt %d on %s, %s", r.Head.ID, t.Index, t.Attempt.Number,
				t.Attempt.Worker, t.Attempt.Outcome.Class)
		}
	}
	for _, w := range rows.Workers {
		m.tracef("    %s: %+v", w.Name, w)
	}
}

// do does what follows from a step.
func (m *simMaster) do(effects core.Effects) {
	for _, c := range effects.Vault {
		if kept, have := m.store.secrets[c.Sweep]; c.Remove {
			delete(m.store.secrets, c.Sweep)
		} else if have {
			kept.pausedSince = c.PausedSince
			m.store.secrets[c.Sweep] = kept
		}
	}
	if m.bug.effects != nil {
		m.bug.effects(m, &effects)
	}
	m.judge.told(effects.Messages)
	m.send(effects.Messages)
}

func (m *simMaster) answer(c *simCall, effects *core.Effects) {
	m.judge.answered(c, effects.Err)
	c.done(effects, effects.Err)
}

// send puts messages into the outbox, which sends them soon.
func (m *simMaster) send(messages []core.Message) {
	if len(messages) == 0 {
		return
	}
	if m.outbox = append(m.outbox, messages...); len(m.outbox) == len(messages) {
		m.later(m.upTo(10*time.Millisecond), m.flush)
	}
}

func (m *simMaster) flush() {
	if m.broker.down {
		m.later(500*time.Millisecond, m.flush)
		return
	}
	messages := m.outbox
	m.outbox = nil
	for _, message := range messages {
		if c := message.Control; m.trace != nil && c != nil && c.Kind != task.FollowControl {
			m.tracef("    -> %s: %s %s/%d.%d off %v, slots %d, %s %s", message.Worker, c.Kind,
				c.Sweep, c.Index, c.Attempt, c.Off, c.Slots, c.Incarnation, c.Reason)
		}
		switch {
		case message.Remove:
			m.broker.purge(message.Worker)
		case len(message.Batches) > 0:
			m.broker.publish(message.Worker, message.Batches)
		case message.Secrets != nil:
			r := message.Secrets
			m.broker.control(message.Worker,
				task.Control{Version: task.Version, Kind: task.SecretsControl,
					Sweep: r.Need.Sweep, Edition: r.Need.Edition, Secrets: r.Key})
		default:
			m.broker.control(message.Worker, *message.Control)
		}
	}
}

// acknowledge acknowledges the events that were taken. Should that get lost they come again.
func (m *simMaster) acknowledge() {
	for _, name := range m.broker.names() {
		q := m.broker.queues[name]
		if m.chance(m.faults.duplicates && q.read > 0, 15) {
			q.read = 0
			continue
		}
		q.acknowledge()
	}
}

func (m *simMaster) unread() bool {
	for _, q := range m.broker.queues {
		if !m.broker.down && q.read < len(q.events) && !q.events[q.read].arrive.After(m.now) {
			return true
		}
	}
	return false
}
