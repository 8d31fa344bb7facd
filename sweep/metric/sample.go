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
	Name  string  `json:"name"`           // of the metric
	Value float64 `json:"value"`          // NaN: not a number; may be infinite
	Step  *int64  `json:"step,omitempty"` // of a JSON line; nil where none was given
	// line of the stream, from 1, as grep -n and editors count: a lone \r begins no new line
	Line int64 `json:"line"`
	// "stdout" or "stderr"; a Scanner leaves it to its owner
	Stream string    `json:"stream,omitempty"`
	Time   time.Time `json:"time"` // when the line was complete
}

// plainSample is a Sample without its methods.
type plainSample Sample

// sampleWire is the JSON form: what JSON has no number for is null, and stands beside it where it
// is infinite.
type sampleWire struct {
	Name     string   `json:"name"` // here too, as fields are written in this order
	Value    *float64 `json:"value"`
	Infinite string   `json:"infinite,omitempty"`
	plainSample
}

// MarshalJSON writes {"name","value","infinite","step","line","stream","time"}: value is null when
// it is not a number or infinite, infinite is "inf" or "-inf" and left out elsewhere, step and
// stream are left out where there is none, the time is UTC.
func (s Sample) MarshalJSON() ([]byte, error) {
	s.Time = s.Time.UTC()
	w := sampleWire{Name: s.Name, Infinite: infiniteText(s.Value), plainSample: plainSample(s)}
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
	*s = Sample(w.plainSample)
	s.Name = w.Name
	s.Value, _ = parseInfinite(w.Infinite)
	if w.Value != nil {
		s.Value = *w.Value
	}
	return nil
}

func IsFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
