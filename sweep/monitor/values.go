package monitor

import (
	"fmt"
	"math"
	"strconv"

	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

// maxValues is how many metrics of a task are shown.
const maxValues = 100

// value is something with a name.
type value struct{ Name, Text, Title string }

// parametersOf returns the parameters of a task.
func parametersOf(all table.Parameters) (values []value) {
	for _, p := range all {
		text := human.Visible(p.Value)
		values = append(values, value{human.Visible(p.Name), human.Truncate(text),
			text[:min(len(text), maxTitleBytes)]})
	}
	return values
}

// metricsOf returns the metrics of a task, each with its step.
func metricsOf(all metric.Final) (values []value) {
	for _, m := range all[:min(len(all), maxValues)] {
		v := value{human.Truncate(human.Visible(m.Name)), fourDigits(m.Value),
			strconv.FormatFloat(m.Value, 'g', -1, 64)}
		if m.Span != nil {
			v.Title += " (" + m.Span.String() + ")"
		}
		values = append(values, v)
	}
	return values
}

// fourDigits writes a number with four significant digits, and whole numbers up to a million in full.
func fourDigits(v float64) string {
	const million = 1e6
	if math.Trunc(v) == v && math.Abs(v) < million || math.IsInf(v, 0) || math.IsNaN(v) {
		return human.Number(v)
	}
	return fmt.Sprintf("%.4g", v)
}
