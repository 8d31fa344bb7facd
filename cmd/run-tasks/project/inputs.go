package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/projects"
	"mlframework/sweep/argv"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/fault"
	"mlframework/sweep/human"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// styleOf is how a definition's parameters stand on a command line.
func styleOf(t definition.Task) space.Style {
	return space.Style{Space: t.FlagsSpace, Switch: space.SwitchForm(t.Switch), Form: space.Form(t.Flags)}
}

// namesOf are the names of parameters, in the order of their files, each once.
func NamesOf(spaces ...*space.Space) (names []string) {
	for _, s := range spaces {
		if s == nil {
			continue
		}
		for _, p := range s.Parameters() {
			if !slices.Contains(names, p.Name()) {
				names = append(names, p.Name())
			}
		}
	}
	return names
}

// optionalOf are the names of parameters that some points lack.
func optionalOf(spaces ...*space.Space) (names []string) {
	for _, s := range spaces {
		for _, p := range s.Parameters() {
			if p.Conditional() {
				names = append(names, p.Name())
			}
		}
	}
	return names
}

// setInputs puts into a recipe how the program takes its parameters.
func (p *Project) setInputs(r *task.Recipe) {
	r.Env = map[string]string{}
	for _, v := range slices.Concat(p.File.Env, p.Task.Env) {
		r.Env[v.Name] = v.Value
	}
	for _, value := range r.Env {
		r.EnvBraces = r.EnvBraces || strings.ContainsAny(value, "{}")
	}
	form := space.Form(p.Task.Flags)
	r.ReadsParameters = form == space.Env || form == space.None && argv.ReadsEnvironment(r.Command)
}

// checkInputs finds parameters that the program would not get, and what tasks.yml names that is no
// parameter.
func (p *Project) checkInputs() error {
	r := p.Record("")
	wrong, notes := argv.Check(r.Recipe, r.Style, NamesOf(p.Space), optionalOf(p.Space)...)
	for _, n := range notes {
		p.Notes = append(p.Notes, p.placed(n).String())
	}
	var faults fault.List
	for _, w := range wrong {
		faults.Add(p.placed(w))
	}
	if err := faults.Err(); err != nil || r.Recipe.File == nil {
		return err
	}
	var err error
	if p.Config, err = p.readConfig(*r.Recipe.File); err != nil {
		return err
	}
	differ, err := checkConfig(p.named, r, p.Config, p.Space)
	for _, n := range differ {
		p.Notes = append(p.Notes, n.String())
	}
	return err
}

// readConfig reads the file that takes the parameters.
func (p *Project) readConfig(f task.File) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(f.From)))
	if err != nil {
		at := p.Task.Places["file"]
		at.Problem += strconv.Quote(f.From) + ": " + human.Cause(err)
		at.Remedy = "name a file of the project"
		return nil, fault.List{at}
	}
	return text, nil
}

// mostTypes is how many values of a parameter are compared with what a file has.
const mostTypes = 1000

// checkConfig finds what is wrong with a file of the project that takes the parameters of spaces,
// and notes types that change.
func checkConfig(dir string, r core.Record, text []byte, spaces ...*space.Space) ([]fault.Fault,
	error) {
	var all []argv.Values
	for _, s := range spaces {
		for _, p := range s.Parameters() {
			v := argv.Values{Name: p.Name()}
			for i := range min(p.Len(), mostTypes) {
				v.All = append(v.All, p.Value(i))
			}
			all = append(all, v)
		}
	}
	notes, err := argv.CheckFile(*r.Recipe.File, text, all, r.Recipe.NoArguments())
	faults, _ := errors.AsType[fault.List](err)
	for i := range notes {
		notes[i].File = filepath.Join(dir, notes[i].File)
	}
	for i := range faults {
		faults[i].File = filepath.Join(dir, faults[i].File)
	}
	return notes, err
}

// placed is a problem at its place in the project's files.
func (p *Project) placed(w argv.Problem) fault.Fault {
	if p.Typed {
		words := strings.NewReplacer("flags: ", "--as ", "command or env", "the command")
		return fault.Fault{File: definition.CommandLine, Problem: words.Replace(w.Text),
			Remedy: words.Replace(w.Remedy)}
	}
	f := fault.Fault{File: filepath.Join(p.named, definition.FileName), Problem: "tasks." +
		p.Task.Name + "." + w.At + ": "}
	switch {
	case w.At == "":
		f = fault.Fault{File: filepath.Join(p.named, filepath.FromSlash(p.Task.Parameters))}
	case p.Task.Places[w.At].Line > 0:
		f = p.Task.Places[w.At]
	case p.File.Places[w.At].Line > 0:
		f = p.File.Places[w.At]
		w.Text += ", of " + p.Task.Name
		w.Remedy += "; a variable of some tasks only goes into their own env"
	}
	f.Problem, f.Remedy = f.Problem+w.Text, w.Remedy
	return f
}

// checkInputsOf says why points of a space cannot be given to the program of a sweep's record.
func checkInputsOf(id, dir string, r core.Record, spaces ...*space.Space) error {
	if f := r.Recipe.File; f != nil {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.From)))
		if err == nil {
			_, err = checkConfig(dir, r, text, spaces...)
		}
		if err != nil {
			return err
		}
	}
	wrong, _ := argv.Check(r.Recipe, r.Style, NamesOf(spaces...), optionalOf(spaces...)...)
	if len(wrong) == 0 {
		return nil
	}
	w := wrong[0]
	if w.At != "" {
		w.At += ": "
	}
	return &cli.Error{Code: cli.Invalid, Err: fmt.Errorf("%s of %s: %s%s", definition.FileName, id,
		w.At, w.Text), Remedy: w.Remedy}
}

// ownFileNote is the note that tasks see a parameters.json of the project's, unless it takes their
// parameters.
func ownFileNote(m *projects.Manifest, r task.Recipe) []string {
	if r.File != nil && r.File.To == task.ParametersFile {
		return nil
	}
	own := slices.ContainsFunc(m.Entries, func(e projects.Entry) bool {
		return e.Path == task.ParametersFile
	})
	if !own || slices.Contains(r.Outputs, task.ParametersFile) {
		return nil
	}
	return []string{fmt.Sprintf("the project has its own %[1]s: tasks see that one, and "+
		"find their parameters in variables %[2]s... only; "+
		"rename it, or write outputs: [%[1]s], for theirs", task.ParametersFile, argv.Prefix)}
}
