package table_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

// wire is a Row as encoding/json writes and reads it.
type wire struct {
	ID         string              `json:"id"`
	Sweep      *string             `json:"sweep"`
	Definition *string             `json:"definition"`
	Index      int64               `json:"index"`
	State      *string             `json:"state"`
	Argv       []string            `json:"argv"`
	Parameters map[string]string   `json:"parameters"`
	Metrics    map[string]*float64 `json:"metrics"`
	Infinite   map[string]string   `json:"infinite,omitempty"`
	Attempts   int                 `json:"attempts"`
	Host       *string             `json:"host"`
	Slot       *int                `json:"slot"`
	GPUs       []table.GPU         `json:"gpus"`
	Started    *time.Time          `json:"started"`
	Duration   *float64            `json:"duration"`
	ExitCode   *int                `json:"exit_code"`
	Class      *string             `json:"class"`
	Reason     *string             `json:"reason"`
	Revision   *string             `json:"revision"`
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// encoded returns a row as encoding/json writes it, with < > & as they are.
func encoded(tb testing.TB, r table.Row) string {
	w := wire{ID: r.ID, Sweep: textOrNull(r.Sweep), Definition: textOrNull(r.Definition),
		Index: r.Index, State: textOrNull(r.State),
		Argv: append([]string{}, r.Argv...), Parameters: map[string]string{},
		Metrics: map[string]*float64{}, Attempts: r.Attempts,
		Host: textOrNull(r.Host), Slot: r.Slot, GPUs: append([]table.GPU{}, r.GPUs...),
		Started: r.Started, Duration: r.Duration,
		ExitCode: r.ExitCode, Class: textOrNull(r.Class), Reason: textOrNull(r.Reason),
		Revision: textOrNull(r.Revision)}
	for _, p := range r.Parameters {
		w.Parameters[p.Name] = p.Value
	}
	for _, m := range r.Metrics {
		w.Metrics[m.Name] = &m.Value
		if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
			w.Metrics[m.Name] = nil
		}
		if math.IsInf(m.Value, 0) {
			w.Infinite = map[string]string{m.Name: map[bool]string{true: "inf",
				false: "-inf"}[m.Value > 0]}
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(w); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// What is written and read here by hand is what encoding/json would write and read.
func FuzzRowJSON(f *testing.F) {
	f.Add("s-1/2", "a<b>&\"\\\u2028\x1b", "\xff日本", 1.5, int64(7))
	f.Add("", "", "", math.NaN(), int64(-1))
	f.Add("x", "y", "z", 1e-7, int64(math.MaxInt64))
	f.Add("x", "y", "z", -2.5e21, int64(0))
	f.Add("x", "y", "z", math.Inf(-1), int64(0))
	f.Add("x", "y", "z", 123456789.125, int64(1<<40))
	f.Fuzz(func(t *testing.T, id, word, name string, v float64, n int64) {
		at, code := time.UnixMicro(n%1e15).UTC(), int(n)
		r := table.Row{ID: id, Sweep: word, Definition: name, Index: n, State: word,
			Argv:       []string{word, name},
			Parameters: table.Parameters{{Name: name, Value: word}},
			Metrics:    metric.Final{{Name: word, Value: v}}, Attempts: code,
			Host: name, Slot: &code, GPUs: []table.GPU{{UUID: id, Index: id, Name: id}}, Started: &at, ExitCode: &code, Class: id,
			Reason: word}
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			r.Duration = &v
		}
		got, err := json.Marshal(metric.Final{})
		if err != nil || string(got) != "{}" {
			t.Fatal(string(got), err)
		}
		if got, err = r.MarshalJSON(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(encoded(t, r), string(got)+"\n"); d != "" {
			t.Errorf("(-encoding/json +here):\n%s", d)
		}
		var line bytes.Buffer
		if err := table.WriteJSON(&line, []table.Row{r}); err != nil {
			t.Fatal(err)
		}
		sameRow(t, line.Bytes())
	})
}

// FuzzReadRow compares what ReadRow takes for a row with what encoding/json does.
func FuzzReadRow(f *testing.F) {
	for _, line := range []string{
		`{"id":"s-1/0","sweep":null,"index":3,"argv":["a"],"parameters":{"lr":"0.1"},"metrics":{"a":1e-3,"b":null},"slot":0,"started":"2026-01-02T03:04:05Z"}`,
		`{"index":01}`, `{"index":1.}`, `{"index":1,}`, `{"index":+1}`, `{"duration":.5}`,
		`{"duration":1_0}`, `{"duration":0x1p4}`, `{"duration":1e}`,
		`{"metrics":{"a":Infinity}}`, ` {"id" : "x"} `, `{"id":"\ud800"}`,
		`{"id":"` + "\x01" + `"}`, `{"unknown":{"a":[1]}}`, `{"ID":"x"}`, `null`, ``, `{}x`,
		`{"started":"2026-01-02T03:04:05+01:00"}`, `{"gpus":null,"slot":null,"duration":null}`,
		`{"metrics":{"a":null},"infinite":{"a":"-inf"}}`,
		`{"infinite":{"a":"inf"},"metrics":{"a":null,"b":null}}`,
		`{"metrics":{"a":1,"b":1e999},"infinite":{"a":"inf","c":"x"}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) { sameRow(t, line) })
}

func sameRow(t *testing.T, line []byte) {
	t.Helper()
	var got, want table.Row
	err, wantErr := table.ReadRow(line, &got), table.ReadAny(&want, line)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: %v, and encoding/json has %v", line, err, wantErr)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); err == nil &&
		d != "" {
		t.Errorf("%s (-encoding/json +ReadRow):\n%s", line, d)
	}
}

// Whatever stands in a value, a terminal obeys nothing of its line, and the line says the same.
func FuzzJSONLine(f *testing.F) {
	for _, seed := range []string{"\u009b2J", "\u0080\u009f", "\u202eabc\u2066", "\x7f\x1b[2J",
		"<a & b>", "\U000e0001", "\xff", "ä 漢"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		if err := table.WriteJSONLine(&out, map[string]string{"k": text}); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(out.String(), "\n")
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q is written as %q", text, line)
		}
		var back map[string]string
		if err := json.Unmarshal([]byte(line), &back); err != nil || utf8.ValidString(text) &&
			back["k"] != text {
			t.Errorf("%q comes back as %q: %v", text, back["k"], err)
		}
	})
}
