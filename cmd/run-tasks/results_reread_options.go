package main

import (
	"context"
	"fmt"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/api"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
)

// rereadOptions are the options of `run-tasks results --reread`.
type rereadOptions struct {
	rules     []string // NAME=REGEX
	objective string   // "": the sweep's
	dir       string   // of the project; "": as at submission
}

// run reads the metrics of a sweep again and stores them. No task runs.
func (o *rereadOptions) run(ctx context.Context, src source, t *terminal, s api.Sweep) error {
	rules, objective, err := o.newRules(s, t.self)
	if err != nil {
		return err
	}
	r := &rereading{src: src, sweep: s, with: api.Reread{Metrics: rules, Objective: objective}}
	if err := r.all(ctx); err != nil {
		if r.stored {
			t.warn(r.unfinished())
		}
		return err
	}
	fmt.Fprintf(t.stderr, "re-read the metrics of %s: %s changed\n", human.Plural(r.read, "task"),
		human.Plural(r.changed, "task"))
	for _, m := range r.incomplete {
		fmt.Fprintln(t.stderr, cli.Visible(m.String()))
	}
	for _, k := range r.kept {
		t.warn(k.String())
	}
	if r.others > 0 {
		t.warn(human.Plural(r.others, "more task") + " kept the metrics they had, for other reasons")
	}
	if n := r.earlier(); n > 0 {
		t.note(fmt.Sprintf("%s handed out with the metrics of before, and %s measured by them; "+
			"when %s ended: %s %s", human.Plural(n, "task")+human.Pick(int(n), " was", " were"),
			human.Pick(int(n), "is", "are"), human.Pick(int(n), "it has", "they have"), t.self,
			human.CommandLine(o.words(s.ID))))
	}
	return nil
}

// words are the command line that does the same again.
func (o *rereadOptions) words(sweep string) []string {
	again := []string{"results", "--reread", sweep}
	for _, rule := range o.rules {
		again = append(again, "--metric", rule)
	}
	if o.objective != "" {
		again = append(again, "--objective", o.objective)
	}
	if o.dir != "" {
		again = append(again, "-d", o.dir)
	}
	return again
}

// newRules returns the metrics and the objective that a sweep is to have: those of tasks.yml, or for
// a command that was typed, those it has with the ones that options name.
func (o *rereadOptions) newRules(s api.Sweep, self string) ([]metric.Rule, metric.Objective,
	error) {
	named := len(o.rules) > 0 || o.objective != ""
	switch {
	case s.Record.CommandLine && !named:
		return nil, metric.Objective{}, cli.Wrong("name a metric: "+rereadExample(self, s.ID),
			"%s was started with a command, and has no tasks.yml that defines metrics", s.ID)
	case s.Record.CommandLine:
		return o.commandRules(s)
	case named:
		return nil, metric.Objective{}, cli.Wrong("define them there, then: "+self+" results --reread "+s.ID,
			"--metric and --objective have no effect on %s, whose metrics are defined in tasks.yml",
			s.ID)
	}
	dir := o.dir
	if dir == "" {
		dir = s.Project
	}
	file, _, err := definition.Load(dir, site.Reserved())
	if err != nil {
		return nil, metric.Objective{}, err
	}
	t, err := file.Task(s.Definition)
	if err != nil {
		return nil, metric.Objective{}, &cli.Error{Code: cli.Usage, Err: err}
	}
	now := (&project.Project{Dir: dir, File: file, Task: t}).Record(s.Revision)
	return append([]metric.Rule{}, now.Recipe.Metrics...), now.Objective, nil
}

// commandRules returns the rules of a sweep of a typed command, with those that options name.
func (o *rereadOptions) commandRules(s api.Sweep) (rules []metric.Rule,
	objective metric.Objective, err error) {
	command := definition.Command{Argv: s.Record.Recipe.Command, Flags: "none",
		Objective: o.objective}
	if command.Metrics, err = project.ParseMetrics(o.rules); err != nil {
		return nil, objective, err
	}
	file, _, err := definition.OfCommand(command, site.Reserved())
	if err != nil {
		return nil, objective, &cli.Error{Code: cli.Usage, Err: err}
	}
	now := (&project.Project{File: file, Task: file.Tasks[0]}).Record(s.Revision)
	rules = append(rules, now.Recipe.Metrics...)
	for _, had := range s.Record.Recipe.Metrics {
		if _, replaced := command.Metrics[had.Name]; !replaced {
			rules = append(rules, had)
		}
	}
	if objective = s.Record.Objective; command.Objective != "" {
		objective = now.Objective
	}
	return rules, objective, nil
}

// rereadExample is a command that reads a metric of a sweep whose command was typed.
func rereadExample(self, sweep string) string {
	return self + " results --metric 'loss=loss: (\\S+)' --objective 'minimize loss' " + sweep
}
