package table_test

import (
	"os"
	"strings"
	"testing"

	"mlframework/sweep/table"
)

// The examples of docs/expressions.md are expressions.
func TestExpressionsOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/expressions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, examples, _ := strings.Cut(string(page), "```text\n")
	examples, _, _ = strings.Cut(examples, "\n```")
	s := table.Schema{Parameters: []string{"lr", "batchsize", "unit", "optimizer", "note"},
		Metrics: []string{"accuracy", "loss", "best_loss", "train.loss", "val.loss", "my metric"}}
	for example := range strings.Lines(examples) {
		if _, err := table.ParseFilter(example, s); err != nil {
			t.Errorf("%s%v", example, err)
		}
	}
	if strings.Count(examples, "\n") < 5 {
		t.Errorf("the page has no examples: %q", examples)
	}
	_, err = table.ParseFilter("nothing=1", table.Schema{})
	_, columns, _ := strings.Cut(err.Error(), "the columns are ")
	for _, column := range strings.Split(columns, ", ") {
		if !strings.Contains(string(page), "`"+column+"`") {
			t.Errorf("the page does not name the column %s", column)
		}
	}
}
