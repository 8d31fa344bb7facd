package monitor

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
)

var workerActions = []action{
	{"drain", "Drain", func(ctx context.Context, m *api.Client, o object) error {
		_, err := m.Drain(ctx, o.worker, false)
		return err
	}},
	{"resume", "Resume", func(ctx context.Context, m *api.Client, o object) error {
		_, err := m.Drain(ctx, o.worker, true)
		return err
	}},
	{"slots", "Slots", func(ctx context.Context, m *api.Client, o object) error {
		_, err := m.Resize(ctx, o.worker, o.number)
		return err
	}},
	{"restart", "Restart", func(ctx context.Context, m *api.Client, o object) error {
		_, err := m.Restart(ctx, o.worker, o.now)
		return err
	}},
	{"forget", "Forget", func(ctx context.Context, m *api.Client, o object) error {
		return m.Forget(ctx, o.worker)
	}},
}

// workerButtons returns what an operator can do with a worker now.
func (m *Monitor) workerButtons(r *request, w core.Worker) (all []button) {
	for _, a := range workerActions {
		if r.role() >= Operator && workerCan(w, a.name) {
			all = append(all, button{a.label,
				m.o.Prefix + "/workers/" + url.PathEscape(w.Name) + "/" + a.name})
		}
	}
	return all
}

// workerCan reports whether an action is offered for a worker as it is.
func workerCan(w core.Worker, action string) bool {
	gone := w.State == core.WorkerAway || w.State == core.WorkerRefused
	switch action {
	case "drain": // a worker in another state may be drained, too
		return w.State != core.WorkerDraining
	case "resume":
		return w.State != core.WorkerReady
	case "restart":
		return !gone && w.State != core.WorkerStopping && w.State != core.WorkerRestarting
	case "forget":
		return w.State == core.WorkerAway
	}
	return !gone
}

// maxSlots is how many slots a worker has at most, as docs/api.yaml says.
const maxSlots = 4096

// confirmWorker says what an action does with a worker. What the worker cannot do as it is, the
// master refuses.
func (m *Monitor) confirmWorker(r *request) (a action, o object, c confirmation, err error) {
	a, found := actionNamed(workerActions, r.PathValue("action"))
	if !found {
		return a, o, c, errNoSuchAction
	}
	all, err := m.o.Master.Workers(r.Context())
	if err != nil {
		return a, o, c, err
	}
	at := slices.IndexFunc(all, func(w core.Worker) bool { return w.Name == r.PathValue("worker") })
	if at < 0 {
		return a, o, c, &fault{status: http.StatusNotFound,
			Text: "There is no worker " + human.Visible(r.PathValue("worker")) + "."}
	}
	w := all[at]
	o.worker = w.Name
	name, n := human.Visible(w.Name), int64(len(w.Running))
	c = confirmation{Back: m.o.Prefix + "/workers",
		Command: "run-tasks workers " + a.name + " " + w.Name}
	switch a.name {
	case "drain":
		c.Question = "Drain " + name + "?"
		c.Effect = "It gets no further tasks. " + runningTasks(n, "keeps running", "keep running") + "."
	case "resume":
		c.Question, c.Effect = "Resume "+name+"?", "It gets tasks again."
	case "slots":
		c.Question = "Change the slots of " + name + "?"
		c.Effect = "A slot is room for one task at a time. Running tasks are not stopped. 0 restores " +
			"the worker's initial number."
		c.Command += " N"
		c.Number = &numberField{"Slots", w.Slots, 0, maxSlots}
		if w.Wanted != nil {
			c.Number.Value = *w.Wanted
		}
		o.number, err = c.Number.read(r)
	case "restart":
		c.Question = "Restart " + name + "?"
		c.Effect = "The worker restarts."
		if n > 0 {
			c.Effect = "The worker restarts after its " + human.Pick(int(n), "running task finishes",
				human.Plural(n, "running task")+" finish") + "."
			c.Now = "Do not wait for tasks: stop them, and run them again"
			o.now = r.Method == http.MethodPost && r.PostForm.Get("now") != ""
		}
	case "forget":
		c.Question = "Forget " + name + "?"
		c.Effect = "Its name and its queue are removed. Tasks that only it can run are cancelled."
	}
	return a, o, c, err
}
