package core

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// Settings are what a sweep takes over from a task definition that changed since it was submitted.
// The rest of a definition says what its tasks are: another one is another sweep.
type Settings struct {
	Env         map[string]string `json:"env"`
	EnvBraces   bool              `json:"env_braces,omitempty"` // as in a Recipe
	Timeout     time.Duration     `json:"timeout"`              // 0: none
	Grace       time.Duration     `json:"grace"`
	Idle        task.Idle         `json:"idle,omitzero"`
	Retry       task.Retry        `json:"retry"`
	MaxFailures int64             `json:"max_failures"` // 0: never stop
	Metrics     []metric.Rule     `json:"metrics"`
	Objective   metric.Objective  `json:"objective"`
}

// Earlier is what attempts of a sweep ran with until its revision or its settings changed.
type Earlier struct {
	Until    time.Time `json:"until"` // UTC
	Revision string    `json:"revision"`
	Settings
}

// Settings are those of attempts from now on.
func (r Record) Settings() Settings {
	return Settings{Env: r.Recipe.Env, EnvBraces: r.Recipe.EnvBraces, Timeout: r.Recipe.Timeout,
		Grace: r.Recipe.Grace, Idle: r.Recipe.Idle, Retry: r.Retry, MaxFailures: r.MaxFailures,
		Metrics: r.Recipe.Metrics, Objective: r.Objective}
}

// Revised is the record of a sweep whose attempts from a time on run another revision, or with
// other settings. What they ran until then is kept in Earlier. Where nothing changes it is the
// record as it was, and false.
func (r Record) Revised(revision string, to Settings, now time.Time) (Record, bool) {
	was := r.Settings()
	if revision == r.Recipe.Revision && len(was.Changes(to)) == 0 {
		return r, false
	}
	r.Earlier = append(slices.Clone(r.Earlier), Earlier{now.UTC(), r.Recipe.Revision, was})
	r.Recipe.Revision, r.Recipe.Env, r.Recipe.EnvBraces = revision, to.Env, to.EnvBraces
	r.Recipe.Timeout, r.Recipe.Grace, r.Recipe.Idle = to.Timeout, to.Grace, to.Idle
	r.Recipe.Metrics = to.Metrics
	r.Retry, r.MaxFailures, r.Objective = to.Retry, to.MaxFailures, to.Objective
	return r, true
}

// SettingsOf are those that an attempt ran with. One that was handed out before a change may have
// started after it: so its revision counts first, then the time, if the sweep had that revision
// more than once.
func (r Record) SettingsOf(t Attempt) Settings {
	if len(r.Earlier) == 0 {
		return r.Settings()
	}
	return r.settingsSince(t)[0].Settings
}

// settingsSince returns those that an attempt ran with, and all that followed.
func (r Record) settingsSince(t Attempt) []Earlier {
	all := append(slices.Clone(r.Earlier),
		Earlier{Revision: r.Recipe.Revision, Settings: r.Settings()})
	same := slices.ContainsFunc(all, func(e Earlier) bool { return e.Revision == t.Revision })
	found := -1
	for i, e := range all {
		started := i == 0 || !t.Started.Before(all[i-1].Until)
		if (!same || e.Revision == t.Revision) && (started || found < 0) {
			found = i
		}
	}
	return all[found:]
}

// SameMetrics returns the rules that have been the same since an attempt ran: its values are of
// them, whether they were read at its end or again later.
func (r Record) SameMetrics(rules []metric.Rule, t Attempt) (same []metric.Rule) {
	since := r.settingsSince(t)
	for _, rule := range rules {
		if !slices.ContainsFunc(since, func(e Earlier) bool {
			return !slices.Contains(e.Metrics, rule)
		}) {
			same = append(same, rule)
		}
	}
	return same
}

// RemovedMetric reports whether a metric had a rule and rules contains none for it.
func (r Record) RemovedMetric(name string, rules []metric.Rule) bool {
	has := func(rules []metric.Rule) bool {
		return slices.ContainsFunc(rules, func(r metric.Rule) bool { return r.Name == name })
	}
	return !has(rules) && (has(r.Recipe.Metrics) ||
		slices.ContainsFunc(r.Earlier, func(e Earlier) bool { return has(e.Metrics) }))
}

// Change is one thing that two definitions, or settings, say differently.
type Change struct {
	Key         string // as in tasks.yml
	Was, Is     string // what it says, for people
	OnlyAnother bool   // a sweep cannot take it over: another one can
}

func (c Change) String() string {
	if c.Was == "" {
		return c.Key + " (" + c.Is + ")"
	}
	return fmt.Sprintf("%s (%s before, %s now)", c.Key, c.Was, c.Is)
}

// Changes lists what other settings say differently.
func (s Settings) Changes(to Settings) (all []Change) {
	differs := func(key string, was, is any, text func(any) string) {
		if !reflect.DeepEqual(was, is) {
			all = append(all, Change{Key: key, Was: text(was), Is: text(is)})
		}
	}
	if !maps.Equal(s.Env, to.Env) || s.EnvBraces != to.EnvBraces {
		all = append(all, Change{Key: "env", Is: variables(s.Env, to.Env)})
	}
	differs("timeout", s.Timeout, to.Timeout, orNone)
	differs("grace", s.Grace, to.Grace, orNone)
	differs("idle", s.Idle, to.Idle, orNone)
	differs("retry", s.Retry, to.Retry, func(v any) string {
		r := v.(task.Retry)
		return fmt.Sprintf("error %d, timeout %d, oom %d, lost %d",
			r.Error, r.Timeout, r.OOM, r.Lost)
	})
	differs("max-failures", s.MaxFailures, to.MaxFailures, orNone)
	if !slices.Equal(s.Metrics, to.Metrics) {
		all = append(all, Change{Key: "metrics", Was: rules(s.Metrics), Is: rules(to.Metrics)})
	}
	was, is := s.Objective, to.Objective
	was.Timeouts, is.Timeouts = false, false // they have a key of their own
	differs("objective", was, is, func(v any) string {
		return cmp.Or(v.(metric.Objective).String(), "none")
	})
	differs("rank", s.Objective.Timeouts, to.Objective.Timeouts, func(v any) string {
		if v.(bool) {
			return "timeout"
		}
		return "none"
	})
	return all
}

func orNone(v any) string {
	if reflect.ValueOf(v).IsZero() {
		return "none"
	}
	return fmt.Sprint(v)
}

// variables describes how environments differ: "+ A=1, - B, C=2 before, C=3 now".
func variables(was, is map[string]string) string {
	names := slices.Concat(slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(is)))
	slices.Sort(names)
	var all []string
	for _, name := range slices.Compact(names) {
		before, had := was[name]
		now, has := is[name]
		switch {
		case !had:
			all = append(all, "+ "+name+"="+now)
		case !has:
			all = append(all, "- "+name)
		case before != now:
			all = append(all, fmt.Sprintf("%s=%s before, %[1]s=%[3]s now", name, before, now))
		}
	}
	return strings.Join(all, ", ")
}

func rules(all []metric.Rule) string {
	var texts []string
	for _, r := range all {
		texts = append(texts, r.String())
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}

// Changes lists what another record, as the same definition makes it now, says differently, but for
// revision and parameters.
func (r Record) Changes(to Record) []Change {
	var all []Change
	differs := func(key string, was, is any, text func(any) string) {
		if !reflect.DeepEqual(was, is) {
			all = append(all, Change{key, text(was), text(is), true})
		}
	}
	list := func(v any) string {
		if words := v.([]string); len(words) > 0 {
			return strings.Join(words, ", ")
		}
		return "none"
	}
	differs("command", r.Recipe.Command, to.Recipe.Command,
		func(v any) string { return human.CommandLine(v.([]string)) })
	differs("parameters", r.ParametersFile, to.ParametersFile, orNone)
	differs("flags", r.flags(), to.flags(), func(v any) string { return v.(string) })
	differs("file", r.file(), to.file(), func(v any) string { return v.(string) })
	differs("switch", r.Style.Switch, to.Style.Switch, func(v any) string {
		return string(cmp.Or(v.(space.SwitchForm), "flag"))
	})
	differs("each", r.EachWorker, to.EachWorker, func(v any) string {
		if v.(bool) {
			return "worker"
		}
		return "point"
	})
	differs("gpus", r.Recipe.GPUs, to.Recipe.GPUs,
		func(v any) string { return needOf(v.(task.GPUs)).String() })
	differs("cpus", r.Recipe.CPUs, to.Recipe.CPUs,
		func(v any) string { return strconv.Itoa(v.(int)) })
	differs("memory", r.Recipe.Memory, to.Recipe.Memory,
		func(v any) string { return nvdocker.Size(v.(int64)) })
	if on, now := task.LabelsText(r.Recipe.On), task.LabelsText(to.Recipe.On); on != now {
		all = append(all, Change{Key: "on", Was: cmp.Or(on, "none"), Is: cmp.Or(now, "none"),
			OnlyAnother: true})
	}
	differs("secrets", sorted(r.Recipe.Secrets), sorted(to.Recipe.Secrets), list)
	differs("outputs", sorted(r.Recipe.Outputs), sorted(to.Recipe.Outputs), list)
	differs("link", sorted(r.Recipe.Link), sorted(to.Recipe.Link), list)
	differs("copy", sorted(r.Recipe.Copy), sorted(to.Recipe.Copy), list)
	if !maps.Equal(r.Recipe.Links, to.Recipe.Links) {
		all = append(all, Change{Key: "links", Is: variables(r.Recipe.Links, to.Recipe.Links),
			OnlyAnother: true})
	}
	differs("workdir", r.Recipe.Workdir, to.Recipe.Workdir, orNone)
	return append(r.Settings().Changes(to.Settings()), all...)
}

// flags is how the program takes its parameters, as the key of tasks.yml has it.
func (r Record) flags() string {
	text := "equals"
	switch {
	case r.Style.Form != "":
		text = string(r.Style.Form)
	case r.Style.Space:
		text = "space"
	}
	if r.Recipe.ReadsParameters && r.Style.Form != space.Env {
		text += " and the environment"
	}
	return text
}

// file is the file that takes the parameters, as text.
func (r Record) file() string {
	f := r.Recipe.File
	switch {
	case f == nil:
		return "none"
	case f.NewKeys:
		return f.From + " to " + f.To + " with new keys"
	}
	return f.From + " to " + f.To
}

// sorted is a list whose order says nothing; never nil.
func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
