package table

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"mlframework/sweep/expr"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
)

// cell is one value of one row. Its text may be empty for a number; use String.
type cell = expr.Value

const (
	absent   = expr.Absent
	word     = expr.Text
	number   = expr.Number
	noNumber = expr.NaN // printed as a number and none
)

func wordCell(text string) cell {
	if text == "" {
		return cell{}
	}
	return cell{Kind: word, Text: text}
}

func wholeCell(v int64) cell {
	return cell{Kind: number, Text: strconv.FormatInt(v, 10), Number: float64(v)}
}

func intCell(v *int) cell {
	if v == nil {
		return cell{}
	}
	return expr.NumberOf(float64(*v))
}

// column is a name of the table with the way to its value.
type column struct {
	name      string
	needs     Fields // of a row, for get
	parameter string // the parameter that it shows; "": another column
	// of a parameter: its text, of which it is not asked whether it is a number
	text    func(*Row) (text string, ok bool)
	metric  string // the metric that it shows; "": another column
	numeric bool   // what rows are sorted by is not text
	get     func(*Row) cell
	key     func(*Row) cell // what rows are sorted by; nil: as get
}

// fixed are the columns of every row, by their names in JSON and in its order.
var fixed = []column{
	{name: "id", needs: FieldID, get: func(r *Row) cell { return wordCell(r.ID) }},
	{name: "sweep", needs: FieldID, get: func(r *Row) cell { return wordCell(r.Sweep) }},
	{name: "definition", needs: FieldID, get: func(r *Row) cell { return wordCell(r.Definition) }},
	{name: indexColumn, needs: fieldIndex, numeric: true, get: func(r *Row) cell {
		return wholeCell(r.Index)
	},
		key: func(r *Row) cell { return expr.NumberOf(float64(r.Index)) }},
	{name: stateColumn, needs: FieldState, get: func(r *Row) cell { return wordCell(r.State) }},
	{name: "argv", needs: FieldArgv, get: func(r *Row) cell {
		return wordCell(human.CommandLine(r.Argv))
	}},
	{name: "attempts", needs: FieldAttempts, numeric: true, get: func(r *Row) cell {
		return expr.NumberOf(float64(r.Attempts))
	}},
	{name: "host", needs: FieldHost, get: func(r *Row) cell { return wordCell(r.Host) }},
	{name: "slot", needs: FieldSlot, numeric: true, get: func(r *Row) cell {
		return intCell(r.Slot)
	}},
	{name: "gpus", needs: FieldGPUs, get: func(r *Row) cell {
		return wordCell(strings.Join(r.UUIDs(), ","))
	}},
	{name: "started", needs: FieldStarted, numeric: true, get: startedCell, key: startedKey},
	{name: durationColumn, needs: FieldDuration, numeric: true, get: durationCell},
	{name: "exit_code", needs: FieldExitCode, numeric: true, get: func(r *Row) cell {
		return intCell(r.ExitCode)
	}},
	{name: "reason", needs: FieldReason, get: func(r *Row) cell { return wordCell(r.Reason) }},
	{name: "revision", needs: FieldRevision, get: func(r *Row) cell {
		return wordCell(r.Revision)
	}},
}

// Names of columns that are more than a name to a question.
const (
	indexColumn    = "index"
	stateColumn    = "state"
	durationColumn = "duration"
)

func startedCell(r *Row) cell {
	if r.Started == nil {
		return cell{}
	}
	return wordCell(exactTime(*r.Started))
}

// startedKey has the order of startedCell's texts, to the millisecond, and is compared faster.
func startedKey(r *Row) cell {
	if r.Started == nil {
		return cell{}
	}
	return expr.NumberOf(float64(r.Started.UnixMilli()))
}

func durationCell(r *Row) cell {
	if r.Duration == nil || !metric.IsFinite(*r.Duration) {
		return cell{}
	}
	return expr.NumberOf(*r.Duration)
}

func parameterColumn(name string) column {
	text := func(r *Row) (string, bool) { return r.Parameters.Get(name) }
	return column{name: name, needs: FieldParameters, parameter: name, text: text,
		get: func(r *Row) cell { return parameterCell(text(r)) }}
}

func parameterCell(text string, ok bool) cell {
	if !ok {
		return cell{}
	}
	return expr.ValueOf(text)
}

func metricColumn(name string) column {
	return column{name: name, needs: FieldMetrics, metric: name, numeric: true,
		get: func(r *Row) cell {
			v, ok := r.Metrics.Get(name)
			if !ok {
				return cell{}
			}
			return expr.NumberOf(v)
		}}
}

const stepsPrefix = "steps."

// stepColumn returns the step of a metric's value, where one was printed.
func stepColumn(name string) column {
	return column{name: stepsPrefix + name, needs: FieldSteps, numeric: true,
		get: func(r *Row) cell {
			for i := range r.Metrics {
				if m := &r.Metrics[i]; m.Name == name && m.Span != nil && m.Span.Of == 0 {
					return wholeCell(m.Span.Step)
				}
			}
			return cell{}
		}}
}

func fixedColumn(name string) (column, bool) {
	i := slices.IndexFunc(fixed, func(c column) bool { return c.name == name })
	if i < 0 {
		return column{}, false
	}
	return fixed[i], true
}

// exactTime returns RFC 3339 in UTC with milliseconds, so that the order of texts is the order of
// times.
func exactTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
