package metric_test

import (
	"errors"
	"strings"
	"testing"

	"mlframework/sweep/metric"
)

func TestCompileSaysWhatIsWrongWithEveryRule(t *testing.T) {
	t.Parallel()
	_, err := metric.Compile([]metric.Rule{
		{Name: "accuracy", Pattern: `accuracy: (.*`},
		{Name: "loss", Pattern: `loss: [0-9.]+`},
		{Name: "", Pattern: `(x)`},
		{Name: "f1", Pattern: `f1 (\S+)`},
		{Name: "f1", Pattern: `F1 (\S+)`},
		{Name: strings.Repeat("n", metric.MaxName+1), Pattern: `(x)`},
		{Name: "\x1b[2J", Pattern: `x`},
	})
	want := "metric accuracy: missing closing ): `accuracy: (.*`; write a regular expression as " +
		"in Go (RE2)\n" +
		"metric loss: its pattern has no group; put the number in parentheses, such as " +
		"'accuracy: ([-+0-9.eE]+)'\n" +
		"metric : has no name; name what the number is, such as accuracy\n" +
		"metric f1: is named twice; join the patterns with | or name them apart\n" +
		"metric " + strings.Repeat("n", metric.MaxName+1) +
		": its name is longer than 128 bytes; shorten it\n" +
		`metric \x1b[2J: its pattern has no group; put the number in parentheses, such as 'accuracy: ([-+0-9.eE]+)'`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	var ruleError *metric.RuleError
	if !errors.As(err, &ruleError) || ruleError.Rule.Name != "accuracy" {
		t.Errorf("no RuleError inside: %v", err)
	}
}
