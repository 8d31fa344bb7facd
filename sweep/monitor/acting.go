package monitor

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// action is something that operators do with a sweep, a task or a worker. Each has a page that says
// what it does, and asks.
type action struct {
	name  string // in the URL
	label string // on buttons
	do    func(ctx context.Context, m *api.Client, o object) error
}

// object is what is acted on.
type object struct {
	sweep  string
	index  int64 // of a task
	worker string
	number int  // of slots, or a priority
	now    bool // what runs is stopped
	// of a sweep: only the tasks that it picks
	selection api.Selection
	// the sweep is not to be paused again because its tasks fail for the same reason
	keepGoing bool
}

// What operators do. The master's socket for the monitor allows no more: nothing that runs new code.
var (
	sweepActions = []action{
		{"pause", "Pause", func(ctx context.Context, m *api.Client, o object) error {
			_, err := m.Pause(ctx, o.sweep, false)
			return err
		}},
		{"resume", "Resume", func(ctx context.Context, m *api.Client, o object) error {
			_, err := m.Resume(ctx, o.sweep,
				api.ResumeRequest{Continuation: api.Continuation{KeepGoing: o.keepGoing}}, "")
			return err
		}},
		{"retry", "Retry", func(ctx context.Context, m *api.Client, o object) error {
			_, err := m.Retry(ctx, o.sweep, api.ResumeRequest{Selection: o.selection}, "")
			return err
		}},
		{"priority", "Priority", func(ctx context.Context, m *api.Client, o object) error {
			_, err := m.Prioritize(ctx, o.sweep, o.number)
			return err
		}},
		{"cancel", "Cancel", func(ctx context.Context, m *api.Client, o object) error {
			if o.selection.Where != "" {
				_, err := m.CancelTasks(ctx, o.sweep, o.selection)
				return err
			}
			_, err := m.Cancel(ctx, o.sweep)
			return err
		}},
	}
	taskActions = []action{
		{"retry", "Run again", func(ctx context.Context, m *api.Client, o object) error {
			_, err := m.Retry(ctx, o.sweep, api.ResumeRequest{Indexes: []int64{o.index}}, "")
			return err
		}},
		{"cancel", "Cancel", func(ctx context.Context, m *api.Client, o object) error {
			_, err := m.CancelTask(ctx, o.sweep, o.index)
			return err
		}},
	}
)

// button leads to the page of an action.
type button struct{ Label, URL string }

// Label is the text of the button that confirms.
func (c confirmation) Label() string { return strings.TrimSuffix(c.Question, "?") }

// confirmation is the page of an action.
type confirmation struct {
	Question string
	Effect   string // what it does, in sentences
	Command  string // that does the same
	Count    int64  // of the tasks that it is about, as the page says it
	Number   *numberField
	Now      string // what the box says that stops what runs; "": there is none
	Changed  bool   // that number was another one when it was confirmed
	Back     string // URL
}

// numberField is where a number is typed.
type numberField struct {
	Label           string
	Value, Min, Max int
}

// read returns the number that was typed, if the form was sent.
func (f numberField) read(r *request) (int, error) {
	if r.Method != http.MethodPost {
		return 0, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(r.PostForm.Get("n")))
	if err != nil || n < f.Min || n > f.Max {
		return 0, &fault{status: http.StatusBadRequest, Text: fmt.Sprintf("%q is not a whole number "+
			"from %d to %d.", r.PostForm.Get("n"), f.Min, f.Max), Remedy: "Nothing was changed. " +
			"Go back and write one."}
	}
	return n, nil
}

// actionNamed returns an action by its name.
func actionNamed(all []action, name string) (action, bool) {
	for _, a := range all {
		if a.name == name {
			return a, true
		}
	}
	return action{}, false
}

// sweepButtons returns what an operator can do with a sweep now.
func (m *Monitor) sweepButtons(r *request, s core.Summary) (all []button) {
	for _, a := range sweepActions {
		if r.role() >= Operator && sweepCan(s, a.name) {
			label := a.label
			if a.name == "retry" {
				label = retryLabel(s)
			}
			all = append(all, button{label, m.sweepURL(s.ID) + "/" + a.name})
		}
	}
	return all
}

// retryLabel names what a retry of a sweep runs again.
func retryLabel(s core.Summary) string {
	switch cancelled := s.Counts[task.Cancelled.String()] > 0; {
	case cancelled && failedTasks(s) > 0:
		return "Retry failed and cancelled"
	case cancelled:
		return "Retry cancelled"
	}
	return "Retry failed"
}

// sweepCan reports whether an action is possible for a sweep as it stands.
func sweepCan(s core.Summary, action string) bool {
	switch action {
	case "pause":
		return s.State == core.Open
	case "resume":
		return s.State == core.Paused
	case "retry":
		return failedTasks(s)+s.Counts[task.Cancelled.String()] > 0
	}
	return s.State == core.Open || s.State == core.Paused
}

// cannot says why an action is not possible for a sweep as it stands.
func cannot(s core.Summary, action string) string {
	if action == "retry" {
		return s.ID + " has no failed or cancelled task."
	}
	verb := map[string]string{"pause": "be paused", "resume": "be resumed",
		"priority": "get another priority", "cancel": "be cancelled"}[action]
	return fmt.Sprintf("%s is %s and cannot %s.", s.ID, s.State, verb)
}

// taskButtons returns what an operator can do with a task now.
func (m *Monitor) taskButtons(r *request, id task.ID, row string) (all []button) {
	state, err := task.ParseState(row)
	if r.role() < Operator || err != nil {
		return nil
	}
	for _, a := range taskActions {
		if taskCan(state, a.name) {
			all = append(all, button{a.label, m.taskURL(id.Sweep, id.Index) + "/" + a.name})
		}
	}
	return all
}

func taskCan(s task.State, action string) bool {
	if action == "retry" {
		return s.Terminal() && s != task.Succeeded
	}
	return !s.Terminal()
}

// actionRoutes are the pages of actions, and what they send.
func actionRoutes() (all []route) {
	for _, one := range []struct {
		path string
		read func(*Monitor, *request) (action, object, confirmation, error)
	}{
		{"/sweeps/{sweep}/{action}", (*Monitor).confirmSweep},
		{"/sweeps/{sweep}/tasks/{index}/{action}", (*Monitor).confirmTask},
		{"/workers/{worker}/{action}", (*Monitor).confirmWorker},
	} {
		all = append(all,
			route{http.MethodGet, one.path, Operator,
				func(m *Monitor, w http.ResponseWriter, r *request) error {
					_, _, c, err := one.read(m, r)
					if err != nil {
						return err
					}
					return m.confirm(w, r, c)
				}},
			route{http.MethodPost, one.path, Operator,
				func(m *Monitor, w http.ResponseWriter, r *request) error {
					a, o, c, err := one.read(m, r)
					if err == nil {
						err = m.act(w, r, a, o, c)
					}
					if e := refusal(err); e != nil && e.Parameter == api.AtMostParameter {
						_, _, c, err = one.read(m, r)
						if c.Changed = true; err == nil {
							err = m.confirm(w, r, c)
						}
					}
					return err
				}})
	}
	return all
}

// confirm shows the page of an action.
func (m *Monitor) confirm(w http.ResponseWriter, r *request, c confirmation) error {
	return m.render(w, r, http.StatusOK, "confirm", frame{Title: c.Question, View: c,
		At: m.o.Now()})
}

// act does what was confirmed, and leads back to the page of its object. If it would be about
// another number of tasks than was confirmed, it asks again.
func (m *Monitor) act(w http.ResponseWriter, r *request, a action, o object,
	c confirmation) error {
	confirmed, err := strconv.ParseInt(r.PostForm.Get("count"), 10, 64)
	// of the tasks that a filter picks some may have ended since
	fewer := o.selection.Where != "" && c.Count < confirmed
	if err != nil || c.Count != confirmed && !fewer {
		c.Changed = true
		return m.confirm(w, r, c)
	}
	if o.selection.Where != "" {
		o.selection.AtMost = &confirmed
	}
	ctx, stop := context.WithTimeout(api.WithUser(r.Context(), r.session.user), queryTimeout)
	defer stop()
	if err := a.do(ctx, m.o.Master, o); err != nil {
		return err
	}
	m.answers.forget()
	m.o.Log.Info("action", "action", a.name, "on", r.URL.Path, "user", r.session.user,
		"from", r.RemoteAddr)
	w.Header().Set("Location", c.Back)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

var errNoSuchAction = &fault{status: http.StatusNotFound, Text: "There is no such page."}

// confirmSweep says what an action does with a sweep.
func (m *Monitor) confirmSweep(r *request) (a action, o object, c confirmation, err error) {
	a, found := actionNamed(sweepActions, r.PathValue("action"))
	if !found {
		return a, o, c, errNoSuchAction
	}
	s, err := m.o.Master.Sweep(r.Context(), r.PathValue("sweep"), false)
	if err != nil {
		return a, o, c, err
	}
	if s.ID != r.PathValue("sweep") { // it may be another one when it is confirmed
		return a, o, c, errNoSuchAction
	}
	if !sweepCan(s.Summary, a.name) {
		return a, o, c, &fault{status: http.StatusConflict,
			Text:   cannot(s.Summary, a.name),
			Remedy: "Go back to see how it stands."}
	}
	o.sweep = s.ID
	if where := r.URL.Query().Get("where"); where != "" {
		o.selection.Where = api.Where(where)
		c, err = m.confirmSelection(r.Context(), s, a.name, where)
		return a, o, c, err
	}
	n := s.Counts
	running := n[task.Running.String()]
	waiting := total(n, waitingStates)
	c = confirmation{Back: m.sweepURL(s.ID),
		Command: "run-tasks " + a.name + " " + s.ID}
	name := human.Visible(s.ID)
	switch a.name {
	case "pause":
		c.Question = "Pause " + name + "?"
		c.Effect = human.Plural(waiting, "waiting task") + " " + human.Pick(int(waiting), "does",
			"do") + " not start until it is resumed. " + runningTasks(running,
			"runs to its end", "run to their end") + "."
	case "resume":
		c.Question = "Resume " + name + "?"
		c.Effect = "Starts " + human.Plural(waiting, "waiting task") + " with the code of the sweep."
		if s.Reason != nil && strings.HasPrefix(*s.Reason, core.FailedAlike) {
			o.keepGoing = true
			c.Command += " --keep-going"
			c.Effect += " It is not paused again if further tasks fail for the same reason."
		}
	case "retry":
		c.Count = failedTasks(s.Summary) + n[task.Cancelled.String()]
		c.Question = fmt.Sprintf("Run %s of %s again?",
			human.Plural(c.Count, "failed or cancelled task"), name)
		c.Effect = retryEffect
	case "priority":
		c.Question = "Change the priority of " + name + "?"
		c.Effect = "Higher-priority sweeps start first; others use what they leave free. " +
			"Running tasks are not stopped."
		c.Command += " N"
		c.Number = &numberField{"Priority", s.Priority, -core.MaxPriority, core.MaxPriority}
		o.number, err = c.Number.read(r)
	case "cancel":
		c.Question = "Cancel " + name + "?"
		c.Effect = cancelEffect(n)
	}
	return a, o, c, err
}

func runningTasks(n int64, one, more string) string {
	if n == 0 {
		return "No task of it runs"
	}
	return human.Plural(n, "running task") + " " + human.Pick(int(n), one, more)
}

// confirmTask says what an action does with a task.
func (m *Monitor) confirmTask(r *request) (a action, o object, c confirmation, err error) {
	a, found := actionNamed(taskActions, r.PathValue("action"))
	id, wrong := taskOf(r)
	if !found || wrong != nil {
		return a, o, c, errNoSuchAction
	}
	t, err := m.o.Master.Task(r.Context(), id.Sweep, id.Index)
	if err != nil {
		return a, o, c, err
	}
	state, err := task.ParseState(t.Row.State)
	if err != nil {
		return a, o, c, err
	}
	if t.Row.ID != id.String() { // of the newest sweep, which may be another one then
		return a, o, c, errNoSuchAction
	}
	if !taskCan(state, a.name) {
		return a, o, c, &fault{status: http.StatusConflict,
			Text:   t.Row.ID + " " + strings.Replace(state.Predicate(), " ", " already ", 1) + ".",
			Remedy: "Go back to see how it stands."}
	}
	o.sweep, o.index = id.Sweep, id.Index
	name := human.Visible(t.Row.ID)
	c = confirmation{Back: m.taskURL(id.Sweep, id.Index), Count: 1,
		Question: "Run " + name + " again?", Command: "run-tasks " + a.name + " " + t.Row.ID,
		Effect: "It runs with the code of the sweep, in the folder of its earlier attempts."}
	if a.name == "cancel" {
		c.Question, c.Effect = "Cancel "+name+"?", "It never runs."
		if state == task.Running {
			c.Effect = "Its program is stopped. What it has printed and written stays."
		}
	}
	return a, o, c, nil
}
