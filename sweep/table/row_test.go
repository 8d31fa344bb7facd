package table_test

import (
	"github.com/google/go-cmp/cmp/cmpopts"
	"math"

	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

var (
	clock   = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	sameNaN = cmpopts.EquateNaNs()
	nan     = math.NaN()
	inf     = math.Inf(1)
)

func ptr[T any](v T) *T { return &v }

// full returns a row in which everything is known.
func full() table.Row {
	started := clock.In(time.FixedZone("", 3600)).Add(500 * time.Millisecond)
	return table.Row{
		ID: "run_training-7/42", Sweep: "run_training-7", Definition: "run_training", Index: 42,
		State:      "failed",
		Argv:       []string{"python3", "train.py", "--name=<a b>", "--lr=1e-3"},
		Parameters: table.Parameters{{Name: "name", Value: "<a b>"}, {Name: "lr", Value: "1e-3"}},
		Metrics:    metric.Final{{Name: "loss", Value: nan}, {Name: "accuracy", Value: 0.1}},
		Attempts:   2, Host: "gpu1", Slot: ptr(0), GPUs: []table.GPU{{UUID: "GPU-5b3c2a1f-1111-2222", Index: "0", Name: "NVIDIA L4"}},
		Started:  &started,
		Duration: ptr(61.25), ExitCode: ptr(1), Class: "error", Reason: "exit code 1",
		Revision: "0123456789abcdef",
	}
}

const fullJSON = `{"id":"run_training-7/42","sweep":"run_training-7","definition":"run_training","index":42,"state":"failed",` +
	`"argv":["python3","train.py","--name=<a b>","--lr=1e-3"],"parameters":{"name":"<a b>","lr":"1e-3"},` +
	`"metrics":{"loss":null,"accuracy":0.1},"attempts":2,"host":"gpu1","slot":0,"gpus":[{"uuid":"GPU-5b3c2a1f-1111-2222","index":"0","name":"NVIDIA L4"}],` +
	`"started":"2026-03-04T05:06:07.5Z","duration":61.25,"exit_code":1,"class":"error","reason":"exit code 1","revision":"0123456789abcdef"}`

const emptyJSON = `{"id":"run_training/0","sweep":null,"definition":null,"index":0,"state":null,"argv":[],"parameters":{},` +
	`"metrics":{},"attempts":0,"host":null,"slot":null,"gpus":[],"started":null,"duration":null,"exit_code":null,` +
	`"class":null,"reason":null,"revision":null}`

func TestWriteJSONIsTheContract(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := table.WriteJSON(&out, []table.Row{full(), {ID: "run_training/0"}}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(fullJSON+"\n"+emptyJSON+"\n", out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRowReadsBackFromJSON(t *testing.T) {
	t.Parallel()
	for _, row := range []table.Row{full(), {ID: "x", Argv: []string{}, GPUs: []table.GPU{}}} {
		encoded, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		var back table.Row
		if err := json.Unmarshal(encoded, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(row, back, sameNaN); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func TestWriteJSONHidesNothingAndObeysNothing(t *testing.T) {
	t.Parallel()
	const odd = "\x1b[2J\x7f\u009b\u202e\U000E0001é世\n"
	var out bytes.Buffer
	if err := table.WriteJSON(&out, []table.Row{{ID: odd}}); err != nil {
		t.Fatal(err)
	}
	want := `{"id":"\u001b[2J\u007f\u009b\u202e\udb40\udc01é世\n",`
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("got %s, want it to begin with %s", out.String(), want)
	}
	var back table.Row
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.ID != odd {
		t.Errorf("read back %q, %v", back.ID, err)
	}
}

func TestOrderedObjectsRefuseWhatTheyAreNot(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`[1]`, `3`, `{"a": {}}`, `"x"`} {
		if json.Unmarshal([]byte(in), new(metric.Final)) == nil || json.Unmarshal([]byte(in),
			new(table.Parameters)) == nil {
			t.Errorf("%s was read", in)
		}
	}
}
