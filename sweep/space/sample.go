package space

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// sample says that so many combinations are drawn of all. Each of them has all its repeats: the
// points that differ from each other only in parameters that repeat (see repeated).
type sample struct {
	Combinations int64 `json:"points"`
	Seed         int64 `json:"seed"`
}

// mostSampled bounds a sample, whose points are kept as numbers in memory.
const mostSampled = 1_000_000

// Sampling says what a sample has drawn. Combinations that an included point is one of are not
// drawn, and are not counted here.
type Sampling struct {
	Drawn, Of   int64 // combinations
	Least, Most int64 // points of a drawn combination: 1, unless parameters only repeat
}

// String returns text such as "20 of 400 combinations, each 5 times".
func (s Sampling) String() string {
	text := fmt.Sprintf("%d of %s", s.Drawn, plural(s.Of, "combination"))
	switch times := plural(s.Most, "time"); {
	case s.Least < s.Most:
		text += fmt.Sprintf(", each %d to %s", s.Least, times)
	case s.Most > 1:
		text += ", each " + times
	}
	return text
}

// Sampled returns what a sample has drawn. It is false where the points are all that there are.
func (s *Space) Sampled() (Sampling, bool) {
	return s.sampling, s.only != nil && s.plan.sample != nil
}

// tooManyDrawn says that a sample has more points than are kept.
type tooManyDrawn struct {
	sample  sample
	repeats *big.Int // of each combination
}

func (e tooManyDrawn) Error() string {
	points := new(big.Int).Mul(e.repeats, big.NewInt(e.sample.Combinations))
	return fmt.Sprintf("sample: %d combinations with up to %d repeats each are %d tasks; "+
		"%d is the most", e.sample.Combinations, e.repeats, points, mostSampled)
}

// draw leaves of the combinations those that the sample draws, each with all its repeats, behind
// the included points. The error is a tooManyDrawn or a *ruleError.
func (s *Space) draw() error {
	drawn, r := s, (*repeated)(nil)
	if len(s.plan.repeats) > 0 {
		var err error
		if r, err = s.repeated(); err != nil {
			return err
		}
		drawn = r.combinations
	}
	included := int64(len(drawn.plan.included))
	s.sampling = Sampling{Of: drawn.described() - included, Least: 1, Most: 1}
	if s.plan.sample.Combinations >= s.sampling.Of {
		return nil
	}
	numbers := s.plan.sample.draw(s.sampling.Of)
	s.sampling.Drawn = int64(len(numbers))
	if r != nil {
		if repeats := r.most(); new(big.Int).Mul(repeats, big.NewInt(s.sampling.Drawn)).
			Cmp(big.NewInt(mostSampled)) > 0 {
			return tooManyDrawn{*s.plan.sample, repeats}
		}
		for i, n := range numbers {
			numbers[i], _ = drawn.combination(included + n)
		}
		numbers, s.sampling.Least, s.sampling.Most = r.all(numbers)
	}
	included = int64(len(s.plan.included))
	s.only = make([]int64, 0, included+int64(len(numbers)))
	for i := range included {
		s.only = append(s.only, i)
	}
	for _, n := range numbers {
		s.only = append(s.only, included+n)
	}
	return nil
}

// noteSample notes a sample of more combinations than there are.
func (d *draft) noteSample(s *Space, all sections) {
	of := s.sampling.Of
	if d.plan.sample == nil || d.plan.sample.Combinations <= of {
		return
	}
	problem := fmt.Sprintf("sample: there are only %d combinations", of)
	if of == 1 {
		problem = "sample: there is only 1 combination"
	}
	d.notes.Add(d.ofSample(all, problem+", and all of them are run", ""))
}

// ofSample returns a fault or a note of a sample, where it is written.
func (d *draft) ofSample(all sections, problem, remedy string) fault.Fault {
	at := all.find("sample")
	if at != nil && d.changed.Sample == nil {
		return d.at(at.Value, problem, remedy)
	}
	option := fmt.Sprintf("--sample %d", d.plan.sample.Combinations)
	return fault.Fault{File: option, Problem: strings.TrimPrefix(problem, "sample: "),
		Remedy: remedy}
}

// sample reads how many combinations are drawn, and how.
func (d *draft) sample(all sections) {
	drawn := all.find("sample")
	if seed := all.find("seed"); seed != nil {
		n, ok := d.count(seed.Value, "seed", 0)
		if drawn == nil && d.changed.Sample == nil {
			d.note(seed.Key, "seed: nothing is drawn without sample", "")
		} else if ok {
			d.seed = n
		}
	}
	if drawn == nil {
		return
	}
	n, ok := d.count(drawn.Value, "sample", 1)
	switch {
	case !ok:
	case n > mostSampled:
		d.fault(drawn.Value, fmt.Sprintf("sample: %d combinations; %d is the most", n,
			mostSampled),
			"draw fewer")
	default:
		d.plan.sample = &sample{Combinations: n, Seed: d.seed}
	}
}

// count reads a whole number that is not less than another.
func (d *draft) count(at *yaml.Node, section string, least int64) (int64, bool) {
	n := yamlfile.Target(at)
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || n.Style != 0 || err != nil || i < least {
		text := yamlfile.KindOf(n)
		if n.Kind == yaml.ScalarNode {
			text = show(n.Value)
		}
		d.fault(at, fmt.Sprintf("%s: %s is not a whole number of at least %d", section, text,
			least), "write one, such as "+map[string]string{"sample": "500", "seed": "7"}[section])
		return 0, false
	}
	return i, true
}
