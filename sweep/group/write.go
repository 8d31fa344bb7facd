package group

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

// WriteJSON writes one object per group and line.
func (t Table) WriteJSON(w io.Writer) error {
	for _, g := range t.Groups {
		if err := table.WriteJSONLine(w, g); err != nil {
			return err
		}
	}
	return nil
}

// WriteCSV writes a header and one record per group: the columns grouped by, tasks, and for each
// metric METRIC.n, METRIC.mean, METRIC.sd, METRIC.low, METRIC.high and METRIC.missing. What is
// absent is empty. Text is made safe as in a table of tasks.
func (t Table) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	record := append(slices.Clone(t.By), tasksColumn)
	for _, m := range t.Metrics {
		for _, s := range statistics {
			record = append(record, m+"."+s.name)
		}
		record = append(record, m+missingSuffix)
	}
	for i, text := range record {
		record[i] = table.CSVText(text)
	}
	_ = out.Write(record) // out keeps the first error
	for _, g := range t.Groups {
		record = record[:0]
		for _, name := range t.By {
			record = append(record, table.CSVText(text(g.By[name], "")))
		}
		record = append(record, strconv.FormatInt(g.Tasks, 10))
		for _, m := range t.Metrics {
			s := g.Metrics[m]
			record = append(record, strconv.FormatInt(s.N, 10), exact(s.Mean), exact(s.SD),
				exact(s.Low), exact(s.High), table.CSVText(MissingText(s.Missing)))
		}
		_ = out.Write(record)
	}
	out.Flush()
	return out.Error()
}

func text(value *string, absent string) string {
	if value == nil {
		return absent
	}
	return *value
}

func exact(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// MissingText says which tasks have no value that counts: "run-3/17 failed; 2 running, first
// run-3/19".
func MissingText(all []Missing) string {
	texts := make([]string, len(all))
	for i, m := range all {
		if texts[i] = m.First + " " + m.Why; m.Tasks > 1 {
			texts[i] = fmt.Sprintf("%d %s, first %s", m.Tasks, m.Why, m.First)
		}
	}
	return strings.Join(texts, "; ")
}

// WriteText writes a table for people, at most width columns wide; 0 is no limit. Numbers have at
// most six digits, deviations three.
func (t Table) WriteText(w io.Writer, width int) error {
	var columns []table.GridColumn
	for _, name := range t.By {
		columns = append(columns, table.GridColumn{Name: name, Worth: worthBy, Fold: true})
	}
	for i, m := range t.Metrics {
		columns = append(columns, t.columnsOf(m, i == 0)...)
	}
	grid := table.NewGrid(width, append(columns, table.GridColumn{Name: "missing", Optional: true,
		Long: true})...)
	for _, g := range t.Groups {
		var cells []string
		for _, name := range t.By {
			cells = append(cells, text(g.By[name], table.AbsentText))
		}
		for _, m := range t.Metrics {
			cells = append(cells, g.cells(m)...)
		}
		grid.Add(append(cells, g.Missing(t.Metrics))...)
	}
	return grid.Write(w)
}

// Worth of columns in a narrow terminal, from the least.
const (
	worthInterval = iota
	worthDeviation
	worthNumber
	worthMean
	worthBy
)

// columnsOf are the columns of a metric for people: where nothing else has these their names are
// short.
func (t Table) columnsOf(metric string, first bool) []table.GridColumn {
	prefix := ""
	isShort := func(name string) bool { return name == "n" || name == "sd" }
	if len(t.Metrics) > 1 || isShort(metric) || slices.ContainsFunc(t.By, isShort) {
		prefix = metric + "."
	}
	return []table.GridColumn{
		{Name: prefix + "n", Number: true, Worth: worthNumber},
		{Name: metric, Number: true, Worth: worthMean, Keep: first},
		{Name: prefix + "sd", Number: true, Worth: worthDeviation},
		{Name: prefix + "95%", Worth: worthInterval},
	}
}

// cells are a metric's: "5 of 6", mean, deviation and interval.
func (g Group) cells(metric string) []string {
	s := g.Metrics[metric]
	n := strconv.FormatInt(s.N, 10)
	if s.N < g.Tasks {
		n += fmt.Sprintf(" of %d", g.Tasks)
	}
	if metric == durationColumn {
		interval := table.AbsentText
		if s.Low != nil && s.High != nil {
			interval = "[" + seconds(s.Low) + ", " + seconds(s.High) + "]"
		}
		return []string{n, seconds(s.Mean), seconds(s.SD), interval}
	}
	return []string{n, Number(s.Mean), DeviationText(s.SD), IntervalText(s)}
}

// seconds is a duration for people; "-" for none. The interval of a mean may begin below 0.
func seconds(v *float64) string {
	if v == nil {
		return table.AbsentText
	}
	return human.Duration(max(0, *v))
}

// Number is a number for people; "-" for none.
func Number(v *float64) string {
	if v == nil {
		return table.AbsentText
	}
	return human.Number(*v)
}

// DeviationText is a deviation for people; "-" for none.
func DeviationText(v *float64) string {
	if v == nil {
		return table.AbsentText
	}
	return strconv.FormatFloat(*v, 'g', 3, 64)
}

// IntervalText is an interval for people; "-" for none.
func IntervalText(s Statistics) string {
	if s.Low == nil || s.High == nil {
		return table.AbsentText
	}
	return "[" + Number(s.Low) + ", " + Number(s.High) + "]"
}

// Missing says which tasks have no value that counts, of all metrics: what is the same for all
// once.
func (g Group) Missing(metrics []string) string {
	var texts []string
	for _, m := range metrics {
		texts = append(texts, MissingText(g.Metrics[m].Missing))
	}
	if len(slices.Compact(slices.Clone(texts))) <= 1 {
		return texts[0]
	}
	var all []string
	for i, text := range texts {
		if text != "" {
			all = append(all, metrics[i]+": "+text)
		}
	}
	return strings.Join(all, "; ")
}
