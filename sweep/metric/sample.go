// Package metric turns what attempts print into numbers.
//
// A [Scanner] finds samples in raw output, by the regular expressions of a task definition ([Rule])
// and in JSON lines. A [Series] keeps an attempt's samples within bounds and knows its [Final]
// values, of which an [Objective] says which task is best. Numbers in files are read by
// metric/reader and metric/tail.
//
// It is pure: no files, no network, no clock.
package metric

import (
	"encoding/json"
	"math"
	"time"
)

// Sample is one number that an attempt printed. What it printed as a number that is none (nan,
// null) has the Value NaN, which is null in JSON. The JSON form is persisted: its names never
// change.
type Sample struct {
	Name  string  // of the metric
	Value float64 // NaN: not a number; may be infinite
	Step  *int64  // of a JSON line; nil where none was given
	// line of the stream, from 1, as grep -n and editors count: a lone \r begins no new line
	Line   int64
	Stream string    // "stdout" or "stderr"; a Scanner leaves it to its owner
	Time   time.Time // when the line was complete
}

type sampleWire struct {
	Name     string    `json:"name"`
	Value    *float64  `json:"value"`
	Infinite string    `json:"infinite,omitempty"`
	Step     *int64    `json:"step,omitempty"`
	Line     int64     `json:"line"`
	Stream   string    `json:"stream,omitempty"`
	Time     time.Time `json:"time"`
}

// MarshalJSON writes {"name","value","infinite","step","line","stream","time"}: value is null when
// it is not a number or infinite, infinite is "inf" or "-inf" and left out elsewhere, step and
// stream are left out where there is none, the time is UTC.
func (s Sample) MarshalJSON() ([]byte, error) {
	w := sampleWire{Name: s.Name, Infinite: infiniteText(s.Value), Step: s.Step, Line: s.Line,
		Stream: s.Stream, Time: s.Time.UTC()}
	if IsFinite(s.Value) {
		w.Value = &s.Value
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes; a null or missing value that is not infinite is NaN.
func (s *Sample) UnmarshalJSON(data []byte) error {
	var w sampleWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	infinite, _ := parseInfinite(w.Infinite)
	*s = Sample{Name: w.Name, Value: infinite, Step: w.Step, Line: w.Line, Stream: w.Stream,
		Time: w.Time}
	if w.Value != nil {
		s.Value = *w.Value
	}
	return nil
}

func IsFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
