package definition_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/definition"
)

// The names below are kept in the records of sweeps: they may be added to, and never changed.
const record = `{"name":"run_training","command":["python3","-u","train.py","0.10","007","~","yes",""],` +
	`"parameters":"parameters.yml","flags_space":true,"switch_value":true,"timeout_ns":5400000000000,` +
	`"retry":{"error":1,"oom":2,"lost":3},"max_failures":10,"gpus":0.5,` +
	`"metrics":[{"name":"accuracy","pattern":"validation accuracy[ =:]+([-+0-9.eE]+)"},` +
	`{"name":"loss","pattern":"loss (?P\u003cunit\u003e\\w+) (?P\u003cvalue\u003e\\d+)"}],"objective":{"metric":"val loss"}}`

func TestRecord(t *testing.T) {
	t.Parallel()
	f := read(t, full)
	task, err := f.Task("run_training")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(record, string(data)); diff != "" {
		t.Error(diff)
	}
	data, err = json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back definition.File
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	f.Tasks[1].Unsupported = nil // is of the file's text
	if diff := cmp.Diff(unplaced(f), &back); diff != "" {
		t.Error(diff)
	}
}

func TestRecordOfAnotherVersion(t *testing.T) {
	t.Parallel()
	var got definition.Task
	if err := json.Unmarshal([]byte(`{"name":"a","later":{"b":1},"retry":{"later":2}}`), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(definition.Task{Name: "a"}, got); diff != "" {
		t.Error(diff)
	}
}
