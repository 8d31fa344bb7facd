package main

import (
	"context"
	"fmt"

	"mlframework/cmd/run-tasks/local"
	"mlframework/nvdocker"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// slotsLimit says that slots, and not GPUs, limit how many tasks run at a time: "2 slots for 4
// GPUs". Slots to use all of them are in all; "" is that there are enough.
func slotsLimit(devices []nvdocker.Device, need task.GPUs, slots int) (text string, all int) {
	if need.Count == 0 {
		return "", 0
	}
	all = atATime(devices, nvdocker.Need(need), len(devices)*task.MaxShares)
	if all <= slots {
		return "", all
	}
	n := int64(len(matching(devices, need)))
	text = fmt.Sprintf("%s for %s", plural(int64(slots), "slot"), plural(n, "GPU"))
	if int64(all) != n {
		text += fmt.Sprintf(", which %d tasks can use at a time", all)
	}
	return text, all
}

// matching are the devices that a need can be met with.
func matching(devices []nvdocker.Device, need task.GPUs) (all []nvdocker.Device) {
	for _, d := range devices {
		if nvdocker.Need(need).Matches(d) {
			all = append(all, d)
		}
	}
	return all
}

// slotsNote says that more slots would let more tasks of a sweep run on this machine; "": they
// would not.
func (n gpuNeed) slotsNote(devices []nvdocker.Device, slots int, b api.StartedSweep) string {
	text, all := slotsLimit(devices, n.GPUs, slots)
	if text == "" || b.Total <= int64(slots) {
		return ""
	}
	if n.kept {
		return fmt.Sprintf("%s: `run-tasks resume %s --slots %d` uses all", text, b.ID, all)
	}
	return fmt.Sprintf("%s: --slots %d uses all", text, all)
}

// fit returns the devices of GPUs that work, including those in use.
func (g localGPUs) fit() (all []nvdocker.Device) {
	for _, one := range g.visible.GPUs {
		if len(nvdocker.Health(one, nil)) == 0 {
			all = append(all, nvdocker.Devices([]nvdocker.GPU{one})...)
		}
	}
	return all
}

// noteOwn says of GPUs of this machine that tasks of this folder have them, as its runner knows:
// the driver only tells of programs.
func noteOwn(ctx context.Context, w *core.Worker) {
	if len(w.GPUs) == 0 || !local.Alive() {
		return
	}
	ctx, stop := context.WithTimeout(ctx, runnerTime)
	defer stop()
	client := local.Dial()
	defer client.Close()
	if workers, err := client.Workers(ctx); err == nil {
		setOwn(w, workers)
	}
}

func setOwn(w *core.Worker, runner []core.Worker) {
	given := map[string]bool{}
	for _, r := range runner {
		for _, g := range r.GPUs {
			given[g.UUID] = given[g.UUID] || g.Given > 0
		}
	}
	for i, g := range w.GPUs {
		if given[g.UUID] && !g.Broken {
			w.GPUs[i].Unavailable = "tasks of this folder use it"
		}
	}
}
