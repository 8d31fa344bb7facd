package result_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/result"
)

func TestSeriesKeepsTheLastValueInOrderOfAppearance(t *testing.T) {
	t.Parallel()
	var s result.Series
	for _, sample := range []result.Sample{at(1, "loss", 3), at(2, "accuracy", 0.5), at(3, "loss", nan), at(4, "accuracy", 0.75)} {
		if !s.Add(sample) {
			t.Errorf("sample %v not kept", sample)
		}
	}
	want := result.Final{{Name: "loss", Value: nan, Span: &result.Span{Step: 2}},
		{Name: "accuracy", Value: 0.75, Span: &result.Span{Step: 2, Low: &result.Point{Value: 0.5, Step: 1}, High: &result.Point{Value: 0.75, Step: 2}}}}
	if d := cmp.Diff(want, s.Final(), sameNaN); d != "" {
		t.Errorf("final (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]result.Sample{at(1, "loss", 3), at(3, "loss", nan)}, s.Samples("loss"), sameNaN); d != "" {
		t.Errorf("samples (-want +got):\n%s", d)
	}
	if s.Samples("x") != nil || s.Count("x") != 0 || s.Count("loss") != 2 {
		t.Error("counts are wrong")
	}
}

// Of 100,000 values of a metric so few are kept, and sent on, that they take less than a megabyte at a master: a sample is some 120
// bytes there.
func TestSeriesPassesOnFewOfMany(t *testing.T) {
	t.Parallel()
	var s result.Series
	passed, bytes := 0, 0
	for i := range int64(100_000) {
		sample := result.Sample{Name: "val/accuracy", Value: 1 / float64(i+3), Step: &i, Line: i, Stream: "stdout", Time: time.Unix(1e9, i)}
		if s.Add(sample) {
			text, err := json.Marshal(sample)
			if err != nil {
				t.Fatal(err)
			}
			passed, bytes = passed+1, bytes+len(text)+1
		}
	}
	if passed > 8000 || passed < result.MaxSamples || bytes > 1<<20 {
		t.Errorf("%d samples of %d bytes", passed, bytes)
	}
}

func TestSeriesSpansTheWholeAttemptEvenly(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{1, result.MaxSamples, result.MaxSamples + 1, 3*result.MaxSamples + 7, 1_000_001} {
		var s result.Series
		kept := int64(0)
		for i := range n {
			if s.Add(result.Sample{Name: "loss", Value: float64(i), Line: i}) {
				kept++
			}
		}
		got := s.Samples("loss")
		stride := int64(1)
		for n > stride*result.MaxSamples {
			stride *= 2
		}
		if want := (n + stride - 1) / stride; int64(len(got)) != want {
			t.Errorf("of %d: kept %d, want %d", n, len(got), want)
		}
		for i, sample := range got {
			if sample.Line != int64(i)*stride {
				t.Fatalf("of %d: sample %d is number %d, want %d", n, i, sample.Line, int64(i)*stride)
			}
		}
		if v, _ := s.Final().Get("loss"); v != float64(n-1) || s.Count("loss") != n {
			t.Errorf("of %d: final value %v, count %d", n, v, s.Count("loss"))
		}
		if kept > 10*result.MaxSamples {
			t.Errorf("of %d: said to be kept: %d", n, kept)
		}
	}
}

func TestSeriesBoundsTheNames(t *testing.T) {
	t.Parallel()
	var s result.Series
	for i := range result.MaxMetrics + 5 {
		s.Add(result.Sample{Name: fmt.Sprint(i)})
	}
	if len(s.Final()) != result.MaxMetrics || s.Ignored() != 5 {
		t.Errorf("%d names, %d ignored", len(s.Final()), s.Ignored())
	}
}

func TestSampleJSON(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("", 3600)
	for _, tt := range []struct {
		sample result.Sample
		want   string
	}{
		{step(4, result.Sample{Name: "loss", Value: 1e-7, Line: 12, Stream: "stdout", Time: clock.In(east)}),
			`{"name":"loss","value":1e-7,"step":4,"line":12,"stream":"stdout","time":"2026-03-04T05:06:07Z"}`},
		{at(1, "loss", nan), `{"name":"loss","value":null,"line":1,"time":"2026-03-04T05:06:07Z"}`},
		{at(1, "loss", -inf), `{"name":"loss","value":null,"infinite":"-inf","line":1,"time":"2026-03-04T05:06:07Z"}`},
	} {
		got, err := json.Marshal(tt.sample)
		if err != nil || string(got) != tt.want {
			t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
		}
		var back result.Sample
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.sample, back, sameNaN); d != "" {
			t.Errorf("read back (-want +got):\n%s", d)
		}
	}
}
