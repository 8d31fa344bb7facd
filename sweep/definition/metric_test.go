package definition_test

import (
	"strings"
	"testing"

	"mlframework/sweep/definition"
	"mlframework/sweep/metric"
)

// Each text is an entry of metrics in line 5, from column 7.
func TestMetricFaults(t *testing.T) {
	t.Parallel()
	const re2 = " is not known here: patterns are RE2, not Python's; "
	const around = "match the text around the number and put the number in parentheses"
	for _, c := range []struct{ name, text, want string }{
		{"no group", `loss: 'loss \d+'`,
			`13: tasks.a.metrics.loss: no group says which part is the number; put it in parentheses: loss: ([0-9.]+)`},
		{"only a group without number", `loss: '(?:loss) \d+'`,
			`13: tasks.a.metrics.loss: no group says which part is the number; put it in parentheses: loss: ([0-9.]+)`},
		{"lookahead", `loss: '(\d+)(?=x)'`, `13: tasks.a.metrics.loss: lookaround (?=...)` +
			re2 + around},
		{"negative lookahead", `loss: '(\d+)(?!x)'`,
			`13: tasks.a.metrics.loss: lookaround (?!...)` + re2 + around},
		{"lookbehind", `loss: '(?<=x)(\d+)'`, `13: tasks.a.metrics.loss: lookaround (?<=...)` +
			re2 + around},
		{"negative lookbehind", `loss: '(?<!x)(\d+)'`,
			`13: tasks.a.metrics.loss: lookaround (?<!...)` + re2 + around},
		{"backreference", `loss: '(\d+) \1'`, `13: tasks.a.metrics.loss: the backreference \1` +
			re2 + `write the text again`},
		{"two groups", `loss: 'epoch (\d+) loss (\d+)'`,
			`13: tasks.a.metrics.loss: has 2 groups, and none is named for the number; name them: (?P<value>...) is the number, (?P<step>...) its step; write (?:...) for a group that is neither`},
		{"only a step", `loss: 'epoch (?P<step>\d+)'`,
			`13: tasks.a.metrics.loss: no group says which part is the number; put it in parentheses: loss: ([0-9.]+)`},
		{"open group", `loss: '(\d+'`,
			`13: tasks.a.metrics.loss: is not a regular expression: missing closing ): "(\\d+"; see https://github.com/google/re2/wiki/Syntax`},
		{"semicolon", `loss: '(a; [b'`,
			`13: tasks.a.metrics.loss: is not a regular expression: missing closing ]: "[b"; see https://github.com/google/re2/wiki/Syntax`},
		{"empty pattern", `loss: ''`,
			`13: tasks.a.metrics.loss: is empty; write metrics: {accuracy: 'accuracy: ([0-9.]+)'}`},
		{"control", `loss: "(\n)"`,
			`13: tasks.a.metrics.loss: "(\n)" holds a control character; remove it`},
		{"list", `loss: [a]`,
			`13: tasks.a.metrics.loss: is a list, not a single value; write metrics: {accuracy: 'accuracy: ([0-9.]+)'}`},
		{"null", `loss:`,
			`12: tasks.a.metrics.loss: has no value; write metrics: {accuracy: 'accuracy: ([0-9.]+)'}`},
		{"empty name", `"": '(a)'`, `7: tasks.a.metrics.: a metric has an empty name`},
		{"control in name", `"a\tb": '(a)'`,
			"7: tasks.a.metrics.a\ufffdb: the metric's name holds a control character"},
		{"space around name", `" a": '(a)'`,
			`7: tasks.a.metrics. a: the metric's name begins or ends with a space`},
		{"long name", strings.Repeat("a", 65) + ": '(a)'", `7: tasks.a.metrics.` + strings.Repeat(
			"a", 60) + `…: the metric's name is longer than 64 characters`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkFaults(t, "tasks:\n  a:\n    command: [x]\n    metrics:\n      "+c.text+"\n",
				[]string{"tasks.yml:5:" + c.want})
		})
	}
	checkFaults(t, "tasks: {a: {command: [x], metrics: ['(a)']}}", []string{
		`tasks.yml:1:36: tasks.a.metrics: is a list, not a mapping; write metrics: {accuracy: 'accuracy: ([0-9.]+)'}`,
	})
}

func TestMetricExpression(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, line, want string }{
		{`loss (?P<value>\d+)/(\d+)`, "loss 3/4", "3"},
		{`(?P<step>\d+): loss (\d+)`, "4: loss 3", "3"},
		{`loss (\d+) at (?<step>\d+)`, "loss 3 at 4", "3"},
		{`(?P<unit>\w+) (?P<value>\d+)`, "loss 3", "3"},
		{`(a|b) (?<value>\d+)`, "a 7", "7"},
		{`validation accuracy[ =:]+([-+0-9.eE]+)`, "x validation accuracy: 9.3e-1 y", "9.3e-1"},
	} {
		expression, group, err := definition.CompilePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := expression.FindStringSubmatch(c.line)[group]; got != c.want {
			t.Errorf("%s found %q, not %q", c.pattern, got, c.want)
		}
	}
	_, _, err := definition.CompilePattern("x")
	const want = "no group says which part is the number; put it in parentheses: loss: ([0-9.]+)"
	if err == nil || err.Error() != want {
		t.Error(err)
	}
}

func TestObjective(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]metric.Objective{
		"maximize accuracy":      {Maximize: true, Metric: "accuracy"},
		"minimize  val loss ":    {Metric: "val loss"},
		"'minimize eval/loss@1'": {Metric: "eval/loss@1"},
	} {
		if got := oneTask(t, "objective: "+text).Objective; got != want {
			t.Errorf("%s is %+v", text, got)
		}
	}
}
