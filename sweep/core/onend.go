package core

import (
	"maps"
	"slices"
	"strings"
	"time"

	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// OnEndNotice is that a sweep has ended and its OnEnd is to run.
const OnEndNotice = "on-end"

// OnEndDefinition is the definition of the sweeps that run an OnEnd.
const OnEndDefinition = "on-end"

// runsOnEnd reports whether a sweep that has ended so is followed by its OnEnd.
func runsOnEnd(o *task.OnEnd, h Head) bool {
	if o == nil || h.Ended.IsZero() {
		return false
	}
	succeeded := h.Rows[task.Succeeded] == h.Total
	return o.On == task.OnAlways || succeeded == (o.On == task.OnSuccess)
}

// AwaitsOnEnd reports whether the sweep of an OnEnd is to be submitted.
func (r Record) AwaitsOnEnd() bool {
	return slices.ContainsFunc(r.PendingNotices(),
		func(n Notice) bool { return n.Event == OnEndNotice })
}

// OnEndSweep returns the sweep of one task that runs the OnEnd of a sweep. Its task gets the files
// and the environment of the sweep, and a message about the end, in JSON. The same end has the same
// ON_END_ID, also when the task runs again.
func (r Record) OnEndSweep(id string, end Notice, message string) Record {
	env := map[string]string{}
	maps.Copy(env, r.Recipe.Env)
	if r.Recipe.EnvBraces { // what names parameters has no value here
		maps.DeleteFunc(env, func(_, v string) bool { return strings.ContainsAny(v, "{}") })
	}
	maps.Copy(env, map[string]string{"ON_END_SWEEP": id, "ON_END_STATE": end.Outcome,
		"ON_END_ID": id + "@" + end.Time.UTC().Format(time.RFC3339Nano), "ON_END_MESSAGE": message})
	return Record{Version: r.Version, Space: new(space.Space), Style: r.Style, Project: r.Project,
		Retry: task.Retry{Lost: r.Retry.Lost}, After: id, Priority: r.Priority,
		Recipe: task.Recipe{Definition: OnEndDefinition, Command: r.OnEnd.Run, Env: env,
			Revision: r.Recipe.Revision, Outputs: r.Recipe.Outputs, Link: r.Recipe.Link,
			Copy: r.Recipe.Copy, Links: r.Recipe.Links, Workdir: r.Recipe.Workdir,
			Grace: r.Recipe.Grace}}
}

// Outcome returns how a sweep that has ended did: "succeeded", "failed" or "cancelled".
func (h Head) Outcome() string {
	switch {
	case h.State == Cancelled:
		return task.Cancelled.String()
	case h.Rows[task.Succeeded] == h.Total:
		return task.Succeeded.String()
	}
	return task.Failed.String()
}
