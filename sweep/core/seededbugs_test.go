package core_test

import (
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// bug is what a master of a simulation does wrong. The zero value does everything right.
type bug struct {
	loaded    func([]core.Loaded)                       // what a core is made of
	input     func(*simMaster, *core.Input)             // before anything is looked up
	event     func(*simMaster, *core.Event)             // before its origin is looked up
	stepped   func(*simMaster, *core.Input)             // after the core decided
	rows      func(*simMaster, *core.Input, *core.Rows) // before they are kept
	effects   func(*simMaster, *core.Effects)           // after rows were kept
	kept      func(*simMaster, *core.Input)             // after rows were kept, too
	ackFirst  bool                                      // events, before they are decided
	tellFirst bool                                      // workers, before rows are kept
	// workers forget which GPUs they have given
	forgetGPUs bool
}

// seededBugs are faults of a master, each with the beginnings of what may be found.
var seededBugs = map[string]struct {
	bug  bug
	want []string
}{
	"fence off": {bug{event: takeForNewest},
		[]string{"1: ", "2: ", "3: ", "6: ", "restart: "}},
	"acknowledged before kept": {bug{ackFirst: true},
		[]string{"1: ", "2: ", "3: ", "stuck: "}},
	"told before kept":        {bug{tellFirst: true}, []string{"2: ", "3: "}},
	"placement over capacity": {bug{input: multiplySlots}, []string{"capacity: "}},
	"placement over GPUs":     {bug{input: multiplyGPUs}, []string{"gpus: "}},
	"placement on any GPU":    {bug{input: renameGPUs}, []string{"gpus: "}},
	"one GPU for two": {bug{stepped: forgetDevices, forgetGPUs: true},
		[]string{"8: ", "gpus: ", "restart: "}},
	"a GPU that is out":             {bug{input: ignoreOutages}, []string{"gpus: "}},
	"shares over 1":                 {bug{effects: giveWhole, forgetGPUs: true}, []string{"8: "}},
	"quarantine never ends":         {bug{stepped: prolongQuarantines}, []string{"quarantine: "}},
	"audit entry lost":              {bug{rows: dropAudit}, []string{"audit: "}},
	"lost workers keep their tasks": {bug{input: keepLeases()}, []string{"stuck: "}},
	"duplicate end counted twice":   {bug{rows: countTwice}, []string{"1: ", "restart: "}},
	"cancelled task runs again": {bug{stepped: forgetCancelled, rows: dropCancelling},
		[]string{"3: ", "7: ", "stuck: "}},
	"attempts of a reconnected worker are stopped": {bug{stepped: forgetLapsed, rows: dropLapsed},
		[]string{"lease: "}},
	"resume forgets waiting tasks": {bug{stepped: forgetWaiting},
		[]string{"stuck: ", "restart: "}},
	"late result counts": {bug{kept: countLate},
		[]string{"2: ", "6: ", "restart: "}},
	"secrets to a stranger": {bug{effects: sendSecretsToAll}, []string{"secrets: "}},
}

// mostSeeds is how many histories a seeded bug may stay unseen in.
const mostSeeds = 3000

// TestSeededBugs runs the histories with masters that do something wrong: the simulation must see
// each of them, by what is broken.
func TestSeededBugs(t *testing.T) {
	t.Parallel()
	for name, c := range seededBugs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(mostSeeds) {
				err := newSim(seed, &c.bug).run()
				if err == nil {
					continue
				}
				text := finding(err)
				t.Logf("seed %d: %s", seed, text)
				if !slices.ContainsFunc(c.want,
					func(w string) bool { return strings.HasPrefix(text, w) }) {
					t.Errorf("it is found by something else than %q", c.want)
				}
				return
			}
			t.Errorf("nothing is found in %d seeds", mostSeeds)
		})
	}
}

// finding is the first thing that is wrong.
func finding(err error) string {
	lines := strings.Split(err.Error(), "\n")
	if len(lines) > 1 && strings.Contains(lines[0], "violations of what is promised") {
		return lines[1]
	}
	return lines[0]
}

// takeForNewest takes what a worker says of any attempt for what it says of the newest.
func takeForNewest(m *simMaster, e *core.Event) {
	dump, _ := m.core.Dump(e.Sweep)
	if t, open := dump.Open[e.Index]; open && t.State.Active() {
		e.Attempt, e.Worker = t.Attempt.Number, t.Attempt.Worker
	}
}

func multiplySlots(_ *simMaster, in *core.Input) {
	for i := range in.Heartbeats {
		in.Heartbeats[i].Slots *= 3
	}
}

// multiplyGPUs counts every GPU three times.
func multiplyGPUs(_ *simMaster, in *core.Input) {
	for i := range in.Heartbeats {
		in.Heartbeats[i].GPUs = slices.Repeat(in.Heartbeats[i].GPUs, 3)
	}
}

// renameGPUs takes every GPU for one that meets every need.
func renameGPUs(_ *simMaster, in *core.Input) {
	for i := range in.Heartbeats {
		gpus := slices.Clone(in.Heartbeats[i].GPUs)
		for n := range gpus {
			gpus[n].Name, gpus[n].Memory = "NVIDIA T4", 80*gib
		}
		in.Heartbeats[i].GPUs = gpus
	}
}

// ignoreOutages takes GPUs that cannot be used for such that can.
func ignoreOutages(_ *simMaster, in *core.Input) {
	for i := range in.Heartbeats {
		gpus := slices.Clone(in.Heartbeats[i].GPUs)
		for n := range gpus {
			gpus[n].Unavailable = ""
		}
		in.Heartbeats[i].GPUs = gpus
	}
}

func forgetDevices(m *simMaster, _ *core.Input) { m.core.ForgetDevices() }

// giveWhole gives tasks that share a GPU all of it.
func giveWhole(_ *simMaster, e *core.Effects) {
	for _, m := range e.Messages {
		for _, b := range m.Batches {
			for i := range b.Attempts {
				if b.Attempts[i].Share > 0 {
					b.Attempts[i].Share = 1
				}
			}
		}
	}
}

func prolongQuarantines(m *simMaster, _ *core.Input) { m.core.ProlongQuarantines() }

func dropAudit(m *simMaster, _ *core.Input, rows *core.Rows) {
	if m.IntN(10) == 0 {
		rows.Audit = nil
	}
}

// keepLeases has workers heard that are dead.
func keepLeases() func(*simMaster, *core.Input) {
	return func(m *simMaster, in *core.Input) {
		for _, w := range m.core.Workers() {
			h := m.core.Beat(w.Name)
			heard := slices.ContainsFunc(in.Heartbeats,
				func(o task.Heartbeat) bool { return o.Worker == w.Name })
			if !heard && h.Worker != "" && len(m.alive(w.Name)) == 0 {
				in.Heartbeats = append(in.Heartbeats, h)
			}
		}
	}
}

// countTwice counts the end of a task that has ended once more.
func countTwice(m *simMaster, in *core.Input, rows *core.Rows) {
	for i := range rows.Sweeps {
		r := &rows.Sweeps[i]
		before := m.store.sweeps[r.Seq-1].model.rows
		for _, e := range in.Events {
			row, have := before[e.Index]
			if e.Kind == task.EndedEvent && e.Sweep == r.Head.ID && have && row.State.Terminal() &&
				row.Attempt.Number == e.Attempt && r.Changes.Head.ID != "" {
				r.Changes.Head.Rows[row.State]++
			}
		}
	}
}

func forgetCancelled(m *simMaster, _ *core.Input) { m.core.ForgetCancelled() }

// dropCancelling does not keep that a person cancelled a task which a worker had.
func dropCancelling(_ *simMaster, _ *core.Input, rows *core.Rows) {
	for i := range rows.Sweeps {
		tasks := rows.Sweeps[i].Changes.Tasks
		for n := range tasks {
			tasks[n].Cancelling = false
		}
	}
}

func forgetLapsed(m *simMaster, _ *core.Input) { m.core.ForgetLapsed() }

// dropLapsed does not store that attempts may still run.
func dropLapsed(_ *simMaster, _ *core.Input, rows *core.Rows) {
	for i := range rows.Sweeps {
		tasks := rows.Sweeps[i].Changes.Tasks
		for n := range tasks {
			tasks[n].Lapsed = task.Pending
		}
	}
}

func forgetWaiting(m *simMaster, in *core.Input) {
	if c, is := in.Command.(core.ResumeSweep); is {
		m.core.ForgetWaiting(c.Sweep)
	}
}

// countLate lets the result of a superseded attempt count.
func countLate(m *simMaster, in *core.Input) {
	for _, e := range in.Events {
		w := m.store.byID[e.Sweep]
		if w == nil || e.Kind != task.EndedEvent {
			continue
		}
		if row, have := w.model.rows[e.Index]; have && row.Attempt.Number > e.Attempt &&
			row.State.Terminal() {
			row.Attempt.Outcome = e.Outcome
			w.model.rows[e.Index] = row
		}
	}
}

// sendSecretsToAll sends the values of secrets to every worker.
func sendSecretsToAll(m *simMaster, e *core.Effects) {
	for _, message := range slices.Clone(e.Messages) {
		for _, w := range m.core.WorkerNames() {
			if message.Secrets != nil && w != message.Worker {
				message.Worker = w
				e.Messages = append(e.Messages, message)
			}
		}
	}
}
