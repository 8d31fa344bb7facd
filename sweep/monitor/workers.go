package monitor

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// attemptsShown is how many attempts of one worker are named, and unfolded how many workers a page
// may have whose cards are all open.
const (
	attemptsShown = 12
	unfolded      = 12
)

// workersView is all workers, those in trouble first.
type workersView struct {
	Workers  []workerCard
	Known    int
	Capacity capacity
	States   []stateLink // which of them are shown
	Waits    []sweepWait
}

// sweepWait is a sweep that waits for workers, or for what they have.
type sweepWait struct{ ID, URL, Text string }

// workerCard is a worker in words.
type workerCard struct {
	Name, Host, Version string
	Actions             []button
	Anchor              string
	State, Reason       string
	Remedy              remedy   // of the state
	Faults              []string // of its GPUs
	FaultRemedy         remedy
	Slots               int
	// slots that a person asked for, when the worker has others; "": none
	TargetSlots       string
	Used, Waiting     int
	Hardware          string // its GPUs, "2 × A100"; "": it has none
	Seen              string // ago
	CPU, Memory, Disk gauge
	Places            []placeLine // GPUs, and slots of tasks without
	HasGPUs           bool        // some of Places are GPUs
	MoreGPUs          int64       // that are not among them
	More              int         // attempts that are not named
	Folded            bool
}

// placeLine is a GPU, or a slot, with what runs there.
type placeLine struct {
	Key, Name, Title string
	Model            string // of a GPU
	State            string // of a GPU: tasks, busy, unfit, free
	Reason           string // why it is busy or unfit
	Given            string // what tasks have of it, "0.5"; "": nothing
	Use, Memory      gauge
	GPU              bool
	Tasks            []attempt
}

// gauge is how much of something is used; Text "" is not known.
type gauge struct {
	Text, Detail string
	Full         int64 // thousandths
}

// attempt is a task that runs.
type attempt struct {
	ID, URL, Title string
	Parameters     string // those that vary, "lr 0.1 depth 4"; "": not known
	Metrics        string // the newest; "": none
	For            string // how long it runs
}

func (m *Monitor) loadWorkers(r *request) (*content, error) {
	all, err := m.hub.askWorkers(r.Context(), r.version)
	if err != nil {
		return nil, err
	}
	sweeps, err := m.hub.askSweeps(r.Context(), r.version)
	if err != nil {
		return nil, err
	}
	running, err := m.askRunning(r, all.value)
	if err != nil {
		return nil, err
	}
	v := workersView{Known: len(all.value), Capacity: capacityOf(all.value)}
	chosen := r.URL.Query().Get("state")
	v.States = m.workerStates(all.value, chosen)
	for _, w := range troubleFirst(all.value) {
		if chosen != "" && w.State != chosen {
			continue
		}
		card := m.workerCard(w, running, all.asOf)
		card.Actions = m.workerButtons(r, w)
		card.Folded = len(all.value) > unfolded && trouble(w) == 2
		v.Workers = append(v.Workers, card)
	}
	for _, s := range sweeps.value {
		if s.State == core.Open && s.Waits != nil && len(v.Waits) < overviewSweeps {
			v.Waits = append(v.Waits, sweepWait{human.Visible(s.ID), m.sweepURL(s.ID),
				human.Truncate(human.Visible(*s.Waits))})
		}
	}
	return m.warned(r, &content{title: "Workers", view: v, asOf: all.asOf}), nil
}

// trouble ranks workers: 0 for those that need a person, 1 for those that take no tasks, 2 for the
// others.
func trouble(w core.Worker) int {
	switch {
	case workerRemedy(w) != (remedy{}), len(gpuFaults(w)) > 0:
		return 0
	case w.State != core.WorkerReady:
		return 1
	}
	return 2
}

// troubleFirst returns workers by their trouble, then by name.
func troubleFirst(all []core.Worker) []core.Worker {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b core.Worker) int { return cmp.Compare(trouble(a), trouble(b)) })
	return all
}

// workerStates lead to the workers in one state or in all; where all are in one, there is no choice.
func (m *Monitor) workerStates(all []core.Worker, chosen string) (links []stateLink) {
	counts := map[string]int64{}
	for _, w := range all {
		counts[w.State]++
	}
	if len(counts) < 2 && chosen == "" {
		return nil
	}
	at := m.o.Prefix + "/workers"
	links = append(links, stateLink{Label: "all", URL: at, Count: int64(len(all)), Counted: true,
		Current: chosen == ""})
	for _, state := range core.WorkerStates {
		if counts[state] > 0 || state == chosen {
			links = append(links, stateLink{Label: state,
				URL:   at + "?" + url.Values{"state": {state}}.Encode(),
				Count: counts[state], Counted: true, Current: state == chosen})
		}
	}
	return links
}

func (m *Monitor) workerCard(w core.Worker, running map[string]runningTask,
	now time.Time) workerCard {
	c := workerCard{Name: human.Visible(w.Name), Host: human.Visible(w.Host),
		Version: human.Visible(w.Program), Anchor: workerAnchor(w.Name), State: w.State,
		Remedy: workerRemedy(w), Faults: gpuFaults(w), FaultRemedy: gpuRemedy(w),
		Slots: w.Slots, Used: len(w.Running), Waiting: w.Waiting, Seen: "never"}
	if w.Reason != nil {
		c.Reason = human.Truncate(human.Visible(*w.Reason))
	}
	if w.Wanted != nil && *w.Wanted != w.Slots {
		c.TargetSlots = strconv.Itoa(*w.Wanted)
	}
	if w.Seen != nil {
		c.Seen = ago(now.Sub(*w.Seen)) + " ago"
	}
	if w.Load != nil {
		c.CPU, c.Memory, c.Disk = gauges(*w.Load)
	}
	if w.State == core.WorkerAway { // how its GPUs are is not known
		c.Hardware = hardware(w.GPUs)
		return c
	}
	c.addPlaces(m, w, running, now)
	return c
}

// addPlaces adds the GPUs of a worker with the tasks that have them, and the slots of tasks that
// have none.
func (c *workerCard) addPlaces(m *Monitor, w core.Worker, running map[string]runningTask,
	now time.Time) {
	gpus := w.GPUs[:min(len(w.GPUs), task.MaxShownGPUs)]
	c.HasGPUs, c.MoreGPUs = len(gpus) > 0, int64(len(w.GPUs)-len(gpus))
	at := map[string]int{}
	for i, g := range gpus {
		c.Places = append(c.Places, gpuPlace(g))
		at[g.UUID] = i
	}
	for n, b := range w.Running {
		if n == attemptsShown {
			c.More = len(w.Running) - n
			return
		}
		a, placed := m.attempt(b, running, now), false
		for _, uuid := range b.GPUs {
			if i, ok := at[uuid]; ok {
				c.Places[i].Tasks, placed = append(c.Places[i].Tasks, a), true
			}
		}
		if !placed {
			name := "slot " + strconv.Itoa(b.Slot)
			c.Places = append(c.Places, placeLine{Key: name + " " + a.ID, Name: name,
				Tasks: []attempt{a}})
		}
	}
}

// workerURL returns where a worker is shown.
func (m *Monitor) workerURL(name string) string {
	return m.o.Prefix + "/workers#" + workerAnchor(name)
}

func workerAnchor(name string) string { return "worker-" + url.PathEscape(name) }

func (m *Monitor) attempt(b task.Busy, running map[string]runningTask, now time.Time) attempt {
	id := task.ID{Sweep: b.Sweep, Index: b.Index}
	is := running[id.String()]
	return attempt{ID: human.Visible(id.String()), URL: m.taskURL(b.Sweep, b.Index),
		Title:      "slot " + strconv.Itoa(b.Slot) + ", attempt " + strconv.Itoa(b.Attempt),
		Parameters: is.parameters, Metrics: is.metrics, For: roughly(now.Sub(b.Started))}
}

// roughly returns how long something lasts, without seconds that change with every look.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int64(max(0, d).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int64(d.Minutes()))
	}
	return seconds(d)
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
