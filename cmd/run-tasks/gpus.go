package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
	"mlframework/nvdocker"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

func flagGPUs() cliv2.Flag {
	return &cliv2.StringFlag{Name: "gpus", DefaultText: "as in tasks.yml",
		Usage: "give each task `N` GPUs, or a share of one such as 0.5; 0: none"}
}

// gpuCount is what --gpus says; nil: it is not given.
func gpuCount(ctx *cliv2.Context) (*float64, error) {
	if !ctx.IsSet("gpus") {
		return nil, nil
	}
	count, problem, remedy := definition.ParseGPUCount(ctx.String("gpus"))
	if problem != "" {
		return nil, cli.Wrong(remedy, "--gpus: %s", problem)
	}
	return &count, nil
}

// setGPUCount has tasks get another number of GPUs than the definition says, of the same memory and
// name.
func (p *project) setGPUCount(count float64) {
	p.task.GPUs.Count = count
	if count == 0 {
		p.task.GPUs = task.GPUs{}
	}
}

// visibleDevices names the GPUs that programs of CUDA may use, and so those of --local.
const visibleDevices = "CUDA_VISIBLE_DEVICES"

// gpuNeed is what tasks need of GPUs, and what is said where they cannot have them.
type gpuNeed struct {
	task.GPUs
	of         string // the definition, or the sweep
	definition string
	kept       bool // it is that of a sweep, which keeps what it was submitted with
}

// needOf is that of a new sweep.
func needOf(t definition.Task) gpuNeed {
	return gpuNeed{t.GPUs, t.Name, t.Name, false}
}

// needOfSweep is that of a sweep.
func needOfSweep(s api.Sweep) gpuNeed {
	return gpuNeed{s.Record.Recipe.GPUs, s.ID, s.Definition, true}
}

// others says which other numbers of GPUs the tasks can run with: none, or most, if that is not 0.
func (n gpuNeed) others(most int) string {
	text := "`run-tasks " + n.definition + " --gpus 0` runs it without GPUs"
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
func findGPUs(ctx context.Context, need gpuNeed) (g localGPUs, err error) {
	if need.Count == 0 {
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
func (g localGPUs) check(need gpuNeed) error {
	devices := nvdocker.Devices(g.visible.GPUs)
	_, err := nvdocker.Assign(devices, nil, nvdocker.Need(need.GPUs))
	if never, is := errors.AsType[*nvdocker.NeverError](err); is {
		return g.refuse(need, never, core.MostGPUs(devices, need.GPUs))
	}
	return err
}

// refuse says what this machine has instead of what tasks need, and why it is not more; most is the
// smaller number of GPUs that a task can get, or 0.
func (g localGPUs) refuse(need gpuNeed, never *nvdocker.NeverError, most int) error {
	code, remedy, has := cli.Invalid, need.others(most), "has "+never.Has
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
		Err: fmt.Errorf("%s needs %v, and this machine %s", need.of, never.Need, has)}
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
func placeLines(w core.Worker, need task.GPUs) []string {
	text := w.Name + ", " + plural(int64(w.Slots), "slot")
	if w.State != core.WorkerReady {
		text += " (" + w.State + ")"
	}
	if need.Count > 0 && w.State != core.WorkerAway && w.GPUFault != nil {
		return []string{"on " + text + ", once it can list its GPUs: " + *w.GPUFault}
	}
	if need.Count == 0 || w.GPUsUnknown() {
		return []string{"on " + text}
	}
	if has := w.NeverMeets(need); has != "" {
		return []string{"not on " + w.Name + ": " + has}
	}
	devices := core.Devices(w.GPUs)
	var out []string
	var working []nvdocker.Device
	for i, g := range w.GPUs {
		if !nvdocker.Need(need).Matches(devices[i]) {
			continue
		}
		if !g.Broken {
			working = append(working, devices[i])
		}
		if g.Unavailable != "" {
			out = append(out, "  "+human.GPU(g.UUID)+" now: "+g.Unavailable)
		}
	}
	n := atATime(working, nvdocker.Need(need), w.Slots)
	lines := []string{fmt.Sprintf("on %s, %s: %s at a time", text,
		nvdocker.List(matching(devices, need)), plural(int64(n), "task"))}
	if limit, all := slotsLimit(working, need, w.Slots); limit != "" {
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
func (n gpuNeed) possible(workers []core.Worker) error {
	err := core.RefuseGPUs(n.of, n.GPUs, workers)
	if never, refused := errors.AsType[*core.NeverGPUs](err); refused {
		return n.refused(never.Error(), never.Remedy())
	}
	return err
}

// explain adds to a master's refusal of the need how tasks run without.
func (n gpuNeed) explain(err error) error {
	e, refused := errors.AsType[*api.Error](err)
	if !refused || e.Status != http.StatusConflict || e.Parameter != api.GPUsParameter {
		return err
	}
	return n.refused(e.Text, e.Remedy)
}

func (n gpuNeed) refused(text, remedy string) error {
	return &cli.Error{Code: cli.Invalid, Err: errors.New(text), Remedy: remedy + "; " + n.others(0)}
}

// workerHere is this machine as a worker, with the GPUs that its tasks can get; idle is that of
// nvdocker.
func workerHere(name string, slots int, g localGPUs, idle int64) core.Worker {
	w := core.Worker{Name: name, Slots: slots, State: core.WorkerReady, Seen: new(time.Now()),
		GPUs: []task.GPU{}}
	for _, one := range g.visible.GPUs {
		why, broken := one.Unavailable(idle)
		for _, d := range nvdocker.Devices([]nvdocker.GPU{one}) {
			w.GPUs = append(w.GPUs, task.GPU{UUID: d.UUID, Name: d.Name, Memory: max(0, d.Memory),
				Used: nvdocker.Unknown, Utilization: nvdocker.Unknown, Split: d.Split,
				Unavailable: why, Broken: broken})
		}
	}
	return w
}

// atATime returns how many tasks can run at a time if no other program uses the devices.
func atATime(devices []nvdocker.Device, need nvdocker.Need, slots int) (n int) {
	used := map[string]float64{}
	for ; n < slots; n++ {
		a, err := nvdocker.Assign(devices, used, need)
		if err != nil {
			break
		}
		for _, d := range a.Devices {
			used[d.UUID] += a.Share
		}
	}
	return n
}
