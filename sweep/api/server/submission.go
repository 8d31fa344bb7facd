package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// readSubmission reads a submission and checks it. The version comes first: what another one says
// cannot be judged.
func readSubmission(r *http.Request) (s api.Submission, err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return s, api.Wrong("", "the request was cut off")
	}
	var only struct {
		Record struct {
			Version int `json:"version"`
		} `json:"record"`
	}
	if json.Unmarshal(body, &only) == nil && task.Foreign(only.Record.Version) {
		return s, &api.Error{Status: http.StatusBadRequest, Parameter: "record.version",
			Text: fmt.Sprintf("the record has version %d, and this master understands %d",
				only.Record.Version, task.Version),
			Remedy: "update the older of the two: run-tasks or the master"}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err := read(r, &s); err != nil {
		return s, err
	}
	return s, check(s)
}

// revisionName is what a revision is called: its name becomes part of paths.
var revisionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

// maxNumber bounds the number of a sweep that a submission may ask for: far more than there will
// be, and far from the greatest that can be counted on.
const maxNumber = 1_000_000_000_000

// check refuses what no tasks.yml can have said.
func check(s api.Submission) error {
	r, recipe := s.Record, s.Record.Recipe
	switch {
	case r.Version < 1:
		return api.Wrong("record.version", "the record has no version")
	case r.Space == nil:
		return api.Wrong("record.space", "the record has no space")
	case !task.IsDefinitionName(recipe.Definition) ||
		len(recipe.Definition) > task.MaxDefinitionName || task.EndsLikeSweepID(recipe.Definition):
		return api.Wrong("record.recipe.definition",
			fmt.Sprintf("%q is not a valid name of a definition",
				recipe.Definition))
	case !revisionName.MatchString(recipe.Revision):
		return api.Wrong("record.recipe.revision", fmt.Sprintf("%q is not a revision",
			recipe.Revision))
	case len(recipe.Command) == 0 || recipe.Command[0] == "":
		return api.Wrong("record.recipe.command", "the command is empty")
	case recipe.Idle.Below < 0 || recipe.Idle.Below > 100:
		return api.Wrong("record.recipe.idle", "below is a percentage, from 0 to 100")
	case recipe.Timeout < 0 || recipe.Grace < 0 || recipe.Idle.For < 0 || r.MaxFailures < 0 ||
		s.MinNumber < 0 || min(r.Retry.Error, r.Retry.Timeout, r.Retry.OOM, r.Retry.Lost) < 0:
		return api.Wrong("record", "the record has a negative number")
	case s.MinNumber > maxNumber:
		return api.Wrong("min_number", fmt.Sprintf("no sweep has a number above %d",
			int64(maxNumber)))
	case recipe.Needs.Check() != nil:
		return api.Wrong(api.NeedsParameter, recipe.Needs.Check().Error())
	case !r.Style.Form.Known():
		return api.Wrong("record.style.form", fmt.Sprintf("%q is not a form of parameters",
			r.Style.Form))
	case !r.Style.Switch.Known():
		return api.Wrong("record.style.switch", fmt.Sprintf("%q is not a valid form of switches",
			r.Style.Switch))
	case len(r.Workers) > 0:
		return api.Wrong("record.workers", "set by the master: leave it out")
	case len(r.Earlier) > 0:
		return api.Wrong("record.earlier", "must be empty in a new sweep")
	case len(r.Images) > 0:
		return api.Wrong("record.images",
			"set by the master from what workers report: leave it out")
	case r.Notify != nil && r.Notify.Check() != nil:
		return api.Wrong("record.notify", r.Notify.Check().Error())
	case len(r.Notices) > 0:
		return api.Wrong("record.notices", "set by the master: leave it out")
	case r.OnEnd != nil && r.OnEnd.Check() != nil:
		return api.Wrong("record.on_end", r.OnEnd.Check().Error())
	case r.After != "":
		return api.Wrong("record.after", "set by the master: leave it out")
	case len(r.Pruned) > 0:
		return api.Wrong("record.pruned", "set by the master: leave it out")
	case len(r.Extensions) > 0:
		return api.Wrong("record.extensions",
			"must be empty in a new sweep: extend it once it is submitted")
	case badPriority(r.Priority):
		return api.Wrong("record.priority", priorityRule)
	case api.Total(r) < 1:
		return api.Wrong("record", "the sweep has no task")
	}
	if err := checkNames(recipe); err != nil {
		return err
	}
	if _, err := metric.Compile(recipe.Metrics); err != nil {
		return api.Wrong("record.recipe.metrics", err.Error())
	}
	if err := checkEnviron(s.Environ); err != nil {
		return err
	}
	return checkRanges(r)
}

// checkEnviron refuses what no process can have inherited.
func checkEnviron(variables []string) error {
	for _, v := range variables {
		if !strings.Contains(v, "=") || strings.ContainsRune(v, 0) {
			return api.Wrong("environ", "a variable of it is not NAME=value, or holds a zero byte")
		}
	}
	return nil
}

// fileNames are the paths of a file that takes parameters.
func fileNames(f *task.File) []string {
	if f == nil {
		return nil
	}
	return []string{f.From, f.To}
}

func checkNames(r task.Recipe) error {
	for _, word := range r.Command {
		if strings.ContainsRune(word, 0) {
			return api.Wrong("record.recipe.command", "the command holds a zero byte")
		}
	}
	if err := checkEnv("record.recipe.env", r.Env); err != nil {
		return err
	}
	for _, name := range r.Secrets {
		if !task.IsVariableName(name) {
			return api.Wrong("record.recipe.secrets", fmt.Sprintf("%q is not a valid variable name",
				name))
		}
	}
	for _, name := range r.Outputs {
		if name == "" || name == "." || name == ".." || path.Base(name) != name ||
			strings.ContainsRune(name, 0) {
			return api.Wrong("record.recipe.outputs",
				fmt.Sprintf("%q is not a valid name of a file or folder", name))
		}
	}
	return checkPaths(r)
}

// checkPaths refuses paths that lead out of a task's folder.
func checkPaths(r task.Recipe) error {
	inside := func(p string) bool {
		return p != "." && path.Clean(p) == p && filepath.IsLocal(p) && !strings.ContainsRune(p, 0)
	}
	for _, list := range []struct {
		key   string
		paths []string
	}{
		{"link", r.Link},
		{"copy", r.Copy},
		{"links", slices.Sorted(maps.Keys(r.Links))},
		{"workdir", []string{cmp.Or(r.Workdir, "x")}},
		{"file", fileNames(r.File)},
	} {
		for _, p := range list.paths {
			if !inside(p) {
				return api.Wrong("record.recipe."+list.key,
					fmt.Sprintf("%q is not a path in a task's folder", p))
			}
		}
	}
	for _, target := range r.Links {
		if !path.IsAbs(target) || strings.ContainsRune(target, 0) {
			return api.Wrong("record.recipe.links", fmt.Sprintf("%q is not an absolute path",
				target))
		}
	}
	return nil
}

func checkRanges(r core.Record) error {
	before := int64(0)
	for _, part := range r.Ranges {
		if part.From < before || part.To <= part.From || part.To > r.Space.Len() {
			return api.Wrong("record.ranges", "the ranges are not in order, or leave the space")
		}
		before = part.To
	}
	return nil
}

// checkContinuation refuses a revision that cannot be one.
func checkContinuation(g api.Continuation) error {
	switch {
	case g.Revision == "" && g.Code != "":
		return api.Wrong("revision", "code is set without revision")
	case g.Revision != "" && !revisionName.MatchString(g.Revision):
		return api.Wrong("revision", fmt.Sprintf("%q is not a revision", g.Revision))
	case g.Settings != nil:
		if err := checkSettings("settings", *g.Settings); err != nil {
			return err
		}
	}
	return checkEnviron(g.Environ)
}

// checkSettings refuses what no tasks.yml can have said; at is where they stand.
func checkSettings(at string, s core.Settings) error {
	if s.Idle.Below < 0 || s.Idle.Below > 100 {
		return api.Wrong(at+".idle", "below is a percentage, from 0 to 100")
	}
	if s.Timeout < 0 || s.Grace < 0 || s.Idle.For < 0 || s.MaxFailures < 0 ||
		min(s.Retry.Error, s.Retry.Timeout, s.Retry.OOM, s.Retry.Lost) < 0 {
		return api.Wrong(at, "a number is negative")
	}
	if err := checkEnv(at+".env", s.Env); err != nil {
		return err
	}
	if _, err := metric.Compile(s.Metrics); err != nil {
		return api.Wrong(at+".metrics", err.Error())
	}
	return nil
}

func checkEnv(at string, env map[string]string) error {
	for name, value := range env {
		if !task.IsVariableName(name) || strings.ContainsRune(value, 0) {
			return api.Wrong(at,
				fmt.Sprintf("%q is not a valid variable name, or its value holds a zero byte",
					name))
		}
	}
	return nil
}
