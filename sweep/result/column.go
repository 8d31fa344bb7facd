package result

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

type kind int

const (
	absent kind = iota
	word
	number
	noNumber // printed as a number and none: NaN
)

// cell is one value of one row. text may be empty for a number; use String.
type cell struct {
	kind kind
	text string
	num  float64
}

// String is the value in full, as CSV has it and filters compare it.
func (c cell) String() string {
	switch {
	case c.kind == noNumber:
		return "nan"
	case c.kind == number && c.text == "":
		return exactNumber(c.num)
	default:
		return c.text
	}
}

func wordCell(text string) cell {
	if text == "" {
		return cell{}
	}
	return cell{kind: word, text: text}
}

func numberCell(v float64) cell {
	if math.IsNaN(v) {
		return cell{kind: noNumber, num: v}
	}
	return cell{kind: number, num: v}
}

func intCell(v *int) cell {
	if v == nil {
		return cell{}
	}
	return numberCell(float64(*v))
}

// textCell is text that may be a number.
func textCell(text string) cell {
	if text != "" && strings.IndexByte("0123456789.+-", text[0]) >= 0 {
		if v, err := strconv.ParseFloat(text, 64); err == nil && isFinite(v) {
			return cell{number, text, v}
		}
	}
	return cell{kind: word, text: text}
}

// column is a name of the table with the way to its value.
type column struct {
	name      string
	needs     Fields // of a row, for get
	parameter string // the parameter that it shows; "": another column
	metric    string // the metric that it shows; "": another column
	numeric   bool   // what rows are sorted by is no text
	get       func(*Row) cell
	key       func(*Row) cell // what rows are sorted by; nil: as get
}

// fixed are the columns of every row, by their names in JSON and in its order.
var fixed = []column{
	{name: "id", needs: FieldID, get: func(r *Row) cell { return wordCell(r.ID) }},
	{name: "sweep", needs: FieldID, get: func(r *Row) cell { return wordCell(r.Sweep) }},
	{name: "definition", needs: FieldID, get: func(r *Row) cell { return wordCell(r.Definition) }},
	{name: indexColumn, needs: fieldIndex, numeric: true, get: func(r *Row) cell { return cell{number, strconv.FormatInt(r.Index, 10), float64(r.Index)} },
		key: func(r *Row) cell { return numberCell(float64(r.Index)) }},
	{name: stateColumn, needs: FieldState, get: func(r *Row) cell { return wordCell(r.State) }},
	{name: "argv", needs: FieldArgv, get: func(r *Row) cell { return wordCell(CommandLine(r.Argv)) }},
	{name: "attempts", needs: FieldAttempts, numeric: true, get: func(r *Row) cell { return numberCell(float64(r.Attempts)) }},
	{name: "host", needs: FieldHost, get: func(r *Row) cell { return wordCell(r.Host) }},
	{name: "slot", needs: FieldSlot, numeric: true, get: func(r *Row) cell { return intCell(r.Slot) }},
	{name: "gpus", needs: FieldGPUs, get: func(r *Row) cell { return wordCell(strings.Join(r.GPUs, ",")) }},
	{name: "started", needs: FieldStarted, numeric: true, get: startedCell, key: startedKey},
	{name: "duration", needs: FieldDuration, numeric: true, get: durationCell},
	{name: "exit_code", needs: FieldExitCode, numeric: true, get: func(r *Row) cell { return intCell(r.ExitCode) }},
	{name: "reason", needs: FieldReason, get: func(r *Row) cell { return wordCell(r.Reason) }},
	{name: "revision", needs: FieldRevision, get: func(r *Row) cell { return wordCell(r.Revision) }},
}

// Names of columns that are more than a name to a question.
const (
	indexColumn = "index"
	stateColumn = "state"
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
	return numberCell(float64(r.Started.UnixMilli()))
}

func durationCell(r *Row) cell {
	if r.Duration == nil || !isFinite(*r.Duration) {
		return cell{}
	}
	return numberCell(*r.Duration)
}

func parameterColumn(name string) column {
	return column{name: name, needs: FieldParameters, parameter: name, get: func(r *Row) cell {
		text, ok := r.Parameters.Get(name)
		return parameterCell(text, ok)
	}}
}

func parameterCell(text string, ok bool) cell {
	if !ok {
		return cell{}
	}
	return textCell(text)
}

func metricColumn(name string) column {
	return column{name: name, needs: FieldMetrics, metric: name, numeric: true, get: func(r *Row) cell {
		v, ok := r.Metrics.Get(name)
		if !ok {
			return cell{}
		}
		return numberCell(v)
	}}
}

const stepsPrefix = "steps."

// stepColumn is the step of a metric's value.
func stepColumn(name string) column {
	return column{name: stepsPrefix + name, needs: FieldSteps, numeric: true, get: func(r *Row) cell {
		for i := range r.Metrics {
			if m := &r.Metrics[i]; m.Name == name && m.Span != nil {
				return cell{number, strconv.FormatInt(m.Span.Step, 10), float64(m.Span.Step)}
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
