package guess

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Option is a parameter that a program takes.
type Option struct {
	Name     string
	Type     string   // int, float, str or bool; "": unknown
	Default  string   // as text; "": unknown or none
	Choices  []string // the values that it can have; nil: any
	Required bool     // the program does not run without it
	place    bool     // it is passed by its place, not by its name
	several  bool     // it takes several words, which no parameter can pass
	negated  string   // of a switch, how false is passed, as under `switch`; "": by leaving it out
}

var (
	argparseCall = regexp.MustCompile(`\.add_argument\s*\(`)
	clickCall    = regexp.MustCompile(`@(?:click\.)?(option|argument)\s*\(`)
	abslCall     = regexp.MustCompile(`\bDEFINE_(float|integer|string|bool|boolean|enum)\s*\(`)
	abslRequired = regexp.MustCompile(`\bmark_flags?_as_required\s*\(`)
	word         = regexp.MustCompile(`^[A-Za-z][\w.-]*$`)
)

// argparse returns the options that a program declares with argparse.
func (s source) argparse() (options []Option) {
	for _, c := range s.calls(argparseCall) {
		o := Option{Type: c.named["type"]}
		for _, p := range c.positional {
			o.name(p)
		}
		action, _ := literal(c.named["action"])
		switch {
		case strings.HasSuffix(c.named["action"], "BooleanOptionalAction"):
			o.Type, o.negated = "bool", "no"
		case action == "store_true" || action == "store_false":
			o.Type = "bool"
		case strings.Contains(o.Type, "bool"):
			o.Type, o.negated = "bool", "value"
		case action != "" && action != "store" && action != "append" && action != "extend":
			continue // it is no parameter
		}
		o.several = c.named["nargs"] != "" || action == "append" || action == "extend"
		o.value(c.named["default"])
		o.Choices = literals(c.named["choices"])
		o.Required = c.named["required"] == "True" || o.place && o.Default == ""
		options = o.addTo(options)
	}
	return options
}

// click returns the options that a program declares with click.
func (s source) click() (options []Option) {
	for _, c := range s.calls(clickCall) {
		o := Option{Type: strings.TrimPrefix(c.named["type"], "click.")}
		for _, p := range c.positional {
			name, _ := literal(p)
			if on, _, both := strings.Cut(name, "/--no-"); both {
				o.Type, o.negated = "bool", "no"
				p = `"` + on + `"`
			}
			if strings.HasPrefix(name, "-") || c.function == "argument" {
				o.name(p)
			}
		}
		if c.named["is_flag"] == "True" {
			o.Type = "bool"
		}
		if c.named["count"] == "True" {
			continue
		}
		o.several = c.named["nargs"] != "" || c.named["multiple"] == "True"
		if of, is := strings.CutPrefix(o.Type, "Choice("); is {
			o.Choices, o.Type = literals(of[:strings.LastIndexByte(of, ')')]), "str"
		}
		if kind := map[string]string{"INT": "int", "FLOAT": "float"}[o.Type]; kind != "" {
			o.Type = kind
		}
		o.value(c.named["default"])
		o.Required = c.named["required"] == "True" || o.place && o.Default == "" &&
			c.named["required"] != "False"
		options = o.addTo(options)
	}
	return options
}

// absl returns the options that a program declares with absl's flags, or those of TensorFlow.
func (s source) absl() (options []Option) {
	var required []string
	for _, c := range s.calls(abslRequired) {
		for _, p := range c.positional {
			name, _ := literal(p)
			required = append(append(required, name), literals(p)...)
		}
	}
	for _, c := range s.calls(abslCall) {
		if len(c.positional) < 2 {
			continue
		}
		name, _ := literal(c.positional[0])
		o := Option{Name: name}
		switch c.function {
		case "integer":
			o.Type = "int"
		case "float":
			o.Type = "float"
		case "bool", "boolean":
			o.Type, o.negated = "bool", "value"
		case "enum":
			if len(c.positional) > 2 {
				o.Choices = literals(c.positional[2])
			}
		}
		o.value(c.positional[1])
		o.Required = c.named["required"] == "True" || slices.Contains(required, name)
		options = o.addTo(options)
	}
	return options
}

// name takes a name of an option as the program declares it. Of several, the first long one is its
// name.
func (o *Option) name(declared string) {
	text, kind := literal(declared)
	bare := strings.TrimLeft(text, "-")
	switch {
	case kind != "str" || strings.HasPrefix(o.Name, "--"):
	case strings.HasPrefix(text, "--") || o.Name == "":
		o.Name = text
		o.place = bare == text
	}
}

// value takes the default of an option, which says its type, too.
func (o *Option) value(text string) {
	value, kind := literal(text)
	o.Default = value
	if !slices.Contains([]string{"int", "float", "str", "bool"}, o.Type) {
		o.Type = kind
	}
}

// addTo adds an option, unless its name is none or is known.
func (o Option) addTo(options []Option) []Option {
	if strings.HasPrefix(o.Name, "-") && !strings.HasPrefix(o.Name, "--") {
		return options // -e 3: no flag has this form
	}
	o.Name = strings.TrimLeft(o.Name, "-")
	if !word.MatchString(o.Name) || o.Name == "help" ||
		slices.ContainsFunc(options, func(other Option) bool { return other.Name == o.Name }) {
		return options
	}
	return append(options, o)
}

var argvWord = regexp.MustCompile(`(?m)^[ \t]*(\w+)\s*=\s*(?:(int|float|str)\()?\s*` +
	`sys\.argv\[(\d+)\]\)?` +
	`(?:\s+if\s.*?\selse\s+(\S+))?`)

// argv returns the parameters that a program takes by their places from sys.argv, in their order.
func (s source) argv() (options []Option) {
	for at := 1; ; at++ {
		known := len(options)
		for _, m := range argvWord.FindAllStringSubmatch(s.text, -1) {
			if m[3] == string(rune('0'+at)) {
				o := Option{Name: m[1], Type: m[2], place: true}
				o.value(m[4])
				o.Type = cmp.Or(o.Type, typeOfName(o.Name))
				o.Required = o.Default == ""
				options = o.addTo(options)
			}
		}
		if len(options) == known {
			return options
		}
	}
}

var (
	shellPlace    = regexp.MustCompile(`(?m)^[ \t]*(\w+)="?\$\{?([1-9])(?::?-([^}"\s]*))?\}?"?`)
	shellVariable = regexp.MustCompile(`\$\{(\w+):?-([^}"\s]*)\}`)
	shellWhole    = regexp.MustCompile(`"\$@"`)
)

// shell returns the parameters of a shell script: its arguments, and numbers that are taken from
// the environment if that has them. Variables reports that they are the latter.
func shell(text string) (options []Option, variables bool) {
	for at := 1; at <= 9; at++ {
		for _, m := range shellPlace.FindAllStringSubmatch(text, -1) {
			if m[2] == string(rune('0'+at)) && len(options) == at-1 {
				o := Option{Name: strings.ToLower(m[1]), place: true}
				o.value(m[3])
				o.Default, o.Type = m[3], cmp.Or(o.Type, typeOfName(o.Name))
				o.Required = o.Default == ""
				options = o.addTo(options)
			}
		}
	}
	if len(options) > 0 || shellWhole.MatchString(text) {
		return options, false
	}
	for _, m := range shellVariable.FindAllStringSubmatch(text, -1) {
		if value, kind := literal(m[2]); kind == "int" || kind == "float" {
			options = Option{Name: m[1], Type: kind, Default: value}.addTo(options)
		}
	}
	return options, true
}
