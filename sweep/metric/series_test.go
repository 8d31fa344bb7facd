package metric_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
)

func TestSeriesKeepsTheLastValueInOrderOfAppearance(t *testing.T) {
	t.Parallel()
	var s metric.Series
	for _, sample := range []metric.Sample{at(1, "loss", 3), at(2, "accuracy", 0.5),
		at(3, "loss", nan), at(4, "accuracy", 0.75)} {
		if !s.Add(sample) {
			t.Errorf("sample %v not kept", sample)
		}
	}
	want := metric.Final{{Name: "loss", Value: nan, Span: &metric.Span{Step: 2, Of: 2}},
		{Name: "accuracy", Value: 0.75, Span: &metric.Span{Step: 2, Of: 2,
			Low: &metric.Point{Value: 0.5, Step: 1, Of: 2}, High: &metric.Point{Value: 0.75,
				Step: 2, Of: 2}}}}
	if d := cmp.Diff(want, s.Final(), sameNaN); d != "" {
		t.Errorf("final (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]metric.Sample{at(1, "loss", 3), at(3, "loss", nan)}, s.Samples("loss"),
		sameNaN); d != "" {
		t.Errorf("samples (-want +got):\n%s", d)
	}
	if s.Samples("x") != nil || s.Count("x") != 0 || s.Count("loss") != 2 {
		t.Error("counts are wrong")
	}
}

// Of 100,000 values of a task so few are kept, and sent on, that they take less than a megabyte at
// a master, whatever they are named, of however many metrics they are, and in whichever order these
// come.
func TestSeriesPassesOnFewOfMany(t *testing.T) {
	t.Parallel()
	const values = 100_000
	inTurn := func(metrics int) func(int) int { return func(i int) int { return i % metrics } }
	for name, c := range map[string]struct {
		name  string
		of    func(int) int // which metric a value is of
		least int
	}{
		"one metric":          {"val/accuracy", inTurn(1), 5000},
		"500 metrics":         {"layer/weights/mean", inTurn(500), 5000},
		"1000 metrics, long":  {strings.Repeat("n", metric.MaxName-5), inTurn(1000), 1000},
		"one metric, long":    {strings.Repeat("<", metric.MaxName-5), inTurn(1), 400},
		"one after the other": {"val/accuracy", func(i int) int { return i / 100 }, 5000},
		"more and more of them": {"val/accuracy", func(i int) int {
			return min(i%(1+i/200), 999)
		}, 5000},
		"one often, others seldom": {"val/accuracy", func(i int) int {
			return max(0, 100-i%1000)
		}, 5000},
	} {
		var s metric.Series
		passed, bytes := 0, 0
		last := map[int]float64{}
		for i := range values {
			of, step := c.of(i), int64(i)
			sample := metric.Sample{Name: fmt.Sprint(c.name, of), Value: 1 / float64(i+3),
				Step: &step, Line: step, Stream: "stdout", Time: time.Unix(1e9, step)}
			last[of] = sample.Value
			if s.Add(sample) {
				text, err := json.Marshal(sample)
				if err != nil {
					t.Fatal(err)
				}
				passed, bytes = passed+1, bytes+len(text)+1
			}
		}
		t.Logf("%s: %d samples of %d bytes", name, passed, bytes)
		if passed < c.least || bytes > 1<<20 {
			t.Errorf("%s: %d samples of %d bytes", name, passed, bytes)
		}
		if got := s.Thinned(); got == nil ||
			*got != (metric.Thinned{Kept: int64(passed), Samples: values}) {
			t.Errorf("%s: of %d it says %+v", name, passed, got)
		}
		kept := 0
		for of, value := range last {
			metric := fmt.Sprint(c.name, of)
			samples := s.Samples(metric)
			if kept += len(samples); len(samples) == 0 {
				t.Fatalf("%s: nothing is kept of metric %d", name, of)
			}
			if got, _ := s.Final().Get(metric); got != value {
				t.Fatalf("%s: metric %d is %v, want %v", name, of, got, value)
			}
		}
		if kept > metric.MaxSamples+metric.MaxMetrics {
			t.Errorf("%s: %d are kept", name, kept)
		}
	}
}

func TestSeriesSpansTheWholeAttemptEvenly(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{1, metric.MaxSamples, metric.MaxSamples + 1, 3*metric.MaxSamples + 7,
		1_000_001} {
		var s metric.Series
		kept := int64(0)
		for i := range n {
			if s.Add(metric.Sample{Name: "loss", Value: float64(i), Line: i}) {
				kept++
			}
		}
		got := s.Samples("loss")
		stride := int64(1)
		for n > stride*metric.MaxSamples {
			stride *= 2
		}
		if want := (n + stride - 1) / stride; int64(len(got)) != want {
			t.Errorf("of %d: kept %d, want %d", n, len(got), want)
		}
		for i, sample := range got {
			if sample.Line != int64(i)*stride {
				t.Fatalf("of %d: sample %d is number %d, want %d", n, i, sample.Line,
					int64(i)*stride)
			}
		}
		if v, _ := s.Final().Get("loss"); v != float64(n-1) || s.Count("loss") != n {
			t.Errorf("of %d: final value %v, count %d", n, v, s.Count("loss"))
		}
		if kept > 10*metric.MaxSamples {
			t.Errorf("of %d: said to be kept: %d", n, kept)
		}
	}
}

func TestSeriesBoundsTheNames(t *testing.T) {
	t.Parallel()
	var s metric.Series
	for i := range metric.MaxMetrics + 5 {
		s.Add(metric.Sample{Name: fmt.Sprint(i)})
	}
	if got := s.Thinned(); len(s.Final()) != metric.MaxMetrics || got == nil ||
		*got != (metric.Thinned{Kept: metric.MaxMetrics, Samples: metric.MaxMetrics + 5,
			Ignored: 5}) {
		t.Errorf("%d names, %+v", len(s.Final()), got)
	}
}

func TestSampleJSON(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("", 3600)
	for _, tt := range []struct {
		sample metric.Sample
		want   string
	}{
		{step(4, metric.Sample{Name: "loss", Value: 1e-7, Line: 12, Stream: "stdout",
			Time: clock.In(east)}),
			`{"name":"loss","value":1e-7,"step":4,"line":12,"stream":"stdout","time":"2026-03-04T05:06:07Z"}`},
		{at(1, "loss", nan), `{"name":"loss","value":null,"line":1,"time":"2026-03-04T05:06:07Z"}`},
		{at(1, "loss", -inf),
			`{"name":"loss","value":null,"infinite":"-inf","line":1,"time":"2026-03-04T05:06:07Z"}`},
	} {
		got, err := json.Marshal(tt.sample)
		if err != nil || string(got) != tt.want {
			t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
		}
		var back metric.Sample
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.sample, back, sameNaN); d != "" {
			t.Errorf("read back (-want +got):\n%s", d)
		}
	}
}
