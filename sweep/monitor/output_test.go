package monitor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/monitor"
)

// Lines are what a terminal would have left of them.
func TestLastLines(t *testing.T) {
	t.Parallel()
	bar := ""
	for n := range 101 {
		bar += fmt.Sprintf("\r %d%%|%s|", n, strings.Repeat("█", n/10))
	}
	for name, c := range map[string]struct {
		text     string
		headless bool
		want     []string
	}{
		"nothing":                    {"", false, nil},
		"lines":                      {"a\n\n b\n", false, []string{"a", "", " b"}},
		"the last has no end":        {"a\nb", false, []string{"a", "b"}},
		"only the last three":        {"a\nb\nc\nd\n", false, []string{"b", "c", "d"}},
		"the first began before":     {"a\nb\n", true, []string{"b"}},
		"one line that began before": {"aaa", true, []string{"aaa"}},
		"a progress bar":             {"x" + bar + "\ny\n", false, []string{" 100%|██████████|", "y"}},
		"a bar that still moves":     {bar[:30], false, []string{" 4%||"}},
		"a bar that is cleared":      {"9%\r10%\r\n", false, []string{"10%"}},
		"lines of Windows":           {"a\r\nb\r\n", false, []string{"a", "b"}},
		"colours and bells":          {"\x1b[31mred\x1b[0m\a\x1b]0;title\a!\n", false, []string{"red!"}},
		"text that turns":            {"a\u202eb<b>&\n", false, []string{"ab<b>&"}},
	} {
		if got := monitor.LastLines([]byte(c.text), c.headless, 3); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	long := monitor.LastLines([]byte(strings.Repeat("é", 5000)), false, 3)
	if n := len([]rune(long[0])); n != 2001 {
		t.Errorf("a long line has %d characters", n)
	}
}
