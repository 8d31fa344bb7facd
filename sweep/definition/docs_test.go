package definition_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The tasks.yml that pages for people show can be read.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"gpus.md", "migration.md", "programs.md"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("../../docs/" + page)
			if err != nil {
				t.Fatal(err)
			}
			blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(
				string(data), -1)
			if len(blocks) == 0 {
				t.Fatal("the page shows no tasks.yml")
			}
			for _, b := range blocks {
				if name, _, _ := strings.Cut(b[1], "\n"); name != "# tasks.yml" &&
					strings.HasPrefix(name, "# ") {
					continue // another file
				}
				read(t, b[1])
			}
		})
	}
}
