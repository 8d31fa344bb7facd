package metric

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

// IsZero reports whether there is no objective.
func (o Objective) IsZero() bool { return o.Metric == "" }

// String returns "maximize accuracy", or "" for none.
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
