package definition

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
	"mlframework/sweep/metric"
)

// maxMetricName is the length of a metric's name in characters: it is the head of a column.
const maxMetricName = 64

const syntaxPage = "see https://github.com/google/re2/wiki/Syntax"

// metricKeys returns the keys of a metric in its long form.
func metricKeys() []key[metric.Rule] {
	return []key[metric.Rule]{
		{"pattern", "pattern: 'accuracy: ([0-9.]+)'", readPattern},
		{"file", `file: "csv/*/metrics.csv"`, readMetricFile},
		{"column", "column: val/acc", func(r *reader, m *metric.Rule, v value) {
			m.Column, _ = r.Word(v)
		}},
		{"key", "key: test.accuracy", func(r *reader, m *metric.Rule, v value) {
			m.Key, _ = r.Word(v)
		}},
		{"tag", "tag: loss/val", func(r *reader, m *metric.Rule, v value) {
			m.Tag, _ = r.Word(v)
		}},
		{"take", "take: last, max, min or first", readTake},
	}
}

func readPattern(r *reader, m *metric.Rule, v value) {
	pattern, ok := r.Word(v)
	if !ok {
		return
	}
	m.Pattern = pattern
	if _, _, err := compilePattern(m.Pattern); err != nil {
		r.Fault(v, err.problem, err.remedy)
	}
}

// readMetricFile reads a pattern of files, which stays in the task's folder.
func readMetricFile(r *reader, m *metric.Rule, v value) {
	pattern, ok := r.Word(v)
	if !ok {
		return
	}
	pattern = strings.TrimPrefix(pattern, "./")
	switch parts := strings.Split(pattern, "/"); {
	case strings.HasPrefix(pattern, "/"), strings.HasPrefix(pattern, "~"),
		slices.Contains(parts, ".."):
		r.Fault(v, fault.Quote(pattern)+" is outside the task's folder",
			"write a path relative to it: "+v.Example)
	case path.Clean(pattern) != pattern || pattern == ".":
		r.Fault(v, fault.Quote(pattern)+" is not a file", "write "+v.Example)
	case slices.ContainsFunc(parts, func(part string) bool {
		_, err := path.Match(part, "")
		return err != nil
	}):
		r.Fault(v, fault.Quote(pattern)+" has a [ without an end", "write [[] for a [ of the name")
	default:
		m.File = pattern
	}
}

// checkMetric sees that a metric has one source.
func (r *reader) checkMetric(v value, present map[string]value) {
	var names []string
	for _, name := range []string{"column", "key", "tag"} {
		if _, set := present[name]; set {
			names = append(names, name)
		}
	}
	_, file := present["file"]
	pattern, printed := present["pattern"]
	switch {
	case file && printed:
		r.Fault(pattern, "pattern is for what a program prints, and file for what it writes",
			"remove one")
	case file && len(names) == 0:
		r.Fault(v, "does not say what to read from the file",
			"write column: NAME for CSV, key: NAME for JSON, or tag: NAME for TensorBoard's "+
				"event files")
	case len(names) > 1:
		r.Fault(present[names[1]], strings.Join(names, " and ")+" are for different kinds of files",
			"remove one")
	case len(names) == 1 && !file:
		r.Fault(present[names[0]], names[0]+" is of a file, and none is named",
			`write file: "results/*.csv"`)
	}
}

func readTake(r *reader, m *metric.Rule, v value) {
	text, ok := r.Text(v)
	if !ok {
		return
	}
	if m.Take = metric.Take(text); !slices.Contains(metric.Takes, m.Take) {
		r.Wrong(v, "unknown word "+fault.Quote(text)) // which lists those that there are
		m.Take = ""
	}
}

// compilePattern returns a compiled pattern and the index of the group that holds the number: the
// one named "value", else the only one that is not named "step". The error says why a pattern is
// none, in words for the person who wrote it.
func compilePattern(pattern string) (*regexp.Regexp, int, *patternError) {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return nil, 0, explainPattern(err)
	}
	value, step := metric.Groups(expression)
	others := 0
	for group, name := range expression.SubexpNames() {
		if group > 0 && group != step && name != "value" {
			others++
		}
	}
	switch {
	case value < 0:
		return nil, 0, &patternError{"no group says which part is the number",
			"put it in parentheses: loss: ([0-9.]+)"}
	case others > 1 && expression.SubexpIndex("value") < 0:
		return nil, 0,
			&patternError{fmt.Sprintf("has %d groups, and none is named for the number", others),
				"name them: (?P<value>...) is the number, (?P<step>...) its step; write " +
					"(?:...) for " +
					"a group that is neither"}
	}
	return expression, value, nil
}

type patternError struct{ problem, remedy string }

// explainPattern says what Python knows and RE2 does not.
func explainPattern(err error) *patternError {
	var parse *syntax.Error
	if !errors.As(err, &parse) {
		return &patternError{"is not a regular expression: " + fault.Printable(err.Error()),
			syntaxPage}
	}
	for _, start := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(parse.Expr, start) {
			return &patternError{"lookaround " + start +
				"...) is not known here: patterns are RE2, not Python's",
				"match the text around the number and put the number in parentheses"}
		}
	}
	if len(parse.Expr) == 2 && parse.Expr[0] == '\\' && parse.Expr[1] >= '1' &&
		parse.Expr[1] <= '9' {
		return &patternError{"the backreference " + parse.Expr +
			" is not known here: patterns are RE2, not Python's",
			"write the text again"}
	}
	return &patternError{fmt.Sprintf("is not a regular expression: %s: %s", parse.Code,
		fault.Quote(parse.Expr)), syntaxPage}
}

func readMetrics(r *reader, t *Task, v value) {
	entries, _ := r.Mapping(v)
	for _, e := range entries {
		e.Value.Example = v.Example
		if reason := badMetricName(e.Name); reason != "" {
			r.Fault(e.Key, reason, "")
		}
		m := metric.Rule{Name: e.Name}
		if e.Value.Kind == yaml.MappingNode {
			e.Value.Example = "metrics: {accuracy: {pattern: 'accuracy: ([0-9.]+)', take: max}}"
			if len(e.Value.Content) == 0 {
				r.Wrong(e.Value, "says nothing")
			}
			if present, ok := object(r, e.Value, &m, metricKeys(), place{}); ok {
				r.checkMetric(e.Value, present)
			}
		} else {
			readPattern(r, &m, e.Value)
		}
		t.Metrics = append(t.Metrics, m)
	}
}

func badMetricName(name string) string {
	switch {
	case name == "":
		return "a metric has an empty name"
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return "the metric's name holds a control character"
	case strings.TrimSpace(name) != name:
		return "the metric's name begins or ends with a space"
	case utf8.RuneCountInString(name) > maxMetricName:
		return fmt.Sprintf("the metric's name is longer than %d characters", maxMetricName)
	}
	return ""
}

// readRank reads which ends are ranked beside those of success.
func readRank(r *reader, t *Task, v value) {
	for _, e := range r.words(v) {
		switch r.choice(e, "timeout", "succeeded") {
		case "timeout":
			t.Objective.Timeouts = true
		}
	}
}

func readObjective(r *reader, t *Task, v value) {
	if v.Kind != yaml.ScalarNode {
		r.Wrong(v, "is "+yamlfile.Describe(v.Node)+", not a single value")
		return
	}
	text, ok := r.Word(v)
	if !ok {
		return
	}
	direction, metric, _ := strings.Cut(strings.TrimSpace(text), " ")
	metric = strings.TrimSpace(metric)
	directions := []string{"maximize", "minimize"}
	switch {
	case !slices.Contains(directions, direction):
		r.Fault(v, "unknown word "+fault.Quote(direction), fault.Meant(direction, directions,
			"write maximize METRIC or minimize METRIC"))
	case metric == "":
		r.Fault(v, "names no metric", "write "+direction+" METRIC")
	case badMetricName(metric) != "":
		r.Fault(v, badMetricName(metric), "")
	default:
		t.Objective.Maximize, t.Objective.Metric = direction == "maximize", metric
	}
}
