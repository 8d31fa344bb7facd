package project

import (
	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/space"
)

// Extension is a sweep and what its project's parameters have more.
type Extension struct {
	Sweep  api.Sweep
	Now    Current
	Notes  []string     // for the user to read before anything runs
	Change space.Change // of the parameters file
	By     api.Extension
	Record core.Record // with it
	Tasks  int64       // that it adds
}

// Extension compares what the project's parameters are now, as the overrides of a sweep and a
// change of those make them, with those of the sweep. The sweep keeps the options of the change,
// and not the values that it sets: those are of this extension.
func (o Update) Extension(s api.Sweep, change space.Change, limited bool) (e Extension, err error) {
	r := s.Record
	if r.CommandLine && r.Overrides == nil {
		return e, cli.Wrong("run the command again with them", "%s has no parameters that could "+
			"get more values", s.ID)
	}
	if r.EachWorker || r.ParametersFile == "" && !r.CommandLine {
		return e, cli.Wrong("submit it again instead", "%s is a sweep without a parameters file: "+
			"there is nothing to extend it by", s.ID)
	}
	if s.State == core.Cancelled {
		return e, &core.WrongState{ID: s.ID, Is: "cancelled", Remedy: "`run-tasks retry " + s.ID +
			"` runs what was cancelled; then it can be extended"}
	}
	e.Sweep = s
	if e.Now, err = o.Current(s); err != nil {
		return e, err
	}
	e.Change = overrides(r.Overrides, change, limited)
	p := &Project{Task: definition.Task{Name: s.Definition, Parameters: r.ParametersFile},
		change: e.Change}
	if r.CommandLine {
		err = p.setParameters(namesSet(*r.Overrides))
	} else if err = p.readParameters(e.Now.Dir); err != nil {
		err = e.Now.unreadable(err)
	}
	if err != nil {
		return e, err
	}
	if p.Space.Counted() && !r.Recipe.CountsRepeats {
		return e, cli.Wrong("submit a new sweep", "%s was submitted without a number of repeats, "+
			"and extend cannot add one", s.ID)
	}
	e.Notes = append(p.Notes, e.Now.Notes()...)
	if r.Overrides != nil {
		e.Notes = append(e.Notes, s.ID+" is extended with "+Words(p.change.Arguments()))
	}
	change.Set = nil
	kept := overrides(r.Overrides, change, limited)
	e.By.Space, e.By.Overrides = p.Space, &kept
	if err := checkInputsOf(s.ID, e.Now.Dir, e.Now.Record(r), p.Space); err != nil {
		return e, err
	}
	if e.Record, e.Tasks, err = r.Extended(p.Space); err != nil {
		err = cli.Wrong("submit what is new as a sweep of its own", "%s cannot be extended: %w",
			s.ID, err)
	}
	return e, err
}

// overrides are those with which a sweep is extended: its own, but for what is given now. Limited
// says that a limit is.
func overrides(was *space.Change, now space.Change, limited bool) space.Change {
	if was == nil {
		return now
	}
	all := was.Then(now)
	if limited {
		all.Limit = now.Limit
	}
	return all
}
