package main_test

import (
	"strings"
	"testing"
)

// A sweep in which everything fails stops at its limit: what ran beside the last failure that was allowed is all that comes
// on top.
func TestMaxFailures(t *testing.T) {
	t.Parallel()
	for range 5 {
		f := newFolder(t, "max-failures: 2", "exit 1\n")
		f.write("p/parameters.yml", "x: !interval [0, 40]\n")
		_, stderr, code := f.run("--local", "-d", "p", "--slots", "2", "work")
		if began := f.lines("attempts"); len(began) > 3 || code != 1 {
			t.Errorf("%d tasks began; exit code %d", len(began), code)
		}
		if !strings.Contains(stderr, "max-failures is 2") {
			t.Errorf("it says: %s", stderr)
		}
	}
}
