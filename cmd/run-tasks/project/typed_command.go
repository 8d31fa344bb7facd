package project

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/sweep/definition"
	"mlframework/sweep/space"
)

// ParseMetrics returns the patterns of metrics, by their names, of options NAME=REGEX.
func ParseMetrics(rules []string) (map[string]string, error) {
	metrics := map[string]string{}
	for _, rule := range rules {
		name, pattern, is := strings.Cut(rule, "=")
		if !is || name == "" {
			return nil, cli.Wrong("write NAME=REGEX, such as --metric 'loss=loss: (\\S+)'",
				"--metric %s: a regular expression is missing", rule)
		}
		metrics[name] = pattern
	}
	return metrics, nil
}

// splitParameters splits a command into its words and NAME=VALUE words, which set parameters. The
// program, words that begin with "-", and the script after "-c" are words whatever they contain.
func splitParameters(argv []string) (words, set []string) {
	for i, word := range argv {
		name, _, is := strings.Cut(word, "=")
		if i > 0 && is && name != "" && !strings.HasPrefix(word, "-") && argv[i-1] != "-c" {
			set = append(set, word)
		} else {
			words = append(words, word)
		}
	}
	return words, set
}

// readCommand makes a project of a command that was typed after "--", and of the folder that it is
// to run in.
func (o Options) readCommand() (*Project, error) {
	words, set := splitParameters(o.Argv)
	change := o.Change
	change.Set = append(change.Set, set...)
	names := namesSet(change)
	command := definition.Command{Argv: words, Flags: cmp.Or(o.As, "equals"), Parameters: names,
		Objective: o.Objective}
	if !slices.Contains(definition.Forms, command.Flags) {
		return nil, cli.Wrong("write "+strings.Join(definition.Forms, ", "),
			"--as %s: there is no such form", command.Flags)
	}
	var err error
	if command.Metrics, err = ParseMetrics(o.Metrics); err != nil {
		return nil, err
	}
	file, notes, err := definition.OfCommand(command, site.Reserved())
	if err != nil {
		return nil, &cli.Error{Code: cli.Usage, Err: err}
	}
	p := &Project{named: o.Dir, File: file, Task: file.Tasks[0], Space: new(space.Space),
		change: change, Typed: true}
	if p.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	for _, n := range notes {
		p.Notes = append(p.Notes, n.String())
	}
	if len(names) > 0 || len(change.Repeat) > 0 {
		if err := p.setParameters(names); err != nil {
			return nil, err
		}
	}
	p.noteOwnOptions(words)
	if len(names) == 0 {
		p.noteValueLists(words)
	}
	if err := p.checkInputs(); err != nil {
		return nil, &cli.Error{Code: cli.Usage, Err: err}
	}
	return p, nil
}

// namesSet returns the names of the parameters that a change sets, each once.
func namesSet(change space.Change) (names []string) {
	for _, word := range change.Set {
		if name, _, _ := strings.Cut(word, "="); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// setParameters makes the space of a command that has parameters of some names. The project's
// change has their values.
func (p *Project) setParameters(names []string) error {
	var data strings.Builder // a line for each parameter, whose value the change replaces
	for _, name := range names {
		fmt.Fprintf(&data, "%q: 0\n", name)
	}
	s, notes, err := space.Read(definition.CommandLine, []byte(data.String()), p.change)
	if err != nil {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	p.Space = s
	for _, n := range notes {
		p.Notes = append(p.Notes, n.String())
	}
	return nil
}

// valueLists matches values that may be meant as those of several tasks.
var valueLists = regexp.MustCompile(`^([\w.+-]+(,[\w.+-]+)+|-?\d+\.\.-?\d+)$`)

// ownOptions are options of run-tasks that may have been meant where a command has them.
var ownOptions = []string{"--gpus", "--slots", "--detach", "--metric", "--objective", "--repeat",
	"--missing", "--keep-going", "--no-output"}

// noteOwnOptions notes options of a command that may be meant for run-tasks.
func (p *Project) noteOwnOptions(argv []string) {
	for _, word := range argv[1:] {
		if option, _, _ := strings.Cut(word, "="); slices.Contains(ownOptions, option) {
			p.Notes = append(p.Notes, option+" is passed to the command; an option of run-tasks "+
				"stands before --")
		}
	}
}

// noteValueLists notes options of a command without parameters that have several values.
func (p *Project) noteValueLists(argv []string) {
	for i, word := range argv {
		option, values, is := strings.Cut(word, "=")
		as := ""
		if !is && i+1 < len(argv) {
			values, as = argv[i+1], ", and --as space before --"
			word += " " + values
		}
		if name, is := strings.CutPrefix(option, "--"); is && valueLists.MatchString(values) {
			p.Notes = append(p.Notes, fmt.Sprintf("%s is passed to one task as it is; for a task "+
				"with each value, write %s=%s%s", word, name, values, as))
		}
	}
}
