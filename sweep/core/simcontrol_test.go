package core_test

import (
	"fmt"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// obey does what a control message asks.
func (p *simProcess) obey(c task.Control) {
	switch c.Kind {
	case task.StopControl:
		k := runKey{task.ID{Sweep: c.Sweep, Index: c.Index}, c.Attempt}
		if r := p.run(k); r != nil {
			p.stopRun(r)
		}
		p.giveBack(func(i simItem) bool { return i.runKey == k })
	case task.RecallControl:
		p.giveBack(func(i simItem) bool { return i.id.Sweep == c.Sweep })
	case task.DrainControl:
		if p.drained, p.unfits = !c.Off || p.leaving || p.ending, 0; p.drained {
			p.giveBack(func(simItem) bool { return true })
		}
		p.beat()
		p.dispatch()
	case task.SlotsControl:
		if p.slots, p.resized = c.Slots, c.Slots > 0; p.slots == 0 {
			p.slots = p.simHost.slots
		}
		p.beat()
		p.dispatch()
	case task.SecretsControl:
		if string(c.Secrets) == string(p.key) {
			p.secrets[task.Need{Sweep: c.Sweep, Edition: c.Edition}] = true
			p.dispatch()
		}
	case task.RestartControl:
		p.restart(c)
	case task.FollowControl:
	default:
		panic(fmt.Sprintf("a control message of kind %s", c.Kind))
	}
}

// restart ends this process, if it is meant.
func (p *simProcess) restart(c task.Control) {
	if c.Incarnation != p.incarnation {
		return
	}
	p.taken = p.taken || c.Taken
	p.leaving, p.drained = true, true
	p.asked()
	p.giveBack(func(simItem) bool { return true })
	if c.Now {
		p.stop()
	} else if p.beat(); len(p.running) == 0 {
		p.exit()
	}
}

// exit ends the process by itself, which says so.
func (p *simProcess) exit() {
	p.tracef("%s ends on %s", p.name, p.host)
	p.giveBack(func(simItem) bool { return true })
	p.drained = true
	beat := p.heartbeat()
	beat.StartsReported = true
	p.put(task.Event{Version: task.Version, Kind: task.LeftEvent, Worker: p.name, Time: p.time(),
		Heartbeat: &beat})
	p.flush()
	p.ended = p.judge.fault(p.name, "", p.since, p.now)
	p.alive, p.process, p.noted, p.keeps = false, nil, nil, false
	if p.taken {
		p.leaveForGood()
	} else {
		p.supervise()
	}
}

// stop lets the process end: it gives back what has not begun, and stops what runs.
func (p *simProcess) stop() {
	if p.ending {
		return
	}
	p.ending, p.drained = true, true
	p.asked()
	p.giveBack(func(simItem) bool { return true })
	for _, r := range slices.Clone(p.running) {
		p.stopRun(r)
	}
	if len(p.running) == 0 {
		p.exit()
	}
}

// asked notes when the process was first asked to end.
func (p *simProcess) asked() {
	if p.since.IsZero() {
		p.since = p.now
	}
}

func (p *simProcess) stopRun(r *simRun) {
	if r.stopping || r.ended {
		return
	}
	r.stopping = true
	if r.started == nil {
		return // begin ends it
	}
	began := p.now
	p.after(p.upTo(time.Second), func() {
		p.end(r, task.Outcome{Class: task.Stopped, Reason: "stopped", Duration: p.now.Sub(began)})
	})
}
