package monitor

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/expr"
	"mlframework/sweep/failure"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// failuresOnPage is how many groups of failures a sweep's page shows.
const failuresOnPage = 10

// failuresView is what failed in a sweep, failures that are alike together.
type failuresView struct {
	Tasks  int64
	Groups []failureLine
	Others int64  // tasks that are in none of them
	All    string // the command that shows more groups
}

// failureLine is a group of failures.
type failureLine struct {
	Count     int64
	Reason    string
	Frame     string // where all were raised; "": not known, or Reason says so
	Task, URL string // the first
	Host      string // where that ran
	Where     string // what they have in common; "": nothing
	WhereURL  string // of the tasks that have it
	Show      string // URL of all; "": no filter finds them
	Retry     string // URL that runs them again; "": no filter finds them, or the user is no operator
}

// askFailures asks for the failures of a sweep, which costs the master a look at all tasks that
// failed.
func (m *Monitor) askFailures(ctx context.Context, s api.Sweep, version int64) (reply[api.Failures],
	error) {
	r, _, err := askRarely(ctx, m.answers, rareKey("failures", s, ""), version,
		func(ctx context.Context) (api.Failures, error) { return m.o.Master.Failures(ctx, s.ID) })
	return r, err
}

// failures returns the failures of a sweep in words.
func (m *Monitor) failures(r *request, s api.Sweep, f api.Failures) *failuresView {
	shown := f.Groups[:min(failuresOnPage, len(f.Groups))]
	v := failuresView{Tasks: failedTasks(s.Summary), Others: f.Others,
		All: "run-tasks results --failures " + human.Visible(s.ID)}
	for _, g := range f.Groups[len(shown):] {
		v.Others += g.Count
	}
	for _, g := range shown {
		l := failureLine{Count: g.Count, Task: human.Visible(g.Task),
			Reason: human.Truncate(human.Visible(cmp.Or(g.Reason, string(g.Class))))}
		if id, err := task.ParseID(g.Task); err == nil {
			l.URL = m.taskURL(s.ID, id.Index)
		}
		if g.Host != nil {
			l.Host = human.Visible(*g.Host)
		}
		if g.Frame != nil && human.WithFrame(g.Reason, g.Frame) != g.Reason {
			l.Frame = human.Visible(*g.Frame)
		}
		if g.Where != nil {
			l.Where = human.Visible(*g.Where)
			l.WhereURL = m.whereURL(s.ID, *g.Where)
		}
		if g.Reason != "" {
			l.Show = m.reasonURL(s.ID, g.Class, g.Reason)
			if r.role() >= Operator {
				l.Retry = m.selectionURL(s.ID, "retry", reasonFilter(g.Class, g.Reason))
			}
		}
		v.Groups = append(v.Groups, l)
	}
	return &v
}

// reasonFilter returns the filter for the tasks that failed for a reason, in which anything stands
// where those of alike failures differ.
func reasonFilter(class task.Class, reason string) string {
	state := task.Failed.String()
	if class != task.Error {
		state = string(class)
	}
	if !strings.Contains(reason, failure.Masked) {
		return "state = " + state + " and reason = " + expr.Quote(reason)
	}
	return "state = " + state + " and reason ~ " + expr.Quote(reasonPattern(reason))
}

func reasonPattern(reason string) string {
	parts := strings.Split(reason, failure.Masked)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return "^" + strings.Join(parts, ".*") + "$"
}

// alikeLine is how many tasks failed like one, itself included, and where they are.
type alikeLine struct {
	Count int64
	URL   string
}

// alike returns the tasks of a sweep that failed like one; nil: no other did.
func (m *Monitor) alike(r *request, s api.Sweep, row table.Row) (*alikeLine, error) {
	state, _ := task.ParseState(row.State)
	if !state.Failure() || row.Reason == "" || failedTasks(s.Summary) < 2 {
		return nil, nil
	}
	f, err := m.askFailures(r.Context(), s, r.version)
	for _, g := range f.value.Groups {
		if like, _ := regexp.MatchString(reasonPattern(g.Reason), row.Reason); like && g.Count > 1 {
			return &alikeLine{g.Count, m.reasonURL(s.ID, g.Class, g.Reason)}, err
		}
	}
	return nil, err
}

// reasonURL returns the page with the tasks of a sweep that failed for a reason.
func (m *Monitor) reasonURL(sweep string, class task.Class, reason string) string {
	return m.whereURL(sweep, reasonFilter(class, reason))
}

// whereURL returns the page with the tasks of a sweep that a filter picks.
func (m *Monitor) whereURL(sweep, where string) string {
	return m.sweepURL(sweep) + "?" + url.Values{"where": {where}}.Encode()
}
