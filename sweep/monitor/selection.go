package monitor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// selecting is an action on the tasks that a filter picks.
type selecting struct {
	action string // of a sweep
	label  string
	states []task.State // that they are among
	which  string       // what these have in common
}

var selections = []selecting{
	{"retry", "Retry", api.RetriedStates, "failed or was cancelled"},
	{"cancel", "Cancel", api.CancelledStates, "has not ended"},
}

// selectionURL leads to the page of an action on the tasks that a filter picks.
func (m *Monitor) selectionURL(sweep, action, where string) string {
	return m.sweepURL(sweep) + "/" + action + "?" + url.Values{"where": {where}}.Encode()
}

// filter returns a query's filter, with its states.
func (q query) filter() string {
	states := "state in [" + strings.Join(q.states, ", ") + "]"
	switch {
	case len(q.states) == 0:
		return q.where
	case q.where == "":
		return states
	}
	return "(" + q.where + ") and " + states
}

// selectionButtons returns what an operator can do with the tasks that a filter shows, whose numbers
// by state are counts.
func (m *Monitor) selectionButtons(r *request, sweep string, q query,
	counts map[string]int64) (all []button) {
	if r.role() < Operator || q.filter() == "" {
		return nil
	}
	for _, one := range selections {
		var n int64
		for _, s := range one.states {
			if len(q.states) == 0 || slices.Contains(q.states, s.String()) {
				n += counts[s.String()]
			}
		}
		if n > 0 {
			all = append(all, button{fmt.Sprintf("%s these %s", one.label, count(n)),
				m.selectionURL(sweep, one.action, q.filter())})
		}
	}
	return all
}

// confirmSelection says what an action does with the tasks of a sweep that a filter picks. A filter
// that is wrong leads to the page of the sweep, which points at the place.
func (m *Monitor) confirmSelection(ctx context.Context, s api.Sweep, action, where string) (
	c confirmation, err error) {
	at := slices.IndexFunc(selections, func(one selecting) bool { return one.action == action })
	if at < 0 {
		return c, errNoSuchAction
	}
	one := selections[at]
	c.Back = m.whereURL(s.ID, where)
	page, err := m.o.Master.Groups(ctx, s.ID, api.CountsQuery(where, one.states...))
	if e := refusal(err); e != nil && e.Parameter == "where" {
		return c, &elsewhere{c.Back}
	} else if err != nil {
		return c, err
	}
	n := page.Counts()
	name := human.Visible(s.ID)
	if c.Count = total(n, nil); c.Count == 0 {
		return c, &fault{status: http.StatusConflict, Text: fmt.Sprintf("No task of %s that %s "+
			"matches %s.", name, one.which, where), Remedy: "Go back to see how it stands."}
	}
	tasks := human.Plural(c.Count, "task")
	c.Command = "run-tasks " + human.CommandLine([]string{action, s.ID, "--where", where})
	if action == "retry" {
		c.Question = fmt.Sprintf("Run %s of %s again?", tasks, name)
		c.Effect = "Those that failed or were cancelled, and match " + human.Visible(where) +
			". " + retryEffect
	} else {
		c.Question = fmt.Sprintf("Cancel %s of %s?", tasks, name)
		c.Effect = "Those that have not ended, and match " + human.Visible(where) + ". " +
			cancelEffect(n)
	}
	return c, nil
}

const retryEffect = "They run with the code of the sweep, in the folders of their earlier attempts."

// cancelEffect says what a cancellation does with tasks, whose numbers by state are counts.
func cancelEffect(counts map[string]int64) string {
	return fmt.Sprintf("%s. %s never run. Results and outputs stay.",
		runningTasks(counts[task.Running.String()], "is stopped", "are stopped"),
		human.Plural(total(counts, waitingStates), "waiting task"))
}

// elsewhere is that another page shows what is wrong.
type elsewhere struct{ url string }

func (e *elsewhere) Error() string { return "see " + e.url }
