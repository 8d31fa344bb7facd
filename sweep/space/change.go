package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
)

// Change is what a command line changes of a parameters file, for one sweep. The zero value changes
// nothing. A fault in one of its texts has that text as its file.
type Change struct {
	// Set has NAME=VALUE, the value in the language of parameters.yml: lr=0.1,0.01 is a list,
	// epoch=[1,5) an interval, augment=true a switch, name="a,b" in quotes text, lr=!log [1e-4,
	// 1e-1, 4] a range.
	Set []string `json:"set,omitempty"`
	// Repeat has NAME, which marks a parameter as one that only repeats, NAME=VALUE, which also
	// sets or adds it, or a number N, which runs each combination N times (see RepeatName).
	Repeat []string `json:"repeat,omitempty"`
	Sample *int64   `json:"sample,omitempty"` // so many combinations; nil: as the file has it
	Seed   *int64   `json:"seed,omitempty"`   // of the sample
	// only the first so many points of what there is then; 0: all
	Limit int64 `json:"limit,omitempty"`
}

// change applies a change to the outline of a file.
func (r *reader) change(o *outline, c Change) {
	r.altered = true
	names := o.names()
	for _, text := range c.Set {
		r.set(o, names, text, text, false)
	}
	for _, text := range c.Repeat {
		name, _, sets := strings.Cut(text, "=")
		label := "--repeat " + text
		if sets {
			r.set(o, names, text, label, true)
			names = append(names, name)
		}
		r.repeats = append(r.repeats, argument{label, name})
	}
	r.changed = c
	r.faults = append(r.faults, c.Check()...)
}

// Check tells of numbers of a change that are out of range, which Read refuses, too.
func (c Change) Check() (faults fault.List) {
	refuse := func(option string, n, least, most int64) {
		f := fault.Fault{File: option + " " + strconv.FormatInt(n, 10)}
		switch {
		case n < least:
			f.Problem, f.Remedy = "it must be at least "+strconv.FormatInt(least, 10),
				"write a greater number"
		case most > 0 && n > most:
			f.Problem, f.Remedy = strconv.FormatInt(most, 10)+" is the most",
				"write a smaller number"
		default:
			return
		}
		faults.Add(f)
	}
	if c.Sample != nil {
		refuse("--sample", *c.Sample, 1, mostSampled)
	}
	if c.Seed != nil {
		refuse("--sample-seed", *c.Seed, 0, 0)
	}
	refuse("--limit", c.Limit, 0, 0)
	return faults
}

// argument is a text of a command line, and the parameter that it names.
type argument struct{ label, name string }

// names returns all names of parameters in a file, each once.
func (o *outline) names() (names []string) {
	add := func(all []entry) {
		for _, e := range all {
			if !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	add(o.entries)
	add(o.defaults)
	if o.rows != nil { // else what no parameter has is a fault
		add(o.completing)
	}
	for _, row := range o.rows {
		add(row.entries)
	}
	return names
}

// set puts the value of NAME=VALUE in the place of that which a parameter has.
func (r *reader) set(o *outline, names []string, text, label string, adds bool) {
	name, value, is := strings.Cut(text, "=")
	wrong := func(problem, remedy string) {
		r.faults.Add(fault.Fault{File: label, Problem: problem, Remedy: remedy})
	}
	if problem, remedy := nameProblem(name); !is || problem != "" {
		if !is {
			problem, remedy = "no value is set", "write NAME=VALUE, such as lr=0.1,0.01"
		}
		wrong(problem, remedy)
		return
	}
	if r.changes[name] {
		wrong(show(name)+" is set twice", "set it once; several values stand in one: "+name+"=1,2")
		return
	}
	if !adds && !slices.Contains(names, name) {
		problem, remedy := unknownName(name, names)
		if strings.HasPrefix(remedy, "name one of") {
			remedy += ", or add it to the file"
		}
		wrong(problem, remedy)
		return
	}
	e, before, problem, remedy := settingOf(name, value)
	if problem != "" {
		wrong(problem, remedy)
		return
	}
	r.changes[name] = true
	before -= utf8.RuneCountInString(label) - utf8.RuneCountInString(value)
	for _, n := range []*yaml.Node{e.Key, e.Value} {
		r.labels[n] = fault.Fault{File: label}
		for _, inner := range n.Content {
			r.foreign(inner, label, before)
		}
	}
	o.replace(e)
}

// foreign says that a node is not one of the file but stands in an argument, so many columns before
// where it was read.
func (r *reader) foreign(n *yaml.Node, label string, before int) {
	r.labels[n] = fault.Fault{File: label, Column: n.Column - before}
	for _, inner := range n.Content {
		r.foreign(inner, label, before)
	}
}

// replace puts an entry in the place of the one with its name, and of a default for it; one of a
// list of points leaves it, and stands behind the list.
func (o *outline) replace(e entry) {
	same := func(of entry) bool { return of.Name == e.Name }
	o.completing = slices.DeleteFunc(slices.Clone(o.completing), same)
	if i := slices.IndexFunc(o.entries, same); i >= 0 {
		o.entries = slices.Clone(o.entries)
		o.entries[i] = e
		return
	}
	o.defaults = slices.DeleteFunc(slices.Clone(o.defaults), same)
	for i := range o.rows {
		o.rows[i].entries = slices.DeleteFunc(slices.Clone(o.rows[i].entries), same)
	}
	o.entries = append(o.entries, e)
}

// settingOf parses a value as it would stand behind a key. The columns of its nodes are those in
// the value and so many more.
func settingOf(name, text string) (e entry, more int, problem, remedy string) {
	const quote = "put the value in quotes of its own if it is text: "
	const key = "v: "
	more = len(key) - (len(text) - len(strings.TrimLeft(text, " ")))
	text = strings.TrimSpace(text)
	commas, comment := scan(text)
	switch {
	case text == "":
		return e, 0, show(name) + ": no value", `write one, or "" for an empty text: ` + name +
			`='""'`
	case strings.ContainsAny(text, "\n\r"):
		return e, 0, show(name) + ": the value has several lines",
			"write it into the parameters file"
	case comment:
		return e, 0, show(name) + ": # begins a comment", quote + name + `='"` + text + `"'`
	case commas:
		text = "[" + text + "]"
		more++
	}
	documents, wrong := documentsOf(key + text)
	if wrong != nil {
		return e, 0, show(name) + ": " + wrong.Problem, quote + name + `='"` + strings.Trim(text,
			"[]") + `"'`
	}
	top := documents[0].Content[0]
	if len(documents) != 1 || top.Kind != yaml.MappingNode || len(top.Content) != 2 {
		return e, 0, show(name) + ": " + show(text) + " is not a value",
			quote + name + `='"` + text + `"'`
	}
	return entry{Name: name, Key: top.Content[0], Value: top.Content[1]}, more, "", ""
}

// scan reports whether text has a comma outside quotes and brackets, and whether it has a comment.
func scan(text string) (comma, comment bool) {
	depth, quote, before := 0, rune(0), ' '
	for _, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.ContainsRune(" ,[{", before):
			quote = c
		case c == '[' || c == '{' || c == '(':
			depth++
		case c == ']' || c == '}' || c == ')':
			depth--
		case c == ',' && depth == 0:
			comma = true
		case c == '#' && before == ' ':
			comment = true
		}
		before = c
	}
	return comma, comment
}

// changeWalk takes what a command line says of how the combinations are walked.
func (d *draft) changeWalk() {
	for _, a := range d.repeats {
		if n, is := repeatCount(a.name); is {
			key := &yaml.Node{Kind: yaml.ScalarNode, Value: a.name}
			if problem, remedy := d.countRepeats(n, entry{Name: RepeatName, Key: key,
				Value: key}); problem != "" {
				d.faults.Add(fault.Fault{File: a.label, Problem: problem, Remedy: remedy})
			}
			continue
		}
		p, ok := d.index[a.name]
		switch {
		case !ok && !slices.Contains(d.names, a.name):
			problem, remedy := unknownName(a.name, d.names)
			d.faults.Add(fault.Fault{File: a.label, Problem: problem, Remedy: remedy})
		case !ok || slices.Contains(d.plan.repeats, p):
		case d.isZipped(p):
			d.faults.Add(fault.Fault{File: a.label, Problem: show(a.name) + zippedRepeat,
				Remedy: "take it out of zip"})
		default:
			d.plan.repeats = append(d.plan.repeats, p)
		}
	}
	if d.changed.Sample != nil {
		s := sample{Combinations: *d.changed.Sample, Seed: d.seed}
		d.plan.sample = &s
	}
	if d.changed.Seed != nil && d.plan.sample != nil {
		s := sample{Combinations: d.plan.sample.Combinations, Seed: *d.changed.Seed}
		d.plan.sample = &s
	} else if d.changed.Seed != nil {
		d.notes.Add(fault.Fault{File: fmt.Sprintf("--sample-seed %d", *d.changed.Seed),
			Problem: "nothing is drawn without a sample"})
	}
}

// limit takes what a command line leaves of the points.
func (d *draft) limit(s *Space) {
	if n := d.changed.Limit; n > 0 && n < s.Len() {
		s.plan.limit = n
	}
}

// IsZero reports whether nothing is changed.
func (c Change) IsZero() bool {
	return len(c.Set) == 0 && len(c.Repeat) == 0 && c.Sample == nil && c.Seed == nil && c.Limit == 0
}

// OnlyRepeats reports whether a change only sets how often each combination runs. Such a change
// needs no parameters file.
func (c Change) OnlyRepeats() bool {
	if len(c.Repeat) != 1 || len(c.Set) > 0 || c.Sample != nil || c.Seed != nil {
		return false
	}
	_, is := repeatCount(c.Repeat[0])
	return is
}

// Arguments returns the words of a command line that say the change.
func (c Change) Arguments() []string {
	words := slices.Clone(c.Set)
	for _, text := range c.Repeat {
		words = append(words, "--repeat", text)
	}
	option := func(name string, n *int64) {
		if n != nil {
			words = append(words, name, strconv.FormatInt(*n, 10))
		}
	}
	option("--sample", c.Sample)
	option("--sample-seed", c.Seed)
	if c.Limit > 0 {
		option("--limit", &c.Limit)
	}
	return words
}

// Then returns the change that says what c does but for what later says: of each parameter, and of
// the sample and its seed, the later one counts. A parameter that was added only to repeat goes on
// to. The limit is that of c.
func (c Change) Then(later Change) Change {
	c.Set, c.Repeat = slices.Clone(c.Set), slices.Clone(c.Repeat)
	for _, text := range later.Set {
		if i := indexOf(c.Repeat, nameOf(text)); i >= 0 && c.Repeat[i] != nameOf(text) {
			c.Repeat[i] = text
			continue
		}
		c.Set = replaced(c.Set, text)
	}
	for _, text := range later.Repeat {
		i := indexOf(c.Repeat, nameOf(text))
		if !strings.Contains(text, "=") && i >= 0 {
			continue
		}
		if strings.Contains(text, "=") {
			c.Set = slices.DeleteFunc(c.Set, func(set string) bool {
				return nameOf(set) == nameOf(text)
			})
		}
		c.Repeat = replaced(c.Repeat, text)
	}
	if later.Sample != nil {
		c.Sample = later.Sample
	}
	if later.Seed != nil {
		c.Seed = later.Seed
	}
	return c
}

// nameOf returns the parameter of NAME=VALUE or NAME.
func nameOf(text string) string {
	name, _, _ := strings.Cut(text, "=")
	return name
}

func indexOf(all []string, name string) int {
	return slices.IndexFunc(all, func(text string) bool { return nameOf(text) == name })
}

// replaced returns all with a text instead of that of the same name, or behind the others.
func replaced(all []string, text string) []string {
	if i := indexOf(all, nameOf(text)); i >= 0 {
		all[i] = text
		return all
	}
	return append(all, text)
}
