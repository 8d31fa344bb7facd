package result

import (
	"slices"
	"sync"
)

// MaxSamples is how many samples of one metric a Series keeps, MaxMetrics how many metrics it takes.
const (
	MaxSamples = 2_000
	MaxMetrics = 1_000
)

// Series keeps the samples of one attempt, bounded: when a metric has MaxSamples, every second one is dropped, and from
// then on only every second, fourth, eighth ... is kept. So what is kept always spans the whole attempt at even distance,
// and is between half of MaxSamples and MaxSamples. Final values are of all samples. Metrics after the
// first MaxMetrics are ignored. The zero value is empty and ready; safe for concurrent use.
type Series struct {
	Rules *Rules // which values are final; nil: those printed last

	mu      sync.Mutex
	order   []*metricSeries
	byName  map[string]*metricSeries
	ignored int64
}

type metricSeries struct {
	name    string
	values  Values
	stride  int64 // every so many are kept
	samples []Sample
}

// Add takes the next sample and reports whether it is kept, so that an owner who sends samples on may send only those.
// Kept samples may be dropped later; one that is not kept still is the final value.
func (s *Series) Add(sample Sample) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.metric(sample.Name)
	if m == nil {
		s.ignored++
		return false
	}
	return m.add(sample)
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
	m := &metricSeries{name: name, stride: 1}
	s.byName[name] = m
	s.order = append(s.order, m)
	return m
}

func (m *metricSeries) add(sample Sample) bool {
	position := m.values.Count
	m.values.Add(sample.Value, sample.Step)
	if position%m.stride != 0 {
		return false
	}
	if len(m.samples) == MaxSamples {
		for i := range MaxSamples / 2 {
			m.samples[i] = m.samples[2*i]
		}
		m.samples = m.samples[:MaxSamples/2]
		m.stride *= 2 // position = MaxSamples * the old stride, a multiple of the new one too
	}
	m.samples = append(m.samples, sample)
	return true
}

// Final returns the final value of every metric, in order of first appearance.
func (s *Series) Final() Final {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(Final, len(s.order))
	for i, m := range s.order {
		out[i] = m.values.Final(m.name, s.Rules.Take(m.name))
	}
	return out
}

// Samples returns a copy of what is kept of one metric, in order; nil if it never appeared.
func (s *Series) Samples(metric string) []Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.byName[metric]; m != nil {
		return slices.Clone(m.samples)
	}
	return nil
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

// Ignored returns how many samples were ignored because there were MaxMetrics already.
func (s *Series) Ignored() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ignored
}
