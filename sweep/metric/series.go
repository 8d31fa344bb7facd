package metric

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"sync"
)

// MaxSamples is how many samples a Series keeps of all metrics together, fewer where their names
// are long; MaxMetrics is how many metrics it takes.
const (
	MaxSamples = 1_500
	MaxMetrics = 1_000
)

// nameUnit is for how many bytes of a metric's name a sample counts once more: in a store it takes
// some 125 bytes and its name.
const nameUnit = 40

// Series keeps the samples of one attempt, bounded: when there are MaxSamples, every second one is
// dropped of the metric that has most, and from then on only every second, fourth, eighth ... of it
// is kept. So what is kept of a metric always spans the whole attempt at even distance. How many
// Add reports as kept grows with the logarithm of the number of samples, however these are spread
// over metrics and time: some 6,000 of 100,000. Final values are of all samples. Metrics after the
// first MaxMetrics are ignored. The zero value is empty and ready; safe for concurrent use.
type Series struct {
	Rules   *Rules // which values are final; nil: those printed last
	Attempt int    // that added samples come from: the newest

	mu     sync.Mutex
	order  []*metricSeries
	byName map[string]*metricSeries

	offered, passed int64 // weight of the samples that came, and of those that Add reported as kept
	kept            int64 // weight of those that are
	thinned         Thinned
}

// Thinned is how many samples of an attempt are kept, where that is not all of them.
type Thinned struct {
	Kept    int64 `json:"kept"`    // for curves; final values are of all
	Samples int64 `json:"samples"` // that came
	// of metrics after the first MaxMetrics: they count nowhere
	Ignored int64 `json:"ignored,omitempty"`
}

type metricSeries struct {
	name    string
	weight  int64
	earlier Values // of the attempts that this one continues
	values  Values
	stride  int64 // every so many are kept
	samples []Sample
	places  []int64 // of samples, among all of the metric
}

// Add takes the next sample and reports whether it is kept, so that an owner who sends samples on
// may send only those. Kept samples may be dropped later; one that is not kept still is the final
// value.
func (s *Series) Add(sample Sample) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thinned.Samples++
	m := s.metric(sample.Name)
	if m == nil {
		s.thinned.Ignored++
		return false
	}
	place := m.values.Count
	m.values.Attempt = s.Attempt
	m.values.Add(sample.Value, sample.Step)
	if s.offered += m.weight; !s.room(m, place) {
		return false
	}
	s.passed, s.kept = s.passed+m.weight, s.kept+m.weight
	s.thinned.Kept++
	m.samples, m.places = append(m.samples, sample), append(m.places, place)
	return true
}

// room reports whether there is room for a metric's sample at a place, and makes it. There always
// is for the first.
func (s *Series) room(m *metricSeries, place int64) bool {
	switch {
	case place == 0:
		return true
	case place%m.stride == 0 && s.passed+m.weight > s.allowed():
		s.thin(m)
		return false
	}
	for place%m.stride == 0 && s.kept+m.weight > MaxSamples {
		most := slices.MaxFunc(s.order, func(a, b *metricSeries) int {
			return cmp.Compare(a.kept(), b.kept())
		})
		if len(most.samples) < 2 {
			return false
		}
		s.thin(most)
	}
	return place%m.stride == 0
}

// allowed returns the weight of what may be kept of what came, as of one metric alone: all of the
// first MaxSamples, and half as much again each time that their number doubles. What is kept in
// fact steps around that.
func (s *Series) allowed() int64 {
	const steps = MaxSamples / 50
	return steps + int64(MaxSamples*(1+math.Log2(max(1, float64(s.offered)/MaxSamples))/2))
}

func (m *metricSeries) kept() int64 { return int64(len(m.samples)) * m.weight }

// thin drops every second sample of a metric.
func (s *Series) thin(m *metricSeries) {
	s.kept -= m.kept()
	m.stride *= 2
	n := 0
	for i, place := range m.places {
		if place%m.stride == 0 {
			m.samples[n], m.places[n] = m.samples[i], place
			n++
		}
	}
	clear(m.samples[n:])
	m.samples, m.places = m.samples[:n], m.places[:n]
	s.kept += m.kept()
}

func (s *Series) metric(name string) *metricSeries {
	if m := s.byName[name]; m != nil {
		return m
	}
	if len(s.order) == MaxMetrics {
		return nil
	}
	if s.byName == nil {
		s.byName = map[string]*metricSeries{}
	}
	written, _ := json.Marshal(name) // a text has a form always
	m := &metricSeries{name: name, stride: 1, weight: int64(1 + len(written)/nameUnit)}
	s.byName[name] = m
	s.order = append(s.order, m)
	return m
}

// Continue takes the values of earlier before its own, as an attempt does that continues where
// another was interrupted: final values are of both, and so are the bounds. Samples and counts
// remain its own.
func (s *Series) Continue(earlier *Series) {
	earlier.mu.Lock()
	defer earlier.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range earlier.order {
		if m := s.metric(e.name); m != nil {
			m.earlier.Join(e.all())
		}
	}
	s.offered, s.passed = s.offered+earlier.offered, s.passed+earlier.passed
}

// all returns the values with those of earlier attempts.
func (m *metricSeries) all() Values {
	all := m.earlier
	all.Join(m.values)
	return all
}

// Final returns the final value of every metric, in order of first appearance.
func (s *Series) Final() Final {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(Final, len(s.order))
	for i, m := range s.order {
		all := m.all()
		out[i] = all.Final(m.name, s.Rules.Take(m.name), s.Attempt)
	}
	return out
}

// Count returns how many samples of one metric were added, kept or not.
func (s *Series) Count(metric string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.byName[metric]; m != nil {
		return m.values.Count
	}
	return 0
}

// Thinned returns how many samples were kept, as Add reported them; nil when that is all of them.
func (s *Series) Thinned() *Thinned {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.thinned.Kept == s.thinned.Samples {
		return nil
	}
	t := s.thinned
	return &t
}
