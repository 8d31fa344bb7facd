package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
	"mlframework/sweep/space"
)

// manyFiles is from how many files on a folder may not be meant as a project.
const manyFiles = 2000

// adHocFlags are the options of a command after "--".
func adHocFlags() []cliv2.Flag {
	return []cliv2.Flag{
		metricFlag("with a command after --: "),
		&cliv2.StringFlag{Name: "objective", Usage: "with a command after --: rank tasks by an " +
			"`OBJECTIVE` such as \"maximize accuracy\""},
		&cliv2.StringFlag{Name: "as", DefaultText: "equals",
			Usage: "with a command after --: pass parameters as `FORM`: equals, space, hydra, " +
				"env or none"},
		cli.Switch("yes", "with a command after --: do not ask whether this folder is a project"),
	}
}

// metricFlag is the option that names metrics; when says in which case it has an effect.
func metricFlag(when string) cliv2.Flag {
	return &cliv2.StringSliceFlag{Name: "metric", Usage: when + "read the metric `NAME=REGEX` " +
		"from its output; repeatable"}
}

// parseMetrics returns the patterns of metrics, by their names, of options NAME=REGEX.
func parseMetrics(rules []string) (map[string]string, error) {
	metrics := map[string]string{}
	for _, rule := range rules {
		name, pattern, is := strings.Cut(rule, "=")
		if !is || name == "" {
			return nil, cli.Wrong("write NAME=REGEX, such as --metric 'loss=loss: ([0-9.]+)'",
				"--metric %s: a regular expression is missing", rule)
		}
		metrics[name] = pattern
	}
	return metrics, nil
}

// splitCommand splits off the command after "--", unless a subcommand comes before that.
func splitCommand(app *cliv2.App, args []string) (own, argv []string) {
	at := slices.Index(args, "--")
	if at < 0 || cli.NamesCommand(app, args[1:at]) {
		return args, nil
	}
	return args[:at], append([]string{}, args[at+1:]...)
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
func (o projectOptions) readCommand() (*project, error) {
	words, set := splitParameters(o.argv)
	change := o.change
	change.Set = append(change.Set, set...)
	names := namesSet(change)
	command := definition.Command{Argv: words, Flags: cmp.Or(o.as, "equals"), Parameters: names,
		Objective: o.objective}
	if !slices.Contains(definition.Forms, command.Flags) {
		return nil, cli.Wrong("write "+strings.Join(definition.Forms, ", "),
			"--as %s: there is no such form", command.Flags)
	}
	var err error
	if command.Metrics, err = parseMetrics(o.metrics); err != nil {
		return nil, err
	}
	file, notes, err := definition.OfCommand(command, site.Reserved())
	if err != nil {
		return nil, &cli.Error{Code: cli.Usage, Err: err}
	}
	p := &project{named: o.dir, file: file, task: file.Tasks[0], space: new(space.Space),
		change: change, typed: true}
	if p.dir, err = filepath.Abs(o.dir); err != nil {
		return nil, err
	}
	for _, n := range notes {
		p.notes = append(p.notes, n.String())
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
func (p *project) setParameters(names []string) error {
	var data strings.Builder // a line for each parameter, whose value the change replaces
	for _, name := range names {
		fmt.Fprintf(&data, "%q: 0\n", name)
	}
	s, notes, err := space.Read(definition.CommandLine, []byte(data.String()), p.change)
	if err != nil {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	p.space = s
	for _, n := range notes {
		p.notes = append(p.notes, n.String())
	}
	return nil
}

// valueLists matches values that may be meant as those of several tasks.
var valueLists = regexp.MustCompile(`^([\w.+-]+(,[\w.+-]+)+|-?\d+\.\.-?\d+)$`)

// ownOptions are options of run-tasks that may have been meant where a command has them.
var ownOptions = []string{"--gpus", "--slots", "--detach"}

// noteOwnOptions notes options of a command that may be meant for run-tasks.
func (p *project) noteOwnOptions(argv []string) {
	for _, word := range argv[1:] {
		if option, _, _ := strings.Cut(word, "="); slices.Contains(ownOptions, option) {
			p.notes = append(p.notes, option+" is passed to the command; an option of run-tasks "+
				"stands before --")
		}
	}
}

// noteValueLists notes options of a command without parameters that have several values.
func (p *project) noteValueLists(argv []string) {
	for i, word := range argv {
		option, values, is := strings.Cut(word, "=")
		as := ""
		if !is && i+1 < len(argv) {
			values, as = argv[i+1], ", and --as space before --"
			word += " " + values
		}
		if name, is := strings.CutPrefix(option, "--"); is && valueLists.MatchString(values) {
			p.notes = append(p.notes, fmt.Sprintf("%s is passed to one task as it is; for a task "+
				"with each value, write %s=%s%s", word, name, values, as))
		}
	}
}

// checkProjectFolder asks before the files of a folder that is hardly a project are copied.
func (o submitOptions) checkProjectFolder(ctx context.Context, t *terminal, p *project) error {
	dir := p.dir
	if o.asPushed || exists(filepath.Join(dir, definition.FileName)) {
		return nil
	}
	what := ""
	if home, err := os.UserHomeDir(); err == nil && dir == filepath.Clean(home) {
		what = "your home folder"
	} else if dir == "/" {
		what = "the root folder"
	} else {
		m, err := p.list(ctx)
		if err != nil {
			return err
		}
		if len(m.Entries) > manyFiles {
			what = fmt.Sprintf("a folder with %s files", human.Thousands(len(m.Entries)))
		}
	}
	if what == "" {
		return nil
	}
	question := fmt.Sprintf("%s is %s, and tasks get copies of its files. Run the command there?",
		cli.Visible(dir), what)
	switch agreed, asked := t.agrees(ctx, o.yes, question); {
	case !asked:
		return cli.Wrong("go to the project's folder, or name it with -d; confirm with --yes",
			"%s is %s, and tasks get copies of its files", cli.Visible(dir), what)
	case !agreed:
		return &cli.Error{Code: cli.Interrupted, Err: errors.New("nothing was run")}
	}
	return nil
}
