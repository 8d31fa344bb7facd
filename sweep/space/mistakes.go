package space

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

var (
	slipSpan = regexp.MustCompile(`^(-?\d+)\s*(\.\.|-)\s*(-?\d+)$`)
	slipCall = regexp.MustCompile(
		`^(?:np\.|numpy\.|random\.|tune\.|hp\.)?([a-z]+)\(\s*([^()]*?)\s*\)$`)
)

// noteSlip notes plain text that looks like several values, with what was probably meant.
func (r *reader) noteSlip(e entry, at *yaml.Node, text string) {
	if meant := meantBy(text); meant != "" {
		r.note(at, show(e.Name)+": "+text+" is read as one text",
			"write "+meant+" if several values are meant, or put it in quotes")
	}
}

// noteRuleNames notes parameters that have the names of rules, in a file without rules: the line
// with --- above them may have been forgotten. Those that cannot be parameters are faults, and left
// out. A name in quotes is meant as that of a parameter, and so is seed, which programs have.
func (r *reader) noteRuleNames(all []entry) (parameters []entry) {
	var names, flags []string
	var first *yaml.Node
	for _, e := range all {
		_, overridden := r.labels[e.Key]
		rule := e.Name != "seed" && slices.Contains(sectionNames, e.Name)
		if rule && !overridden && yamlfile.Target(e.Key).Style == 0 {
			if nested(yamlfile.Target(e.Value)) {
				r.fault(e.Key, e.Name+": a rule among the parameters",
					"put one line with --- above all rules")
				continue
			}
			if first == nil {
				first = e.Key
			}
			names, flags = append(names, e.Name), append(flags, "--"+e.Name)
		}
		parameters = append(parameters, e)
	}
	switch len(names) {
	case 0:
	case 1:
		r.note(first, names[0]+" is read as a parameter, "+flags[0],
			"put a line with --- above it if the rule is meant, or the name in quotes")
	default:
		r.note(first, enumerate(names, "and")+" are read as parameters, "+enumerate(flags, "and"),
			"put a line with --- above them if the rules are meant, or the names in quotes")
	}
	return parameters
}

// nested reports whether a value is a mapping, or a list with mappings or lists in it.
func nested(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode &&
		slices.ContainsFunc(n.Content, func(element *yaml.Node) bool {
			return yamlfile.Target(element).Kind != yaml.ScalarNode
		})
}

// meantBy returns what was probably meant by a text; "": the text.
func meantBy(text string) string {
	if numbers := numbersOf(text); len(numbers) > 1 {
		return "[" + strings.Join(numbers, ", ") + "]"
	}
	if m := slipSpan.FindStringSubmatch(text); m != nil {
		if from, to, ok := ascending(m[1], m[3]); ok {
			return fmt.Sprintf("%d..%d", from, to)
		}
	}
	m := slipCall.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	if m[1] == "choice" && m[2] != "" {
		return "[" + strings.Trim(m[2], "[]") + "]"
	}
	return meantByCall(m[1], numbersOf(m[2]))
}

// ascending reads two whole numbers of which the second is greater: 2024-01 is a month.
func ascending(a, b string) (from, to int64, ok bool) {
	from, wrong := strconv.ParseInt(a, 10, 64)
	to, alsoWrong := strconv.ParseInt(b, 10, 64)
	return from, to, wrong == nil && alsoWrong == nil && from < to &&
		(b == "0" || !strings.HasPrefix(b, "0"))
}

// numbersOf splits text at commas, or at spaces if it has none; nil unless all parts are numbers.
func numbersOf(text string) []string {
	parts := strings.Split(text, ",")
	if len(parts) == 1 {
		parts = strings.Fields(text)
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
		if _, ok := Number(parts[i]); !ok {
			return nil
		}
	}
	return parts
}
