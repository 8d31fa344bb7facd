package monitor

import (
	"context"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// failuresOnPage is how many groups of failures a sweep's page shows.
const failuresOnPage = 10

// failuresView is what failed in a sweep, failures that are alike together.
type failuresView struct {
	Groups []failureLine
	Others int64  // tasks that are in none of them
	All    string // the command that shows more groups
}

// failureLine is a group of failures.
type failureLine struct {
	Count     int64
	Class     string
	Reason    string
	Task, URL string // the first
	Host      string
	Logs      string // the command that shows what that printed
}

// askFailures asks for the failures of a sweep, which costs the master a look at all tasks that
// failed.
func (m *Monitor) askFailures(ctx context.Context, s api.Sweep, version int64) (reply[api.Failures],
	error) {
	return ask(ctx, m.answers, "failures "+s.ID, version,
		func(ctx context.Context) (api.Failures, error) { return m.o.Master.Failures(ctx, s.ID) })
}

// failures returns the failures of a sweep in words.
func (m *Monitor) failures(s api.Sweep, f api.Failures) *failuresView {
	shown := f.Groups[:min(failuresOnPage, len(f.Groups))]
	v := failuresView{Others: f.Others, All: "run-tasks results --failures " + human.Visible(s.ID)}
	for _, g := range f.Groups[len(shown):] {
		v.Others += g.Count
	}
	for _, g := range shown {
		l := failureLine{Count: g.Count, Class: human.Visible(string(g.Class)),
			Reason: human.Truncate(human.Visible(g.Reason)), Task: human.Visible(g.Task),
			Logs: "run-tasks logs " + human.Visible(g.Task)}
		if id, err := task.ParseID(g.Task); err == nil {
			l.URL = m.taskURL(s.ID, id.Index)
		}
		if g.Host != nil {
			l.Host = human.Visible(*g.Host)
		}
		v.Groups = append(v.Groups, l)
	}
	return &v
}
