package space

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// A range with a count is a list of values, evenly spaced, both ends included:
//
//	lr: !log [1e-5, 1e-1, 5]         in the logarithm: 1e-5, 0.0001, 0.001, 0.01, 1e-1
//	dropout: !uniform [0, 0.5, 6]    0, 0.1, 0.2, 0.3, 0.4, 0.5
//	unit: !logint [16, 1024, 7]      whole numbers, in the logarithm: 16, 32, 64, ..., 1024
//	unit: !int [32, 512, 32]         whole numbers with a step
//
// The ends have the spelling of the file. The values between them have at most rangeDigits
// significant digits, whole numbers all of theirs; see spacing.go.
const (
	rangeDigits = 8
	mostRanged  = 100_000   // values of a list that a range makes
	mostInFile  = 1_000_000 // of all ranges of a file
)

var rangeTags = []string{"!log", "!uniform", "!int", "!logint"}

func isRange(n *yaml.Node) bool { return slices.Contains(rangeTags, n.Tag) }

// ranged is a range while it is read.
type ranged struct {
	*reader
	e        entry
	tag      string
	texts    []string
	numbers  []decimal
	elements []*yaml.Node
	faulty   bool
}

// rangeOf reads the value of a parameter that is a range.
func (r *reader) rangeOf(e entry, n *yaml.Node) (l list) {
	g := ranged{reader: r, e: e, tag: n.Tag}
	if n.Kind != yaml.SequenceNode || len(n.Content) < 2 || len(n.Content) > 3 {
		g.wrong(e.Value, "not a range", "write "+exampleOf(g.tag))
		return l
	}
	for _, element := range n.Content {
		c := yamlfile.Target(element)
		d, problem := parseDecimal(c.Value)
		quoted := c.Style != 0 && c.Style != yaml.TaggedStyle
		if c.Kind != yaml.ScalarNode || quoted || problem != "" {
			text := describe(c)
			if c.Kind == yaml.ScalarNode && c.Style == 0 {
				text = show(c.Value)
			}
			if problem == "" {
				problem = "is not a number"
			}
			g.wrong(element, text+" "+problem, "write numbers, such as "+exampleOf(g.tag))
		}
		g.texts, g.numbers = append(g.texts, c.Value), append(g.numbers, d)
		g.elements = append(g.elements, element)
	}
	if g.faulty {
		return l
	}
	if len(g.texts) == 2 {
		g.wrong(e.Value, fmt.Sprintf("the range %s does not say which of its values", g.text()),
			"write "+g.counted()+", or a list of values")
		return l
	}
	switch g.tag {
	case "!int":
		l.values, l.span = g.steps()
	case "!uniform":
		l.values = g.spaced(g.linear)
	default:
		l.values = g.spaced(g.logarithmic)
	}
	l.ok = !g.faulty
	return l
}

func (g *ranged) wrong(at *yaml.Node, problem, remedy string) {
	if g.e.Value.Kind == yaml.AliasNode {
		at = g.e.Value
	}
	g.faulty = true
	g.fault(at, show(g.e.Name)+": "+problem, remedy)
}

func (g *ranged) text() string { return g.tag + " [" + strings.Join(g.texts, ", ") + "]" }

// exampleOf returns a range of a tag, and what it means.
func exampleOf(tag string) string {
	switch tag {
	case "!log":
		return "!log [1e-5, 1e-1, 5] for 5 values from 1e-5 to 1e-1"
	case "!logint":
		return "!logint [16, 1024, 7] for 7 values from 16 to 1024"
	case "!int":
		return "!int [32, 512, 32] for 32, 64, ..., 512"
	}
	return "!uniform [0, 0.5, 6] for 6 values from 0 to 0.5"
}

// counted returns the range with a count, or a step.
func (g *ranged) counted() string {
	third, means := "5", "for 5 values"
	if g.tag == "!int" {
		third, means = "1", "with the step 1"
	}
	return g.tag + " [" + strings.Join(append(slices.Clone(g.texts), third), ", ") + "] " + means
}

// whole wants whole numbers of the elements from, …, to-1.
func (g *ranged) whole(from, to int, what string) {
	for i := from; i < to; i++ {
		if !g.rational(i).IsInt() {
			g.wrong(g.elements[i], show(g.texts[i])+" is not a whole number",
				"write a whole number"+what)
		}
	}
}

// integer returns an element that is whole.
func (g *ranged) integer(i int) *big.Int {
	return new(big.Int).Set(g.rational(i).Num())
}

// spaced makes so many values as the range has a count, of a function that gives those between the
// ends as text.
func (g *ranged) spaced(between func(n int) []string) []value {
	if g.tag == "!logint" {
		g.whole(0, 2, "")
	}
	g.whole(2, 3, " of values as the third element")
	if g.faulty {
		return nil
	}
	n := g.integer(2)
	switch {
	case n.Cmp(big.NewInt(2)) < 0:
		g.wrong(g.elements[2],
			"a count of "+show(g.texts[2])+": the range has both its ends, which are 2 values",
			"write a count of 2 or more, or one value without a range")
	case n.Cmp(big.NewInt(mostRanged)) > 0:
		const any = "an interval with a step may have any number: !interval [start, end, step]"
		g.wrong(g.elements[2], fmt.Sprintf("a count of %s: a range makes at most %d values",
			show(g.texts[2]), mostRanged), "use fewer; "+any)
	case g.compare() == 0:
		g.wrong(g.e.Value, "the range "+g.text()+" begins and ends with one value",
			"write different ends, or that value alone")
	case g.tag != "!uniform" && min(g.numbers[0].sign(), g.numbers[1].sign()) <= 0:
		at := 0
		if g.numbers[0].sign() > 0 {
			at = 1
		}
		g.wrong(g.elements[at], show(g.texts[at])+" has no logarithm",
			"write a number greater than 0, or use !uniform")
	}
	if g.ranged += int(g.integer(2).Int64()); !g.faulty && g.ranged > mostInFile {
		g.wrong(g.elements[2],
			fmt.Sprintf("with this range, the ranges of the file make more than "+
				"%d values", mostInFile), "use fewer, or an alias of a range that is there twice")
	}
	if g.faulty {
		return nil
	}
	return g.listed(between(int(n.Int64())))
}

func (g *ranged) compare() int {
	places := max(g.numbers[0].places, g.numbers[1].places)
	return g.numbers[0].scaled(places).Cmp(g.numbers[1].scaled(places))
}

// listed puts the ends around the texts of the values between them, and wants them all different;
// equal whole numbers that rounding made are one.
func (g *ranged) listed(between []string) []value {
	texts := slices.Concat([]string{g.end(0)}, between, []string{g.end(1)})
	if g.tag == "!logint" {
		texts = slices.Compact(texts)
	}
	values := make([]value, len(texts))
	for i, text := range texts {
		if i > 0 && text == texts[i-1] {
			problem := fmt.Sprintf("%d digits do not tell %s values apart between %s and %s",
				rangeDigits, show(g.texts[2]), g.texts[0], g.texts[1])
			g.wrong(g.elements[2], problem, "use fewer values, or an interval with a step")
			return nil
		}
		values[i] = value{text: text}
	}
	return values
}

// end returns the text of an end: as it is written, unless programs would not read that as a
// number.
func (g *ranged) end(i int) string {
	if _, plain := Number(g.texts[i]); plain && g.tag != "!logint" {
		return g.texts[i]
	}
	if g.tag == "!logint" {
		return g.integer(i).String()
	}
	return significant(new(big.Float).SetPrec(precision).SetRat(g.rational(i)))
}

func (g *ranged) rational(i int) *big.Rat {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(g.numbers[i].places)), nil)
	return new(big.Rat).SetFrac(g.numbers[i].coefficient, unit)
}

// mostListed is how many whole numbers are kept as a list.
const mostListed = 10_000

// steps returns whole numbers from the first to the last: many of them as an interval, which is
// lazy.
func (g *ranged) steps() ([]value, *interval) {
	g.whole(0, 3, "")
	if g.faulty {
		return nil, nil
	}
	start, end, step := g.integer(0), g.integer(1), g.integer(2)
	distance := new(big.Int).Sub(end, start)
	switch {
	case step.Sign() == 0:
		g.wrong(g.elements[2], "step is 0", "write how far the values are apart, such as 1 or -1")
		return nil, nil
	case distance.Sign() != 0 && distance.Sign() != step.Sign():
		g.wrong(g.e.Value, "the range "+g.text()+" has no value", directionRemedy(g.texts))
		return nil, nil
	}
	count, rest := new(big.Int).QuoRem(distance, step, new(big.Int))
	if rest.Sign() != 0 {
		last := new(big.Int).Sub(end, rest)
		beyond := new(big.Int).Add(last, step)
		problem := fmt.Sprintf(
			"the range %s has both its ends, and steps of %s from %s reach %s and "+
				"%s, not %s", g.text(), step, start, last, beyond, end)
		g.wrong(g.e.Value, problem, fmt.Sprintf("write !int [%s, %s, %s]", start, last, step))
		return nil, nil
	}
	beyond := new(big.Int).Add(end, big.NewInt(int64(step.Sign())))
	span, troubles := newInterval([]string{start.String(), beyond.String(), step.String()})
	if troubles != nil {
		g.wrong(g.e.Value, troubles[0].problem, troubles[0].remedy)
		return nil, nil
	}
	if count.Cmp(big.NewInt(mostListed)) > 0 {
		return nil, span
	}
	values := make([]value, span.count)
	for i := range values {
		values[i].text = span.value(int64(i))
	}
	return values, nil
}
