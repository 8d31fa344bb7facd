package guess

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Files of a project, in YAML.
type Files struct {
	Tasks      string
	Parameters string   // "": the program has no parameters that are known
	Fill       []string // the parameters whose values the user has to fill in
	Count      int      // of the tasks
}

// ParametersFile is the name of the parameters file.
const ParametersFile = "parameters.yml"

// mostDefaults is the maximum number of parameters that are listed with their defaults.
const mostDefaults = 8

// Write returns files that run a program as the definition of a name. The programs beside it are
// listed as comments.
func (p *Program) Write(name string, beside []Program) Files {
	f := Files{Count: 1}
	chosen := choose(p.Options)
	if len(chosen) > 0 {
		f.Parameters = p.parameters(chosen, &f)
	}
	var b strings.Builder
	b.WriteString("tasks:\n  " + name + ":\n")
	for _, l := range p.lines(chosen) {
		b.WriteString("    " + l + "\n")
	}
	for i, o := range beside {
		if i == 0 {
			b.WriteString("\n  # Other programs of this folder:\n")
		} else if i == 4 {
			break
		}
		fmt.Fprintf(&b, "  #%s:\n  #  %s\n",
			strings.TrimSuffix(o.Path[strings.LastIndexByte(o.Path, '/')+1:], ".py"), o.command())
	}
	f.Tasks = b.String()
	return f
}

func (p *Program) command() string {
	words := p.Command()
	for i, w := range words {
		words[i] = scalar(w)
	}
	return "command: [" + strings.Join(words, ", ") + "]"
}

// lines returns the keys of the program's definition.
func (p *Program) lines(chosen map[string][]string) (lines []string) {
	var variables []string
	var negated []string
	for _, o := range p.Options {
		if p.variables && chosen[o.Name] != nil {
			variables = append(variables, o.Name+`: "{`+o.Name+`}"`)
		}
		if o.Type == "bool" && !slices.Contains(negated, o.negated) {
			negated = append(negated, o.negated)
		}
	}
	add := func(line string) { lines = append(lines, line) }
	add(p.command())
	if len(chosen) > 0 {
		add("parameters: parameters.yml")
	} else {
		add("#parameters: parameters.yml    # a file with lines such as lr: [0.1, 0.01]")
	}
	switch {
	case p.Library == "hydra":
		add("flags: hydra                   # lr=0.1")
	case p.variables && len(variables) > 0:
		add("flags: none")
		add("# The variables that the script reads, each with the name of its parameter:")
		add("env: {" + strings.Join(variables, ", ") + "}")
	case p.Library == "argparse" || p.Library == "click" || p.Library == "absl":
		add("#flags: equals                 # --lr=0.1; or space, hydra, env, none")
	}
	if len(negated) == 1 && negated[0] != "" && p.Library != "hydra" {
		add("switch: " + negated[0])
	}
	return append(lines, p.metricLines()...)
}

func (p *Program) metricLines() (lines []string) {
	if len(p.Metrics) == 0 {
		return []string{"# A number that the program prints, to rank the results by:",
			`#metrics: {loss: 'loss: ([-+.\w]+)'}`, "#objective: minimize loss"}
	}
	lines = []string{"metrics:"}
	for _, m := range p.Metrics[:min(len(p.Metrics), 2)] {
		if m.Pattern == "" {
			lines = append(lines, "  "+m.Name+": {take: last}")
		} else {
			lines = append(lines, "  "+m.Name+": '"+m.Pattern+"'")
		}
	}
	direction := "minimize "
	if p.Metrics[0].Maximum {
		direction = "maximize "
	}
	return append(lines, "objective: "+direction+p.Metrics[0].Name)
}

// parameters returns the parameters file, and counts the tasks that it makes.
func (p *Program) parameters(chosen map[string][]string, f *Files) string {
	var lists, defaults strings.Builder
	var counts []string
	more, listed := 0, 0
	for _, o := range p.Options {
		values := chosen[o.Name]
		if values == nil && (o.Default == "" && len(o.Choices) == 0 && o.Type != "bool" ||
			listed == mostDefaults) {
			more++
			continue
		}
		if values == nil {
			fmt.Fprintf(&defaults, "#%s: %s%s\n", o.Name, o.example(), o.note())
			listed++
			continue
		}
		line := o.Name + ": " + o.scalar(values[0])
		if len(values) > 1 {
			line = fmt.Sprintf("%s: [%s, %s]", o.Name, o.scalar(values[0]), o.scalar(values[1]))
			counts = append(counts, "2")
			f.Count *= 2
		}
		if values[0] == fillIn {
			f.Fill = append(f.Fill, o.Name)
		}
		lists.WriteString(line + o.note() + "\n")
	}
	head := "# One task runs.\n"
	if f.Count > 1 {
		head = fmt.Sprintf("# Every combination runs: %d tasks.\n", f.Count)
		if len(counts) > 1 {
			head = fmt.Sprintf("# Every combination runs: %s = %d tasks.\n",
				strings.Join(counts, " x "), f.Count)
		}
	}
	text := head + lists.String()
	if listed > 0 {
		text += "\n# Not changed. Remove the # to set one:\n" + defaults.String()
	}
	if len(p.several) > 0 {
		text += "# Options that take several words go into command in tasks.yml: " +
			strings.Join(p.several, ", ") + "\n"
	}
	if more > 0 && p.shell == "" && p.Library != "hydra" {
		text += fmt.Sprintf("# and %d more: python3 %s --help\n", more, p.Path)
	}
	return text
}

// example is what may be written for an option that is left at its default.
func (o Option) example() string {
	if o.Type == "bool" {
		return "[true, false]"
	}
	return o.scalar(o.start())
}

// note says what an option's value may be.
func (o Option) note() string {
	switch {
	case len(o.Choices) > 1:
		return "    # " + strings.Join(o.Choices[:min(len(o.Choices), 6)], ", ")
	case o.Default == "" && o.Required && o.Type != "bool":
		return "    # has no default"
	}
	return ""
}

// scalar writes a value of the option.
func (o Option) scalar(value string) string {
	if o.Type == "int" || o.Type == "float" || o.Type == "bool" {
		return value
	}
	return scalar(value)
}

var plainWord = regexp.MustCompile(`^(-[a-z]|[A-Za-z_./][\w./=-]*)$`)

// scalar writes a text in YAML.
func scalar(text string) string {
	if plainWord.MatchString(text) && !slices.Contains([]string{"true", "false", "null", "yes", "no",
		"on", "off", "y", "n", "inf", "nan"}, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

// WriteFull returns a tasks.yml with every key: that of the example project, for a program as the
// definition of a name.
func (p *Program) WriteFull(name, example string) string {
	chosen := choose(p.Options)
	keys := map[string]string{} // by the start of their lines, with or without a #
	metrics := ""
	for _, l := range p.lines(chosen) {
		key, _, _ := strings.Cut(strings.TrimPrefix(l, "#"), ":")
		switch {
		case key == "metrics" || metrics != "":
			metrics += "    " + l + "\n"
		case !strings.HasPrefix(key, " "):
			keys[key] = "    " + l + "\n"
		}
	}
	echo := exampleEcho.ReplaceAllStringFunc(example, func(lines string) string {
		return strings.NewReplacer("\n  ", "\n  #", "  test_echo", "  #test_echo").Replace(lines)
	})
	text := strings.ReplaceAll(echo, "run_training", name)
	text = exampleMetrics.ReplaceAllLiteralString(text, metrics)
	definition := strings.LastIndex(text, "\n  "+name+":\n")
	own := func(line string) string {
		key, rest, _ := strings.Cut(strings.TrimLeft(line, " #"), ":")
		return cmp.Or(keys[key], "    #"+key+":"+rest) // a time limit of the example is not wanted
	}
	return text[:definition] + exampleKey.ReplaceAllStringFunc(text[definition:], own)
}

var (
	exampleEcho    = regexp.MustCompile(`(?s)  test_echo:\n.*?each: worker\n`)
	exampleMetrics = regexp.MustCompile(`(?s)    metrics:\n.*?objective: [^\n]*\n`)
	exampleKey     = regexp.MustCompile(`(?m)^    #?(?:command|parameters|flags|env|switch|timeout|grace|` +
		`retry): [^\n]*\n`)
)
