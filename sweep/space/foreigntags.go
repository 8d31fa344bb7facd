package space

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// call is a function, or a tag, that other programs have for values.
type call struct {
	tag   string // of the range that is like it; "": an interval
	count bool   // it takes a count, else one has to be chosen
	steps bool   // its third operand is a step, which the range has not
	power bool   // its ends are powers of 10
}

var calls = map[string]call{
	"range": {}, "arange": {}, "quniform": {}, "qrandint": {},
	"linspace": {tag: "!uniform", count: true}, "uniform": {tag: "!uniform"},
	"float": {tag: "!uniform"}, "linear": {tag: "!uniform"}, "lin": {tag: "!uniform"},
	"geomspace": {tag: "!log", count: true}, "loguniform": {tag: "!log"}, "log": {tag: "!log"},
	"logspace": {tag: "!log", count: true, power: true}, "qloguniform": {tag: "!log", steps: true},
	"randint": {tag: "!int"}, "integer": {tag: "!int"}, "int": {tag: "!int"},
	"lograndint": {tag: "!logint"}, "loginteger": {tag: "!logint"}, "intlog": {tag: "!logint"},
	"intloguniform": {tag: "!logint"}, "qlograndint": {tag: "!logint", steps: true},
}

// lists are tags that other programs have for a list.
var lists = []string{"choice", "choices", "categorical", "list", "values", "grid", "gridsearch",
	"oneof", "options", "sampledfrom"}

// meantByCall returns the range or the interval that a function of some operands stands for; "":
// none.
func meantByCall(name string, operands []string) string {
	c, known := calls[name]
	if !known || len(operands) > 3 {
		return ""
	}
	return c.meant(operands)
}

func (c call) meant(operands []string) string {
	operands = slices.Clone(operands)
	if c.power {
		for i := range operands[:min(2, len(operands))] {
			if strings.Contains(operands[i], ".") {
				return ""
			}
			operands[i] = "1e" + operands[i]
		}
	}
	switch {
	case len(operands) == 0:
		return ""
	case c.tag == "" && len(operands) == 1:
		return "[0, " + operands[0] + ")"
	case c.tag == "":
		return "[" + strings.Join(operands, ", ") + ")"
	case len(operands) == 1:
		return ""
	case c.steps && len(operands) == 3:
		operands[2] = "5"
	case len(operands) == 2 && c.tag == "!int":
		operands = append(operands, "1")
	case len(operands) == 2:
		operands = append(operands, "5")
	}
	return c.tag + " [" + strings.Join(operands, ", ") + "]"
}

// unknownTag is a fault of a value with a tag that means nothing here. It names what was probably
// meant.
func (r *reader) unknownTag(e entry, at *yaml.Node) {
	n := yamlfile.Target(at)
	r.fault(at, show(e.Name)+": the tag "+n.Tag+" is not known", tagRemedy(n))
}

func tagRemedy(n *yaml.Node) string {
	name := strings.ToLower(strings.NewReplacer("!", "", "_", "", "-", "", ".", "").Replace(n.Tag))
	for _, module := range []string{"np", "numpy", "tune", "hp", "scipy"} {
		name = strings.TrimPrefix(name, module)
	}
	if slices.Contains(lists, name) {
		return "write a list without a tag, such as [a, b]"
	}
	c, known := calls[name]
	if near := fault.Nearest("!"+name, rangeTags); !known && near != "" {
		c, known = call{tag: near}, true
	}
	if !known {
		return "remove it; " + strings.Join(rangeTags, ", ") + " make ranges, " +
			"!interval an interval, !!str text"
	}
	if meant := c.meant(numbersIn(n)); meant != "" {
		return "did you mean " + meant + "?"
	}
	if c.tag == "" {
		return "did you mean an interval? Write !interval [5, 20, 5] for 5, 10, 15"
	}
	return "did you mean " + c.tag + "? Write " + exampleOf(c.tag)
}

// numbersIn returns the elements of a list of up to three numbers; nil for anything else.
func numbersIn(n *yaml.Node) (operands []string) {
	for _, element := range n.Content {
		operands = append(operands, yamlfile.Target(element).Value)
	}
	if n.Kind != yaml.SequenceNode || len(operands) > 3 {
		return nil
	}
	return numbersOf(strings.Join(operands, ","))
}
