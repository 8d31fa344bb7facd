package metric_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mlframework/sweep/metric"
)

// Values are those of the samples, whoever wrote their JSON.
func TestStepValues(t *testing.T) {
	t.Parallel()
	step, zero := int64(7), int64(0)
	var samples []metric.Sample
	for _, v := range []float64{1, -0.5e-300, math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, name := range []string{"loss", "other", `a "quoted\ name`, ""} {
			for _, at := range []*int64{nil, &zero, &step} {
				samples = append(samples, metric.Sample{Name: name, Value: v, Step: at, Line: 3,
					Time: time.Unix(1e9, 5)}, metric.Sample{Name: name, Value: v, Step: at,
					Stream: "stdout"})
			}
		}
	}
	text, err := json.Marshal(samples)
	if err != nil {
		t.Fatal(err)
	}
	indented, err := json.MarshalIndent(samples, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"loss", `a "quoted\ name`, "", "none"} {
		var want []metric.StepValue
		for _, s := range samples {
			if s.Name == name {
				v := metric.StepValue{Value: s.Value, HasStep: s.Step != nil}
				if v.HasStep {
					v.Step = *s.Step
				}
				want = append(want, v)
			}
		}
		for _, written := range []string{string(text), string(indented)} {
			got, err := metric.AppendStepValues(nil, written, name)
			if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" || err != nil {
				t.Errorf("%q: %v (-want +got):\n%s", name, err, d)
			}
		}
	}
	for _, wrong := range []string{"", "[", `[{"name":"loss","value":1`, `[{"name":1}]`} {
		if got, err := metric.AppendStepValues(nil, wrong, "loss"); err == nil || len(got) > 0 {
			t.Errorf("%s: %v", wrong, got)
		}
	}
	if got, err := metric.AppendStepValues(nil, "[]", "loss"); err != nil || len(got) > 0 {
		t.Errorf("no samples: %v, %v", got, err)
	}
}
