package mlframework_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What commands print as JSON may have been written by others: names, output, errors.
// result.WriteJSONLine escapes what a terminal obeys, which encoding/json leaves as it is from
// U+007F on.
func TestCommandsPrintJSONThatATerminalDoesNotObey(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir("cmd", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file,
			"_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if seen++; strings.Contains(string(text), "json.NewEncoder(") {
			t.Errorf("%s writes JSON with json.NewEncoder: use result.WriteJSONLine", file)
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Errorf("%d files: %v", seen, err)
	}
}
