package main

import (
	"errors"
	"fmt"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/nvdocker"
	"mlframework/nvdocker/install"
	"mlframework/sweep/table"
)

// report is what --json prints of a host.
type report struct {
	Host    string         `json:"host"`
	State   string         `json:"state"`
	System  string         `json:"system"`  // "" where the host did not say
	GPUs    []string       `json:"gpus"`    // their names
	Driver  string         `json:"driver"`  // its version; "": there is none
	Docker  string         `json:"docker"`  // its version; "": there is none
	Toolkit string         `json:"toolkit"` // its version "": there was none
	Done    []string       `json:"done"`    // steps, by title
	Left    []install.Step `json:"left"`    // steps that are not done
	// containers that a restart of Docker stops, if that is left
	Stops   []string          `json:"stops"`
	Notes   []string          `json:"notes"`
	Problem *nvdocker.Problem `json:"problem"` // null: there is none
}

func (m *machine) report() report {
	f := m.facts
	r := report{Host: m.name, State: m.state, System: f.System, GPUs: []string{},
		Driver: f.GPU.Driver, Docker: f.Docker.Version, Toolkit: f.Docker.Toolkit,
		Done: append([]string{}, m.done...), Stops: []string{},
		Left:  append([]install.Step{}, m.plan.Steps[m.next:]...),
		Notes: append([]string{}, m.plan.Notes...), Problem: m.problem}
	for _, g := range f.GPU.GPUs {
		r.GPUs = append(r.GPUs, g.Name)
	}
	for _, s := range r.Left {
		if s.Restarts {
			for _, c := range f.Stops() {
				r.Stops = append(r.Stops, c.Name)
			}
		}
	}
	return r
}

// conclude shows how all hosts are, and gives the exit code.
func (c *command) conclude(w request, machines []*machine) (err error) {
	switch {
	case w.json:
		all := struct {
			Hosts []report `json:"hosts"`
		}{}
		for _, m := range machines {
			all.Hosts = append(all.Hosts, m.report())
		}
		err = table.WriteJSONLine(c.stdout, all)
	case w.dryRun:
		_, err = fmt.Fprint(c.stdout, plans(machines))
	default:
		t := cli.NewTable("HOST", "STATE", "STEPS", "FOUND")
		for _, m := range machines {
			t.Add(m.name, m.state, fmt.Sprint(len(m.done)), m.facts.Summary())
		}
		err = t.Write(c.stdout)
	}
	return errors.Join(err, wrong(machines))
}

// plans are the plans of all hosts, as --dry-run shows them.
func plans(machines []*machine) string {
	var b strings.Builder
	for _, m := range machines {
		if m.problem != nil {
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", m.name, m.facts.Summary())
		for line := range strings.Lines(m.plan.Text()) {
			b.WriteString("  " + line)
		}
	}
	return cli.VisibleLines(b.String())
}

// wrong is what is wrong with all hosts, each with what to do about it; nil: nothing is. Hosts with
// one problem are said together.
func wrong(machines []*machine) error {
	var problems []nvdocker.Problem
	hosts := map[nvdocker.Problem][]string{}
	code, count := cli.Failed, 0
	for _, m := range machines {
		if m.problem == nil {
			continue
		}
		if count++; hosts[*m.problem] == nil {
			problems = append(problems, *m.problem)
		}
		hosts[*m.problem] = append(hosts[*m.problem], m.name)
		if m.state == Unreachable {
			code = cli.Unreachable
		}
	}
	if count == 0 {
		return nil
	}
	text := ""
	if len(machines) > 1 {
		text = fmt.Sprintf("%d of %d hosts are not ready:", count, len(machines))
	}
	for _, p := range problems {
		text += "\n  " + strings.Join(hosts[p], ", ") + ": " + p.Cause
		if p.Remedy != "" {
			text += "\n      " + p.Remedy
		}
	}
	return &cli.Error{Code: code, Err: errors.New(strings.TrimSpace(text))}
}
