package main_test

import (
	"fmt"
	"strings"
	"testing"
)

// A sweep in which everything fails stops at its limit: what ran beside the last failure that was
// allowed is all that comes on top.
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

// Of a sweep that was resumed the reason counts what failed since then, and says so: its failures
// in all are more.
func TestMaxFailuresAfterResume(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "max-failures: 2", "exit 1\n")
	f.write("p/parameters.yml", "x: !interval [0, 40]\n")
	for _, c := range []struct {
		args   []string
		says   string
		failed int
	}{
		{[]string{"--local", "-d", "p", "--slots", "1", "work"},
			"paused: 2 tasks failed, and max-failures is 2\n", 2},
		{[]string{"resume", "--slots", "1"}, "paused: 2 more tasks failed, and max-failures is 2\n",
			4},
		{[]string{"retry", "--slots", "1", "work-1/0"},
			"paused: 2 more tasks failed, and max-failures is 2\n", 5},
	} {
		if _, stderr, code := f.run(c.args...); code != 1 {
			t.Errorf("%v: exit code %d: %s", c.args, code, stderr)
		}
		shown, _, _ := f.run("show")
		if !strings.Contains(shown, c.says) || !strings.Contains(shown, fmt.Sprintf("%d failed",
			c.failed)) {
			t.Errorf("after %v, want %q and %d failed: %s", c.args, c.says, c.failed, shown)
		}
	}
}
