package space

import (
	"math/big"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// What two numbers with ".." or ":" between them may be.
var (
	wholeSpan   = regexp.MustCompile(`^([-+]?[0-9]+)\.\.([-+]?[0-9]+)$`)
	decimalSpan = regexp.MustCompile(`^([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)(?:\.\.|:)` +
		`([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)$`)
	// with a step, as other programs write it
	steppedSpan = regexp.MustCompile(`^([-+]?[0-9.]+?)\.\.([-+]?[0-9.]+?)\.\.([-+]?[0-9.]+)$`)
)

// isSpan reports whether a value is FROM..TO, or a slip of that kind.
func isSpan(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.Style != 0 {
		return false
	}
	if wholeSpan.MatchString(n.Value) || steppedSpan.MatchString(n.Value) {
		return true
	}
	m := decimalSpan.FindStringSubmatch(n.Value)
	return m != nil && isFraction(m[1]) && isFraction(m[2])
}

// isFraction reports whether a text is a number that is not written as a whole one: 10:30 may be a
// time.
func isFraction(text string) bool {
	_, is := Number(text)
	return is && strings.ContainsAny(text, ".eE")
}

// wholeNumbers reads FROM..TO, the whole numbers from one to the other, both included.
func (r *reader) wholeNumbers(e entry, n *yaml.Node) (*interval, bool) {
	if m := steppedSpan.FindStringSubmatch(n.Value); m != nil {
		r.fault(e.Value, show(e.Name)+": "+n.Value+" is not an interval",
			"write ["+m[1]+", "+m[2]+", "+m[3]+"), which leaves out "+m[2]+", or put it in quotes if "+
				"text is meant")
		return nil, false
	}
	m := wholeSpan.FindStringSubmatch(n.Value)
	if m == nil {
		m = decimalSpan.FindStringSubmatch(n.Value)
		r.fault(e.Value, show(e.Name)+": "+n.Value+" does not say how far its values are apart",
			"write !log ["+m[1]+", "+m[2]+", 4] for four values at equal ratios, !uniform with the "+
				"same for equal distances, or put it in quotes if text is meant")
		return nil, false
	}
	from, _ := new(big.Int).SetString(m[1], 10)
	to, _ := new(big.Int).SetString(m[2], 10)
	if from.Cmp(to) > 0 {
		r.fault(e.Value, show(e.Name)+": "+n.Value+" has no value",
			"write "+m[2]+".."+m[1]+", or put it in quotes if text is meant")
		return nil, false
	}
	end := to.Add(to, big.NewInt(1)).String()
	span, troubles := newInterval([]string{from.String(), end})
	for _, t := range troubles {
		r.fault(e.Value, show(e.Name)+": "+t.problem, t.remedy)
	}
	return span, span != nil
}
