package space

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

const zippedRepeat = " varies together with others, " +
	"so that its values do not repeat one combination"

func (d *draft) isZipped(p int) bool {
	return slices.ContainsFunc(d.plan.zipped, func(group []int) bool {
		return slices.Contains(group, p)
	})
}

// repeat reads which parameters only repeat.
func (d *draft) repeat(s entry) {
	for _, n := range d.elements(s, "name a parameter, such as seed") {
		if t := yamlfile.Target(n); t.Kind == yaml.MappingNode && len(t.Content) > 0 {
			d.fault(n, "repeat: a mapping is not the name of a parameter", d.repeatRemedy(t))
			continue
		}
		if count, is := repeatCount(yamlfile.Target(n).Value); is {
			if problem, remedy := d.countRepeats(count, entry{Name: RepeatName, Key: s.Key,
				Value: n}); problem != "" {
				d.fault(n, "repeat: "+problem, remedy)
			}
			continue
		}
		p, ok := d.named(n, "repeat")
		if !ok {
			continue
		}
		name := show(d.plan.parameters[p].name)
		switch {
		case d.isZipped(p):
			d.fault(n, "repeat: "+name+zippedRepeat, "take it out of zip")
		case slices.Contains(d.plan.repeats, p):
			d.fault(n, "repeat: "+name+" is there twice", "name it once")
		default:
			d.plan.repeats = append(d.plan.repeats, p)
		}
	}
}

// RepeatName is the name of the parameter that repeat: N adds. It has the values 1 to N, and
// programs get no flag for it.
const RepeatName = "repeat"

// mostRepeats is the maximum of repeat: N.
const mostRepeats = 10_000

// repeatCount returns the number in the text of repeat. It reports whether the text is a number and
// not the name of a parameter.
func repeatCount(text string) (n int, is bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// countRepeats adds a parameter over which results are averaged, with the values 1 to n.
func (d *draft) countRepeats(n int, e entry) (problem, remedy string) {
	_, taken := d.index[RepeatName]
	switch {
	case n < 1 || n > mostRepeats:
		return strconv.Itoa(n) + " is not a valid number of repeats",
			"write a number from 1 to " + strconv.Itoa(mostRepeats)
	case taken && d.counted: // the command line overrides the number
		d.plan.parameters[d.index[RepeatName]].values = repeatNumbers(n)
		return "", ""
	case taken || slices.Contains(d.names, RepeatName):
		return "a number adds a parameter named repeat, but the file already has one",
			"write repeat: repeat, or rename the parameter"
	}
	d.counted = true
	d.plan.repeats = append(d.plan.repeats, len(d.plan.parameters))
	d.add(e, parameter{name: RepeatName, values: repeatNumbers(n)})
	return "", ""
}

func repeatNumbers(n int) (values []value) {
	for i := range n {
		values = append(values, value{text: strconv.Itoa(i + 1)})
	}
	return values
}

// repeatRemedy returns what to write instead of a mapping of parameters to their values.
func (d *draft) repeatRemedy(n *yaml.Node) string {
	var names []string
	for i := 0; i < len(n.Content); i += 2 {
		names = append(names, show(yamlfile.Target(n.Content[i]).Value))
	}
	if len(names) > 1 {
		return "write repeat: [" + strings.Join(names, ", ") +
			"], and the values of each among the parameters above the ---"
	}
	remedy := "write repeat: " + names[0]
	if slices.Contains(d.names, yamlfile.Target(n.Content[0]).Value) {
		return remedy + "; its values are those above the ---"
	}
	return remedy + ", and " + names[0] + ": " + shortList(n.Content[1]) +
		" among the parameters above the ---"
}

// shortList returns a list as it can stand in a message, or a stand-in for other values.
func shortList(n *yaml.Node) string {
	const most = 6
	const others = "[VALUE, ...]"
	list := yamlfile.Target(n)
	if list.Kind != yaml.SequenceNode || !isPlainList(list) || len(list.Content) > most {
		return others
	}
	var all []string
	for _, element := range list.Content {
		t := yamlfile.Target(element)
		if t.Kind != yaml.ScalarNode || t.Style != 0 || t.Value == "" {
			return others
		}
		all = append(all, show(t.Value))
	}
	return "[" + strings.Join(all, ", ") + "]"
}
