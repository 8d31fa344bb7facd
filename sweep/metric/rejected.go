package metric

import (
	"slices"

	"mlframework/sweep/expr"
)

// Rejected counts what matched a metric without being a number. It is persisted: its JSON names
// never change.
type Rejected struct {
	Name  string `json:"name"` // of the metric
	Count int64  `json:"count"`
	Line  int64  `json:"line"` // of the first
	// of the first, at most 80 bytes; may hold anything: make it visible before showing it
	Text string `json:"text"`
}

// maxRejected bounds the names that are counted; scripts can make up names in JSON lines.
const maxRejected = 100

// Rejected returns what matched and was not a number, by metric, in order of first appearance.
func (s *Scanner) Rejected() []Rejected { return slices.Clone(s.rejected) }

// Unread returns those of Rejected whose metric has had no number since: its final value is not
// what was printed last.
func (s *Scanner) Unread() (unread []Rejected) {
	for _, r := range s.rejected {
		if s.unread[r.Name] {
			unread = append(unread, r)
		}
	}
	return unread
}

func (s *Scanner) reject(name string, text []byte) {
	for i := range s.rejected {
		if s.rejected[i].Name == name {
			s.rejected[i].Count++
			s.unread[name] = true
			return
		}
	}
	if len(s.rejected) < maxRejected {
		if s.unread == nil {
			s.unread = map[string]bool{}
		}
		s.unread[name] = true
		shown := string(text)
		if s.Hide != nil {
			shown = s.Hide(shown)
		}
		s.rejected = append(s.rejected, Rejected{name, 1, s.line + 1, expr.Shorten(shown)})
	}
}
