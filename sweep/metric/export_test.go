package metric

import "slices"

// Samples returns a copy of what is kept of one metric, in order; nil if it never appeared.
func (s *Series) Samples(metric string) []Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.byName[metric]; m != nil {
		return slices.Clone(m.samples)
	}
	return nil
}
