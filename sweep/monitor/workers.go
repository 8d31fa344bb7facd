package monitor

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// attemptsShown is how many attempts of one worker are named.
const attemptsShown = 12

// workersView is all workers, by name.
type workersView struct {
	Workers     []workerLine
	Busy, Slots int // of the workers that are not away
	Up          int
	GPUs        []gpuLine // of the workers that are not away
	GPUsLeft    int64     // those that are not among them
	GPUsGiven   string    // "1.5 of 4 GPUs"; "": there are none
}

// workerLine is a worker in words.
type workerLine struct {
	Name, Host, Version string
	Actions             []button
	Anchor              string
	State, Reason       string
	Slots               int
	// slots that a person asked for, when the worker has others; "": none
	TargetSlots       string
	Used, Waiting     int
	GPUs              string // "1.5 / 4"; "": it has none
	Seen              string // ago
	CPU, Memory, Disk gauge
	Running           []attempt
	More              int // attempts that are not named
}

// gauge is how much of something is used; Text "" is not known.
type gauge struct {
	Text, Detail string
	Full         int64 // thousandths
}

// attempt is what a slot does.
type attempt struct{ ID, URL, Since string }

func (m *Monitor) loadWorkers(r *request) (*content, error) {
	all, err := m.hub.askWorkers(r.Context(), r.version)
	if err != nil {
		return nil, err
	}
	var v workersView
	for _, w := range all.value {
		line := m.worker(w, all.asOf)
		line.Actions = m.workerButtons(r, w)
		v.Workers = append(v.Workers, line)
		if w.State != core.WorkerAway {
			v.Up, v.Busy, v.Slots = v.Up+1, v.Busy+len(w.Running), v.Slots+w.Slots
		}
	}
	m.addGPUs(&v, all.value, all.asOf)
	return &content{title: "Workers", view: v, asOf: all.asOf}, nil
}

func (m *Monitor) worker(w core.Worker, now time.Time) workerLine {
	l := workerLine{Name: human.Visible(w.Name), Host: human.Visible(w.Host),
		Version: human.Visible(w.Program), Anchor: workerAnchor(w.Name),
		State: w.State,
		Slots: w.Slots, Used: len(w.Running), Waiting: w.Waiting, Seen: "never",
		More: max(0, len(w.Running)-attemptsShown)}
	if w.Reason != nil {
		l.Reason = human.Truncate(human.Visible(*w.Reason))
	}
	if w.Wanted != nil && *w.Wanted != w.Slots {
		l.TargetSlots = strconv.Itoa(*w.Wanted)
	}
	if n := len(w.GPUs); n > 0 && w.State != core.WorkerAway {
		l.GPUs = fmt.Sprintf("%s / %d", human.Share(task.Given(w.GPUs)), n)
	}
	if w.Seen != nil {
		l.Seen = ago(now.Sub(*w.Seen))
	}
	if w.Load != nil {
		l.CPU, l.Memory, l.Disk = gauges(*w.Load)
	}
	for _, b := range w.Running[:min(len(w.Running), attemptsShown)] {
		l.Running = append(l.Running, m.attempt(b, now))
	}
	return l
}

// workerURL returns where a worker is shown.
func (m *Monitor) workerURL(name string) string {
	return m.o.Prefix + "/workers#" + workerAnchor(name)
}

func workerAnchor(name string) string { return "worker-" + url.PathEscape(name) }

func (m *Monitor) attempt(b task.Busy, now time.Time) attempt {
	id := task.ID{Sweep: b.Sweep, Index: b.Index}
	return attempt{ID: human.Visible(id.String()), URL: m.taskURL(b.Sweep, b.Index),
		Since: "slot " + strconv.Itoa(b.Slot) + ", attempt " + strconv.Itoa(b.Attempt) + ", for " +
			seconds(max(0, now.Sub(b.Started)))}
}

// gauges returns a load in words. What the worker could not tell is left out.
func gauges(l task.Load) (cpu, memory, disk gauge) {
	if l.Cores > 0 {
		cpu = gauge{percent(l.CPU, 1), fmt.Sprintf("of %d cores", l.Cores), thousandths(l.CPU, 1)}
	}
	return cpu, used(l.MemoryFree, l.MemoryTotal), used(l.DiskFree, l.DiskTotal)
}

func used(free, total int64) gauge {
	if total <= 0 {
		return gauge{}
	}
	return full(total-free, total, size(free)+" of "+size(total)+" free")
}

// full is a gauge of a part of a whole that is not 0.
func full(part, whole int64, detail string) gauge {
	return gauge{percent(float64(part), float64(whole)), detail,
		thousandths(float64(part), float64(whole))}
}

func thousandths(part, whole float64) int64 { return int64(min(max(0, 1000*part/whole), 1000)) }
