package metric_test

import (
	"testing"

	"mlframework/sweep/metric"
)

func TestParseObjectiveSaysWhatToWrite(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"accuracy", "maximise accuracy", "maximize", "minimize  "} {
		_, err := metric.ParseObjective(text)
		if err == nil {
			t.Errorf("%q was read", text)
		}
	}
	_, err := metric.ParseObjective("max accuracy")
	if want := `objective "max accuracy": write maximize METRIC or minimize METRIC`; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
