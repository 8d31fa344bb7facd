package main_test

import (
	"strings"
	"testing"
)

// Help reads well on a terminal of 80 columns, and every command lists the exit codes.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	f := folder{t, t.TempDir()}
	for _, name := range []string{"", "ls", "show", "follow", "logs", "results", "cancel", "pause", "resume", "retry", "extend", "priority", "workers", "test-metrics", "init"} {
		args := []string{"--help"}
		if name != "" {
			args = []string{name, "--help"}
		}
		help, stderr, code := f.run(args...)
		if code != 0 || stderr != "" || !strings.Contains(help, "EXIT CODES:\n   0 ") {
			t.Errorf("run-tasks %s: exit code %d, %s%s", strings.Join(args, " "), code, help, stderr)
		}
		for l := range strings.Lines(help) {
			if l = strings.TrimSuffix(l, "\n"); len(l) > 80 || strings.TrimRight(l, " ") != l {
				t.Errorf("%s: too wide, or ends with spaces: %q", name, l)
			}
		}
	}
}
