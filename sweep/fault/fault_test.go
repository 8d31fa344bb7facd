package fault_test

import (
	"testing"

	"mlframework/sweep/fault"
)

func TestListReadsLikeACompilerAndInFileOrder(t *testing.T) {
	t.Parallel()
	var l fault.List
	l.Add(fault.Fault{File: "p.yml", Line: 3, Column: 8, Problem: "epoch: step is 0",
		Remedy: "write 1"})
	l.Add(fault.Fault{File: "p.yml", Line: 1, Column: 2, Problem: "lr: no value"})
	l.Add(fault.Fault{File: "p.yml", Problem: "is a folder"})
	want := "p.yml: is a folder\np.yml:1:2: lr: no value\np.yml:3:8: epoch: step is 0; write 1"
	if got := l.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if fault.List(nil).Err() != nil {
		t.Error("no faults must be no error")
	}
}

func TestNearestSuggestsOnlyWhatIsNear(t *testing.T) {
	t.Parallel()
	names := []string{"run_training", "test_echo", "retry", "a", "1", "lr", "sgd", "adam", "epoch"}
	for word, want := range map[string]string{
		"run_trainig": "run_training", "RUN_TRAINING": "run_training", "test_ehco": "test_echo",
		"retrys": "retry", "zebra": "", "": "", "x": "", "d": "", "A": "a", "7": "", "lrs": "lr",
		"lx": "lr", "sdg": "sgd", "sxx": "", "adm": "adam", "aam": "adam", "epcoh": "epoch",
		"true": "",
	} {
		if got := fault.Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
