package main

import (
	"context"
	"fmt"
	"strings"

	"mlframework/cmd/run-tasks/local"
	"mlframework/nvdocker"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// slotsLimit returns "2 slots for 4 GPUs" if a chosen number of slots, and not what tasks need,
// limits how many tasks run at a time, and how many slots would use all GPUs. It returns "" if the
// slots suffice.
func slotsLimit(w core.Worker, need task.Needs) (text string, all int) {
	if need.GPUs.Count == 0 || !w.SlotsChosen {
		return "", 0
	}
	unlimited := w
	unlimited.Slots = task.MaxShownGPUs * task.MaxShares
	if all = unlimited.AtATime(need); all <= w.Slots {
		return "", all
	}
	n := int64(len(matching(core.Devices(w.GPUs), need.GPUs)))
	text = fmt.Sprintf("%s for %s", human.Plural(int64(w.Slots), "slot"), human.Plural(n, "GPU"))
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
func (n hostNeed) slotsNote(w core.Worker, b api.StartedSweep) string {
	text, all := slotsLimit(w, n.Needs)
	if text == "" || b.Total <= int64(w.Slots) {
		return ""
	}
	if n.kept {
		return fmt.Sprintf("%s: `run-tasks resume %s --slots %d` uses all", text, b.ID, all)
	}
	return fmt.Sprintf("%s: --slots %d uses all", text, all)
}

// noteUnusedGPUs says how tasks get GPUs where this machine has some and the first sweep of a
// definition asks for none. It waits for no driver.
func (s *session) noteUnusedGPUs(ctx context.Context, b api.StartedSweep) {
	if !s.asksForNoGPUs(b) || !nvdocker.Installed() {
		return
	}
	go func() {
		r, err := nvdocker.Detect(ctx, nvdocker.AnswerTime)
		if n := int64(len(nvdocker.Devices(r.GPUs))); err == nil && n > 0 && ctx.Err() == nil {
			s.messages.Note(fmt.Sprintf("this machine has %s: with %s, each task of %s gets one "+
				"of its own", human.Plural(n, "GPU"), s.oneGPU(), s.needs.definition))
		}
	}()
}

// noteBusyGPUs says which GPUs of this machine get no tasks of a sweep that needs some.
func (s *session) noteBusyGPUs(here core.Worker) {
	if s.needs.GPUs.Count == 0 || s.look.Quiet || s.look.JSON {
		return
	}
	for _, g := range here.GPUs {
		if g.Unavailable != "" {
			s.messages.Note(fmt.Sprintf("GPU %s gets no tasks now: %s", g.Index, g.Unavailable))
		}
	}
}

// noteGPUsOf is noteUnusedGPUs for a master, whose tasks see no GPUs at all then.
func (s *session) noteGPUsOf(ctx context.Context, m *remote, b api.StartedSweep) {
	if !s.asksForNoGPUs(b) {
		return
	}
	workers, err := m.Workers(ctx)
	n := 0
	for _, w := range workers {
		n += len(w.GPUs)
	}
	if err == nil && n > 0 {
		s.messages.Note(fmt.Sprintf("tasks of %s see no GPUs, and the cluster has %d: with %s, "+
			"each gets one of its own", s.needs.definition, n, s.oneGPU()))
	}
}

// asksForNoGPUs reports whether a sweep is the first of a definition that says nothing of GPUs.
func (s *session) asksForNoGPUs(b api.StartedSweep) bool {
	return s.needs.GPUs.Count == 0 && !s.needs.kept && strings.HasSuffix(b.ID, "-1") &&
		!s.look.Quiet && !s.look.JSON
}

// oneGPU is how each task of the sweep gets a GPU.
func (s *session) oneGPU() string {
	if s.needs.typed {
		return "--gpus 1"
	}
	return "`gpus: 1` in tasks.yml"
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
