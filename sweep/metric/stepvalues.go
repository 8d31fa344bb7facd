package metric

import (
	"encoding/json"
	"math"
	"strings"

	"mlframework/sweep/internal/rawjson"
)

// StepValue is a value of a metric, and its step.
type StepValue struct {
	Value   float64 // NaN: not a number; may be infinite
	Step    int64
	HasStep bool // one was given
}

// AppendStepValues appends the values of a metric in the JSON of samples, as their MarshalJSON writes
// them.
func AppendStepValues(to []StepValue, samples, name string) ([]StepValue, error) {
	before := len(to)
	r := rawjson.NewReader(samples)
	if r.Take('[') {
		for {
			var s wireValue
			if !s.read(r) {
				break
			}
			if s.name == name {
				to = append(to, s.StepValue)
			}
			if r.Take(',') {
				continue
			}
			if r.Take(']') && r.Rest() == "" {
				return to, nil
			}
			break
		}
	}
	var all []Sample
	err := json.Unmarshal([]byte(samples), &all)
	to = to[:before]
	for _, s := range all {
		if s.Name == name {
			v := StepValue{Value: s.Value, HasStep: s.Step != nil}
			if v.HasStep {
				v.Step = *s.Step
			}
			to = append(to, v)
		}
	}
	return to, err
}

type wireValue struct {
	StepValue
	name string
}

// read reads a sample as MarshalJSON writes it.
func (s *wireValue) read(r *rawjson.Reader) bool {
	key := func(name string) bool {
		if !strings.HasPrefix(r.Rest(), name) {
			return false
		}
		r.Skip(len(name))
		return true
	}
	s.Value = math.NaN()
	if !key(`{"name":`) || !r.Word(&s.name) || !key(`,"value":`) ||
		!r.Null() && !r.Number(&s.Value) {
		return false
	}
	var text string
	var line int64
	if key(`,"infinite":`) {
		if !r.Word(&text) {
			return false
		}
		s.Value, _ = parseInfinite(text)
	}
	if key(`,"step":`) {
		s.HasStep = true
		if !r.Whole(&s.Step) {
			return false
		}
	}
	if !key(`,"line":`) || !r.Whole(&line) || key(`,"stream":`) && !r.Word(&text) {
		return false
	}
	return key(`,"time":`) && r.Word(&text) && r.Take('}')
}
