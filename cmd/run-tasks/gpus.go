package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
	"mlframework/cmd/run-tasks/project"
	"mlframework/nvdocker"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// flagsNeeds are the options that change what each task needs of a host.
func flagsNeeds() []cliv2.Flag {
	const asIs = "as in tasks.yml"
	return []cliv2.Flag{
		&cliv2.StringFlag{Name: "gpus", DefaultText: asIs,
			Usage: "`N` GPUs per task, or a share such as 0.5, or all of a host; 0 for none"},
		&cliv2.StringFlag{Name: "cpus", DefaultText: asIs,
			Usage: "`N` CPUs to reserve per task; 0 for none"},
		&cliv2.StringFlag{Name: "memory", DefaultText: asIs,
			Usage: "memory of `SIZE` to reserve per task, such as 16g; 0 for none"},
		&cliv2.StringSliceFlag{Name: "on", DefaultText: asIs,
			Usage: "run tasks on hosts with the label `LABEL=VALUE`, such as host=gpu2; " +
				"can be given more than once"},
	}
}

func readNeeds(ctx *cliv2.Context) project.Needs {
	o := project.Needs{Amounts: map[string]string{}, On: ctx.StringSlice("on")}
	for _, name := range []string{"gpus", "cpus", "memory"} {
		if ctx.IsSet(name) {
			o.Amounts[name] = ctx.String(name)
		}
	}
	return o
}

// visibleDevices names the GPUs that programs of CUDA may use, and so those of --local.
const visibleDevices = "CUDA_VISIBLE_DEVICES"

// hostNeed is what tasks need of a host, and what is said where they cannot have it.
type hostNeed struct {
	task.Needs
	of         string // the definition, or the sweep
	definition string
	kept       bool // it is that of a sweep, which keeps what it was submitted with
	typed      bool // the command is not in tasks.yml
}

// needsOf is that of a new sweep.
func needsOf(p *project.Project) hostNeed {
	return hostNeed{p.Task.Needs, p.Task.Name, p.Task.Name, false, p.Typed}
}

// needOfSweep is that of a sweep.
func needOfSweep(s api.Sweep) hostNeed {
	return hostNeed{s.Record.Recipe.Needs, s.ID, s.Definition, true, s.Record.CommandLine}
}

// others says which other numbers of GPUs the tasks can run with: none, or most, if that is not 0.
func (n hostNeed) others(most int) string {
	text := "`--gpus 0` runs it without GPUs"
	if !n.typed {
		text = "`run-tasks " + n.definition + " --gpus 0` runs it without GPUs"
	}
	if most > 0 {
		text += fmt.Sprintf(", `--gpus %d` with %d", most, most)
	}
	if n.kept {
		return "as a new sweep, " + text
	}
	return text
}

// localGPUs are the GPUs of this machine: all, and those that its tasks can get.
type localGPUs struct{ all, visible nvdocker.Report }

// findGPUs looks for the GPUs of this machine where tasks need some, and refuses tasks that it can
// never run.
func findGPUs(ctx context.Context, need hostNeed) (g localGPUs, err error) {
	if need.GPUs.Count == 0 {
		return g, nil
	}
	if g.all, err = nvdocker.Detect(ctx, 0); err != nil {
		return g, &cli.Error{Code: cli.Machine, Err: err}
	}
	g.visible = g.all
	if names, restricted := os.LookupEnv(visibleDevices); restricted {
		g.visible = g.all.Visible(names)
	}
	return g, g.check(need)
}

// check refuses tasks that this machine can never run.
func (g localGPUs) check(need hostNeed) error {
	devices := nvdocker.Devices(g.visible.GPUs)
	if has := nvdocker.Need(need.GPUs).Never(devices); has != "" {
		return g.refuse(need, has, core.MostGPUs(devices, need.GPUs))
	}
	return nil
}

// refuse says what this machine has instead of what tasks need, and why it is not more; most is the
// smaller number of GPUs that a task can get, or 0.
func (g localGPUs) refuse(need hostNeed, has string, most int) error {
	code, remedy, has := cli.Invalid, need.others(most), "has "+has
	switch fault := g.all.Fault; {
	case fault != nil:
		code, has = cli.Machine, "cannot list its GPUs: "+fault.Cause
		if fault.Remedy != "" {
			remedy = fault.Remedy + "; " + remedy
		}
	case len(g.all.GPUs) == 0 && !nvdocker.Installed():
		has = "has no GPU that responds (no nvidia-smi)"
	default:
		if n := len(nvdocker.Devices(g.all.GPUs)); n > len(nvdocker.Devices(g.visible.GPUs)) {
			has += fmt.Sprintf(" of %d, as %s=%s says", n, visibleDevices,
				os.Getenv(visibleDevices))
		}
		for _, one := range g.all.GPUs {
			if one.Lost != "" {
				has += fmt.Sprintf("; GPU %s does not respond: %s", one.Number(), one.Lost)
			}
		}
	}
	return &cli.Error{Code: code, Remedy: remedy,
		Err: fmt.Errorf("%s needs %v, and this machine %s", need.of,
			nvdocker.Need(need.GPUs), has)}
}

// thisMachine returns this machine as a worker, with the GPUs that tasks can get where they need
// some, and refuses tasks that it can never run.
func thisMachine(ctx context.Context, o runOptions, need hostNeed) (w core.Worker, err error) {
	host, _ := os.Hostname()
	g, err := findGPUs(ctx, need)
	if err != nil {
		return w, err
	}
	w = workerHere(host, o.slots, g, o.idleGPU)
	return w, need.possible([]core.Worker{w})
}

// gpusOrNull is what each task of a record needs, for JSON.
func gpusOrNull(r core.Record) *task.GPUs {
	if r.Recipe.GPUs.Count == 0 {
		return nil
	}
	return &r.Recipe.GPUs
}

// runnerTime is how long the runner of this folder may take to report what sweeps wait for.
const runnerTime = time.Second

// addWaits adds to sweeps of this folder what they wait for, which their runner knows and the store
// does not. If the runner does not answer, what the store knows is shown without it.
func addWaits(ctx context.Context, src source, sweeps ...*core.Summary) {
	sweeps = slices.DeleteFunc(sweeps,
		func(s *core.Summary) bool { return s.State != core.Open })
	if _, here := src.(*localFolder); !here || len(sweeps) == 0 || !local.Alive() {
		return
	}
	ctx, stop := context.WithTimeout(ctx, runnerTime)
	defer stop()
	client := local.Dial()
	defer client.Close()
	told, err := client.Sweeps(ctx, "", 0)
	if err != nil {
		return
	}
	for _, s := range sweeps {
		for i := range told {
			if told[i].ID == s.ID {
				s.Waits = told[i].Waits
			}
		}
	}
}

// placeLines tell what a worker has for tasks with a need: "on gpu1, 4 slots, 2 x NVIDIA L4 with
// 22.5 GB: 2 tasks at a time", and which of its GPUs are not available now.
func placeLines(w core.Worker, need task.Needs) []string {
	text := w.Name + ", " + human.Plural(int64(w.Slots), "slot")
	if w.State != core.WorkerReady {
		text += " (" + w.State + ")"
	}
	if need.GPUs.Count > 0 && w.State != core.WorkerAway && w.GPUFault != nil {
		return []string{"on " + text + ", once it can list its GPUs: " + *w.GPUFault}
	}
	if need.None() || w.GPUsUnknown() {
		return []string{"on " + text}
	}
	if has := w.NeverFits(need); has != "" {
		return []string{"not on " + w.Name + ": " + has}
	}
	devices := core.Devices(w.GPUs)
	var out []string
	for i, g := range w.GPUs {
		if nvdocker.Need(need.GPUs).Matches(devices[i]) && g.Unavailable != "" {
			out = append(out, "  "+human.GPU(g.UUID)+" now: "+g.Unavailable)
		}
	}
	if need.GPUs.Count > 0 {
		text += ", " + nvdocker.List(matching(devices, need.GPUs))
	} else {
		out = nil
	}
	lines := []string{fmt.Sprintf("on %s: %s at a time", text,
		human.Plural(int64(w.AtATime(need)), "task"))}
	if limit, all := slotsLimit(w, need); limit != "" {
		more := fmt.Sprintf("`run-tasks workers slots %s %d`", w.Name, all)
		if w.Host == "" { // this machine, which is no worker of a master
			more = fmt.Sprintf("--slots %d", all)
		}
		lines = append(lines, "  "+limit+": "+more+" uses all")
	}
	return append(lines, out...)
}

// possible refuses tasks that the master refuses, in its words: those that none of its workers can
// ever run.
func (n hostNeed) possible(workers []core.Worker) error {
	err := core.RefuseNeeds(n.of, n.Needs, workers)
	if never, refused := errors.AsType[*core.NeverFits](err); refused {
		return n.refused(never.Error(), never.Remedy())
	}
	return err
}

// explain adds to a master's refusal of the need how tasks run without.
func (n hostNeed) explain(err error) error {
	e, refused := errors.AsType[*api.Error](err)
	if !refused || e.Status != http.StatusConflict || e.Parameter != api.NeedsParameter {
		return err
	}
	return n.refused(e.Text, e.Remedy)
}

func (n hostNeed) refused(text, remedy string) error {
	if n.GPUs.Count > 0 {
		remedy += "; " + n.others(0)
	}
	return &cli.Error{Code: cli.Invalid, Err: errors.New(text), Remedy: remedy}
}

// workerHere is this machine as a worker, with the GPUs that its tasks can get; 0 slots are those of
// the cores, and idle is that of nvdocker.
func workerHere(name string, slots int, g localGPUs, idle int64) core.Worker {
	w := core.Worker{Name: name, Slots: slots, SlotsChosen: slots > 0, State: core.WorkerReady,
		Seen: new(time.Now()), CPUs: runtime.NumCPU(), Memory: worker.HostMemory(),
		GPUs:   []task.GPU{},
		Labels: map[string]string{task.HostLabel: name, task.ArchLabel: runtime.GOARCH}}
	if slots == 0 {
		w.Slots = w.CPUs
	}
	for _, one := range g.visible.GPUs {
		why, broken := one.Unavailable(idle)
		for _, d := range nvdocker.Devices([]nvdocker.GPU{one}) {
			w.GPUs = append(w.GPUs, task.GPU{UUID: d.UUID, Index: d.Number, Name: d.Name,
				Memory: max(0, d.Memory), Used: nvdocker.Unknown, Utilization: nvdocker.Unknown,
				Split: d.Split, Unavailable: why, Broken: broken})
		}
	}
	return w
}
