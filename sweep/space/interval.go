package space

import (
	"math/big"
	"strconv"
	"strings"
)

// interval is start, start+step, … up to but without end. Its values are computed, never kept.
type interval struct {
	operands []string // as written: start, end and, when given, step
	places   int      // decimals of every value: those of the longest operand
	count    int64

	// start and step times 10^places, as int64 when every value fits, else as big integers.
	start, step       int64
	bigStart, bigStep *big.Int
}

// intervalProblem is what is wrong with an interval; operand is the index of the culprit, or -1 for
// the whole.
type intervalProblem struct {
	operand         int
	problem, remedy string
}

// newInterval returns an interval of operands as written, or says everything that is wrong with
// them.
func newInterval(operands []string) (*interval, []intervalProblem) {
	if n := len(operands); n < 2 || n > 3 {
		return nil,
			[]intervalProblem{{-1, "the interval has " + plural(n, "element"),
				"write [start, end] or [start, end, step]"}}
	}
	var troubles []intervalProblem
	numbers := make([]decimal, 3)
	numbers[2] = decimal{coefficient: big.NewInt(1)}
	places := 0
	for i, text := range operands {
		d, problem := parseDecimal(text)
		if problem != "" {
			troubles = append(troubles, intervalProblem{i, show(text) + " " + problem,
				operandRemedy(text)})
			continue
		}
		numbers[i], places = d, max(places, d.places)
	}
	if step := numbers[2].coefficient; step != nil && step.Sign() == 0 {
		troubles = append(troubles, intervalProblem{2, "step is 0",
			"write how far the values are apart, such as 1 or -1"})
	}
	if troubles != nil {
		return nil, troubles
	}
	v := &interval{operands: operands, places: places, bigStart: numbers[0].scaled(places),
		bigStep: numbers[2].scaled(places)}
	if t := v.measure(numbers[1].scaled(places)); t.problem != "" {
		return nil, []intervalProblem{t}
	}
	return v, nil
}

func operandRemedy(text string) string {
	if d, ok := new(big.Int).SetString(text, 10); ok && len(text) <= maxDigits {
		return "write " + d.String() + ", or begin with 0o if octal is meant"
	}
	return "write start, end and step as numbers"
}

// measure counts the values before end, and narrows the arithmetic to int64 when no value needs
// more.
func (v *interval) measure(end *big.Int) intervalProblem {
	distance := new(big.Int).Sub(end, v.bigStart)
	if distance.Sign() == 0 {
		return intervalProblem{-1, "the interval " + bracket(v.operands) + " has no value",
			"the end is not part of it: write one beyond the start"}
	}
	if distance.Sign() != v.bigStep.Sign() {
		return intervalProblem{-1, "the interval " + bracket(v.operands) + " has no value",
			directionRemedy(v.operands)}
	}
	count, rest := new(big.Int).QuoRem(distance, v.bigStep, new(big.Int))
	if rest.Sign() != 0 {
		count.Add(count, big.NewInt(1))
	}
	if !count.IsInt64() {
		return intervalProblem{-1, tooMany, "write a shorter interval or a larger step"}
	}
	v.count = count.Int64()
	last := count.Sub(count, big.NewInt(1))
	last.Mul(last, v.bigStep).Add(last, v.bigStart)
	if v.bigStart.IsInt64() && v.bigStep.IsInt64() && last.IsInt64() {
		v.start, v.step, v.bigStart, v.bigStep = v.bigStart.Int64(), v.bigStep.Int64(), nil, nil
	}
	return intervalProblem{}
}

func directionRemedy(operands []string) string {
	if len(operands) == 2 {
		return "swap start and end, or add a negative step such as -1"
	}
	return "swap start and end, or change the sign of the step"
}

// appendValue appends the text of value i.
func (v *interval) appendValue(dst []byte, i int64) []byte {
	var digits [32]byte
	if v.bigStart != nil {
		n := big.NewInt(i)
		n.Mul(n, v.bigStep).Add(n, v.bigStart)
		return appendPoint(dst, n.Sign() < 0, new(big.Int).Abs(n).Append(digits[:0], 10), v.places)
	}
	// the product may wrap around, the sum is then right again: every value fits
	n := v.start + i*v.step
	if v.places == 0 {
		return strconv.AppendInt(dst, n, 10)
	}
	magnitude := uint64(n)
	if n < 0 {
		magnitude = -magnitude
	}
	return appendPoint(dst, n < 0, strconv.AppendUint(digits[:0], magnitude, 10), v.places)
}

func (v *interval) value(i int64) string {
	var text [48]byte
	return string(v.appendValue(text[:0], i))
}

// bracket returns an interval as people write it.
func bracket(operands []string) string { return "[" + strings.Join(operands, ", ") + ")" }

// looksLikeInterval splits text of the form "[a,b)". At least one of its elements must be a number:
// "[sic, sic)" is text.
func looksLikeInterval(text string) (operands []string, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, ")") {
		return nil, false
	}
	operands = strings.Split(text[1:len(text)-1], ",")
	for i := range operands {
		operands[i] = strings.TrimSpace(operands[i])
		if _, problem := parseDecimal(operands[i]); problem != "is not a number" {
			ok = true
		}
	}
	return operands, ok
}

// index returns the number of the value that equals a number, however that is spelled.
func (v *interval) index(text string) (int64, bool) {
	if n, ok := v.quickIndex(text); ok {
		return n, true
	}
	d, problem := parseDecimal(text)
	if problem != "" {
		return 0, false
	}
	start, step := v.big()
	places := max(d.places, v.places)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places-v.places)), nil)
	distance := new(big.Int).Sub(d.scaled(places), new(big.Int).Mul(start, scale))
	n, rest := new(big.Int).QuoRem(distance, new(big.Int).Mul(step, scale), new(big.Int))
	if rest.Sign() != 0 || n.Sign() < 0 || !n.IsInt64() || n.Int64() >= v.count {
		return 0, false
	}
	return n.Int64(), true
}

// quickIndex returns index for a text that value may have given. It is asked for each of a million
// points.
func (v *interval) quickIndex(text string) (n int64, ok bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	if v.bigStart != nil || len(fraction) != v.places || len(text) > 18 { // 18 digits are an int64
		return 0, false
	}
	x, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		return 0, false
	}
	n = (x - v.start) / v.step
	var is [48]byte
	return n, n >= 0 && n < v.count && string(v.appendValue(is[:0], n)) == text
}

// big returns the start and the step times 10^places.
func (v *interval) big() (start, step *big.Int) {
	if v.bigStart != nil {
		return v.bigStart, v.bigStep
	}
	return big.NewInt(v.start), big.NewInt(v.step)
}
