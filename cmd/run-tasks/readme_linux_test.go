package main_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadme writes the project that README.md shows and runs the commands that it shows for one
// machine, in their order.
func TestReadme(t *testing.T) {
	t.Parallel()
	users()[0].findPython(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(readme), "\n## Any command\n")
	page, _, found := strings.Cut(page, "\n## The table\n")
	if !found {
		t.Fatal("README.md has no section The table after Any command")
	}
	f := folder{t, t.TempDir()}
	f.write("train.py", "print('validation accuracy: 0.9')\n")
	commands := 0
	parts := regexp.MustCompile("(?sm)^```yaml\n# ([\\w.]+)\n(.*?)^```$|^    \\$ ([^#\n]*)")
	for _, m := range parts.FindAllStringSubmatch(page, -1) {
		if m[1] != "" {
			f.write(m[1], m[2])
			continue
		}
		commands++
		command := strings.TrimSpace(m[3])
		got := f.console(command + "; echo exit $?")
		want := map[string]string{
			"run-tasks -- python3 train.py --epochs 3 lr=0.1,0.01 seed=1..5": "10 tasks: 10 succeeded",
			"run-tasks --dry-run run_training":                               "run_training: 36 combinations",
			"run-tasks run_training":                                         "36 tasks: 36 succeeded",
			"run-tasks results":                                              "accuracy",
		}[command]
		if want == "" || !strings.Contains(got, want) || !strings.HasSuffix(got, "\nexit 0\n") {
			t.Errorf("$ %s: got:\n%s\nwant %q and exit 0", command, got, want)
		}
	}
	if commands != 4 {
		t.Errorf("README.md shows %d commands for one machine, want 4", commands)
	}
}
