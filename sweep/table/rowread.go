package table

import (
	"encoding/json"
	"strings"

	"mlframework/sweep/internal/rawjson"
	"mlframework/sweep/metric"
)

// ReadRow reads a line that [WriteJSON] wrote, or any other JSON of a Row. It takes a fifth of
// encoding/json's time where the text is as WriteJSON has it.
func ReadRow(line []byte, into *Row) error {
	r := rowReader{Reader: rawjson.NewReader(string(line))}
	*into = Row{}
	if r.row(into) {
		return nil
	}
	return into.readAny(line)
}

// UnmarshalJSON reads what MarshalJSON writes, and other JSON of such an object.
func (r *Row) UnmarshalJSON(data []byte) error { return ReadRow(data, r) }

// plainRow is a Row without its methods.
type plainRow Row

// readAny reads JSON that MarshalJSON does not write: other spaces, names or orders.
func (r *Row) readAny(data []byte) error {
	var read struct {
		plainRow
		Infinite metric.Infinite `json:"infinite"`
		Steps    metric.Steps    `json:"steps"`
		Places   metric.Spans    `json:"positions"`
		Attempts metric.Steps    `json:"value_attempts"`
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*r = Row(read.plainRow)
	r.Metrics.Restored(read.Infinite).Spanned(metric.Spans(read.Steps)).Spanned(read.Places).
		OfAttempts(read.Attempts)
	return nil
}

// rowReader reads the JSON of rows.
type rowReader struct {
	*rawjson.Reader
	infinite metric.Infinite
	taken    metric.Steps
	places   metric.Spans
	attempts metric.Steps
}

func (r *rowReader) row(into *Row) bool {
	if !r.Take('{') {
		return false
	}
	for n := 0; !r.Take('}'); n++ {
		var key string
		if n > 0 && !r.Take(',') || !r.Word(&key) || !r.Take(':') || !r.field(into, key) {
			return false
		}
	}
	into.Metrics.Restored(r.infinite).Spanned(metric.Spans(r.taken)).Spanned(r.places).
		OfAttempts(r.attempts)
	return strings.Trim(r.Rest(), "\n") == ""
}

func (r *rowReader) field(into *Row, key string) bool {
	switch key {
	case "id":
		return r.Word(&into.ID)
	case "sweep":
		return r.WordOrNull(&into.Sweep)
	case "definition":
		return r.WordOrNull(&into.Definition)
	case "index":
		return r.Whole(&into.Index)
	case "state":
		return r.WordOrNull(&into.State)
	case "argv":
		return r.List(&into.Argv)
	case "parameters":
		return into.Parameters.readJSON(r.Reader)
	case "metrics":
		return into.Metrics.ReadJSON(r.Reader)
	case "infinite":
		return r.infinite.ReadJSON(r.Reader)
	case "steps":
		return r.taken.ReadJSON(r.Reader)
	case "positions":
		return r.places.ReadJSON(r.Reader)
	case "value_attempts":
		return r.attempts.ReadJSON(r.Reader)
	case "attempts":
		var n int64
		ok := r.Whole(&n)
		into.Attempts = int(n)
		return ok
	case "host":
		return r.WordOrNull(&into.Host)
	case "slot":
		return r.IntOrNull(&into.Slot)
	case "gpus":
		return r.gpus(&into.GPUs)
	case "started":
		return r.TimeOrNull(&into.Started)
	case "duration":
		return r.NumberOrNull(&into.Duration)
	case "exit_code":
		return r.IntOrNull(&into.ExitCode)
	case "class":
		return r.WordOrNull(&into.Class)
	case "reason":
		return r.WordOrNull(&into.Reason)
	case "revision":
		return r.WordOrNull(&into.Revision)
	}
	return false
}

// gpus reads a list of GPUs, as it is written.
func (r *rowReader) gpus(into *[]GPU) bool {
	*into = []GPU{}
	if !r.Take('[') {
		return false
	}
	for !r.Take(']') {
		var g GPU
		if len(*into) > 0 && !r.Take(',') || !r.Take('{') || !r.named("uuid", &g.UUID) ||
			!r.Take(',') || !r.named("index", &g.Index) || !r.Take(',') ||
			!r.named("name", &g.Name) || !r.Take('}') {
			return false
		}
		*into = append(*into, g)
	}
	return true
}

// named reads a word with its name.
func (r *rowReader) named(name string, into *string) bool {
	var key string
	return r.Word(&key) && key == name && r.Take(':') && r.Word(into)
}
