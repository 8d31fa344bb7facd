package monitor

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// allFailuresView is what failed in all sweeps, failures that are alike together.
type allFailuresView struct {
	Times []tab  // the choice of Within
	Since string // "in the last hour"; "": at any time
	Kinds []failureKind
	Tasks int64 // in all kinds, also those that are not shown
	More  int64 // kinds that are not shown
	// tasks that failed otherwise, and older sweeps whose failures were not looked at
	Others, Unsearched int64
	Wrong              string // why failures cannot be read; "": they can
}

// failureKind is failures that are alike.
type failureKind struct {
	Key, Reason string
	Class       string
	Count       int64
	Sweeps      []failureSweep // the newest first
	MoreSweeps  int64
	Hosts       string // "gpu1, gpu2"; "": not known
	First, Last *time.Time
	Show        string // URL of all these tasks; "": no filter finds them
}

// failureSweeps is how many sweeps of a kind the page of failures has.
const failureSweeps = 5

// failureSweep is a sweep with failures of a kind.
type failureSweep struct {
	ID, URL string // of its tasks that failed so
	Count   int64
	Task    string // the first, with its page
	TaskURL string
	Retry   *button // of operators
}

// askAllFailures asks for the failures of all sweeps in the last time, or with 0 in all: the master
// looks at all tasks that failed.
func (m *Monitor) askAllFailures(ctx context.Context, within time.Duration, version int64) (
	reply[api.AllFailures], error) {
	r, _, err := askRarely(ctx, m.answers, "all failures "+within.String(), version,
		func(ctx context.Context) (api.AllFailures, error) {
			return m.o.Master.AllFailures(ctx, within)
		})
	return r, err
}

// failureTimes are the times of the page of failures, as its URL has them.
var failureTimes = []struct {
	name, label, since string
	within             time.Duration
}{{"", "all", "", 0}, {"day", "last day", "in the last day", 24 * time.Hour},
	{"hour", "last hour", "in the last hour", time.Hour}}

func (m *Monitor) loadFailures(r *request) (*content, error) {
	chosen, name := failureTimes[0], r.URL.Query().Get("within")
	var times []tab
	for _, t := range failureTimes {
		l := tab{Label: t.label, URL: m.o.Prefix + "/failures"}
		if t.name != "" {
			l.URL += "?" + url.Values{"within": {t.name}}.Encode()
		}
		if t.name == name { // what is none of them is all
			chosen = t
		}
		times = append(times, l)
	}
	for i := range times {
		times[i].Current = times[i].Label == chosen.label
	}
	f, err := m.askAllFailures(r.Context(), chosen.within, r.version)
	if err != nil {
		return nil, err
	}
	groups := slices.Clone(f.value.Groups)
	slices.SortStableFunc(groups, func(a, b api.SharedFailure) int { return newestFirst(a.Last, b.Last) })
	f.value.Groups = groups
	v := m.allFailures(r, f.value, len(groups), failureSweeps)
	v.Times, v.Since = times, chosen.since
	c := m.warned(r, &content{title: "Failures", view: v, asOf: f.asOf})
	if chosen.within > 0 {
		c.refresh = overviewRefresh
	}
	return c, nil
}

// newestFirst compares times, of which those that are not known come last.
func newestFirst(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return b.Compare(*a)
}

// recentFailures returns the most frequent failures of the last hour. It asks only where a sweep
// that ran in that time has any.
func (m *Monitor) recentFailures(r *request, all []core.Summary, now time.Time) (
	v allFailuresView, err error) {
	if !slices.ContainsFunc(all, func(s core.Summary) bool {
		return failedTasks(s) > 0 && (s.Ended == nil || now.Sub(*s.Ended) < recent)
	}) {
		return v, nil
	}
	f, err := m.askAllFailures(r.Context(), recent, r.version)
	if err != nil {
		v.Wrong = unreachableText(err)
		return v, ignoreRefused(err)
	}
	return m.allFailures(r, f.value, overviewFailures, overviewFailureSweeps), nil
}

// allFailures returns the first kinds of failures in words, each with its newest sweeps.
func (m *Monitor) allFailures(r *request, f api.AllFailures, most, sweeps int) allFailuresView {
	v := allFailuresView{Others: f.Others, Unsearched: f.Unsearched, Tasks: f.Others,
		More: int64(max(0, len(f.Groups)-most))}
	for n, g := range f.Groups {
		if v.Tasks += g.Count; n < most {
			v.Kinds = append(v.Kinds, m.failureKind(r, g, sweeps))
		}
	}
	return v
}

func (m *Monitor) failureKind(r *request, g api.SharedFailure, sweeps int) failureKind {
	shown := g.Sweeps[:min(sweeps, len(g.Sweeps))]
	g.MoreSweeps += int64(len(g.Sweeps) - len(shown))
	k := failureKind{Class: human.Visible(string(g.Class)), Count: g.Count, MoreSweeps: g.MoreSweeps,
		Reason: human.Truncate(human.Visible(cmp.Or(g.Reason, string(g.Class)))),
		First:  g.First, Last: g.Last}
	k.Key = k.Class + " " + k.Reason
	var hosts []string
	for _, h := range g.Hosts {
		hosts = append(hosts, human.Visible(h))
	}
	k.Hosts = human.Truncate(strings.Join(hosts, ", "))
	if g.MoreHosts {
		k.Hosts += " and more"
	}
	if g.Reason != "" {
		k.Show = m.o.Prefix + "/tasks?" + url.Values{"where": {reasonFilter(g.Class, g.Reason)}}.Encode()
	}
	for _, c := range shown {
		s := failureSweep{ID: human.Visible(c.Sweep), Count: c.Count, Task: human.Visible(c.Task),
			URL: m.sweepURL(c.Sweep)}
		if g.Reason != "" {
			s.URL = m.reasonURL(c.Sweep, g.Class, g.Reason)
		}
		if id, err := task.ParseID(c.Task); err == nil {
			s.TaskURL = m.taskURL(id.Sweep, id.Index)
		}
		if r.role() >= Operator {
			s.Retry = &button{"Retry failed of " + s.ID, m.sweepURL(c.Sweep) + "/retry"}
			if g.Reason != "" {
				s.Retry = &button{"Retry these in " + s.ID,
					m.selectionURL(c.Sweep, "retry", reasonFilter(g.Class, g.Reason))}
			}
		}
		k.Sweeps = append(k.Sweeps, s)
	}
	return k
}
