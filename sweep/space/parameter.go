package space

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// parameter is a name with either a list of values or an interval.
type parameter struct {
	name   string
	values []value
	span   *interval // used when values is empty
	single bool      // written without a list
	extra  []value   // of included points only: their numbers follow those of the others
}

// value is one element as the file spells it: text, a switch, which is YAML's true or false in any
// of its spellings, null, or a list or a mapping as JSON.
type value struct {
	text string
	kind ValueKind
}

// on reports whether a switch is true.
func (v value) on() bool { return strings.EqualFold(v.text, "true") }

func (v value) assignment(name string) Assignment {
	return Assignment{Name: name, Value: v.text, Kind: v.kind}
}

// of returns the value of an assignment.
func (a Assignment) of() value { return value{a.Value, a.Kind} }

// count returns the number of values that the combinations have.
func (p *parameter) count() int64 {
	if p.span != nil {
		return p.span.count
	}
	return int64(len(p.values))
}

// total returns the number of values with those that only included points have.
func (p *parameter) total() int64 { return p.count() + int64(len(p.extra)) }

func (p *parameter) assignment(i int64) Assignment {
	if p.span != nil && i < p.span.count {
		return Assignment{Name: p.name, Value: p.span.value(i)}
	}
	return p.value(i).assignment(p.name)
}

// value returns value i of a parameter, one that is kept if it is not of its interval.
func (p *parameter) value(i int64) value {
	switch n := p.count(); {
	case i >= n:
		return p.extra[i-n]
	case p.span != nil:
		return value{text: p.span.value(i)}
	}
	return p.values[i]
}

// Kind says how a parameter was written.
type Kind string

// The kinds of parameters.
const (
	Single   Kind = "single"   // one value
	List     Kind = "list"     // a list, even of one value
	Interval Kind = "interval" // a half-open interval of numbers
)

// Parameter describes one parameter of a space; it is got from Space.Parameters. It may be used
// concurrently.
type Parameter struct {
	p           *parameter
	conditional bool
}

// Name returns the key in the file.
func (p Parameter) Name() string { return p.p.name }

// Conditional reports whether points may lack the parameter.
func (p Parameter) Conditional() bool { return p.conditional }

// Len returns the number of values, at least 1, those that only included points have among them:
// they are the last.
func (p Parameter) Len() int64 { return p.p.total() }

// Kind says how the parameter was written. One that has other values in included points is a List.
func (p Parameter) Kind() Kind {
	switch {
	case p.p.span != nil:
		return Interval
	case p.p.single && len(p.p.extra) == 0:
		return Single
	default:
		return List
	}
}

// Value returns value i as an assignment. It panics unless 0 <= i < Len.
func (p Parameter) Value(i int64) Assignment {
	if i < 0 || i >= p.Len() {
		panic(fmt.Sprintf("space: value %d of %d of %s", i, p.Len(), p.p.name))
	}
	return p.p.assignment(i)
}

// shown is how many values a description lists before it leaves out the middle.
const shown = 8

// shownOf returns the texts of n values, without the middle of many.
func shownOf(n int64, text func(i int64) string) (all []string) {
	for i := int64(0); i < n; i++ {
		if n > shown && i == 3 {
			all, i = append(all, "…"), n-1
		}
		all = append(all, text(i))
	}
	return all
}

// String is one line for people: "epoch: 5, 10, 15". It names the first and the last of many values.
func (p Parameter) String() string {
	n := p.Len()
	line := show(p.Name()) + ": " + strings.Join(shownOf(n, func(i int64) string {
		v := p.Value(i)
		if v.Kind == Switch {
			return v.Value + " (switch)"
		}
		return v.of().show()
	}), ", ")
	if n > shown {
		line += " (" + strconv.FormatInt(n, 10) + " values)"
	}
	return line
}

// show returns a value as a message has it.
func (v value) show() string {
	if v.kind == JSON {
		return shorten(v.text)
	}
	return show(v.text)
}

func shorten(text string) string {
	if len(text) > 80 {
		return string([]rune(text)[:min(77, len([]rune(text)))]) + "…"
	}
	return text
}

// show returns text as a message has it: in quotes when its edges or its unprintable characters
// could not be seen otherwise, or when it contains what separates values.
func show(text string) string {
	text = shorten(text)
	unseen := func(r rune) bool {
		return r == ',' || r == '"' || r != ' ' && unicode.IsSpace(r) || !unicode.IsPrint(r)
	}
	if text == "" || text != strings.TrimSpace(text) || strings.ContainsFunc(text, unseen) {
		return strconv.Quote(text)
	}
	return text
}
