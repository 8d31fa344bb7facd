package metric

import (
	"fmt"
	"strings"
)

// Objective is the metric that decides which task is best. The zero value is none.
type Objective struct {
	Maximize bool   `json:"maximize"`
	Metric   string `json:"metric"`
	// Timeouts has tasks ranked whose time was over, too.
	Timeouts bool `json:"timeouts,omitempty"`
}

// Ranks reports whether tasks in a state are ranked.
func (o Objective) Ranks(state string) bool {
	return !o.IsZero() && (state == "succeeded" || o.Timeouts && state == "timeout")
}

// ParseObjective reads "maximize METRIC" or "minimize METRIC"; empty text is no objective.
func ParseObjective(text string) (Objective, error) {
	if strings.TrimSpace(text) == "" {
		return Objective{}, nil
	}
	direction, metric, _ := strings.Cut(strings.TrimSpace(text), " ")
	metric = strings.TrimSpace(metric)
	if direction != "maximize" && direction != "minimize" || metric == "" {
		return Objective{}, fmt.Errorf("objective %q: write maximize METRIC or minimize METRIC",
			text)
	}
	return Objective{Maximize: direction == "maximize", Metric: metric}, nil
}

// IsZero reports whether there is no objective.
func (o Objective) IsZero() bool { return o.Metric == "" }

// String is "maximize accuracy", or "" for none.
func (o Objective) String() string {
	switch {
	case o.IsZero():
		return ""
	case o.Maximize:
		return "maximize " + o.Metric
	default:
		return "minimize " + o.Metric
	}
}

// Surpasses returns the best value of the objective's metric, if it is better than the one that
// counts.
func (o Objective) Surpasses(m FinalValue) (best Point, ok bool) {
	if m.Name != o.Metric || m.Span == nil || m.Span.Low == nil || m.Span.High == nil {
		return Point{}, false
	}
	if o.Maximize {
		return *m.Span.High, m.Span.High.Value > m.Value
	}
	return *m.Span.Low, m.Span.Low.Value < m.Value
}
