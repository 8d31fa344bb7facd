package definition_test

import (
	"os"
	"regexp"
	"testing"
)

// The tasks.yml that the page for people of the old system shows can be read.
func TestMigrationPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(data), -1)
	if len(blocks) == 0 {
		t.Fatal("the page shows no tasks.yml")
	}
	for _, b := range blocks {
		read(t, b[1])
	}
}
