package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/human"
)

// pageExample is a parameters file that docs/parameters.md shows, the command line below it, and
// what is said to come of it: the flags of each task, or what is wrong.
type pageExample struct{ heading, file, command, want string }

// pageExamples are those of docs/parameters.md. A command line, and what comes of it, may follow
// another of the same file.
func pageExamples(t *testing.T) (all []pageExample) {
	t.Helper()
	page, err := os.ReadFile("../../docs/parameters.md")
	if err != nil {
		t.Fatal(err)
	}
	var at pageExample
	open := false // a file or a command line of which nothing is shown yet
	for _, m := range regexp.MustCompile(
		"(?sm)^##+ ([^\n]*)$|^```([a-z]+)\n(.*?)```$").FindAllStringSubmatch(string(page), -1) {
		switch kind, text := m[2], m[3]; kind {
		case "":
			at.heading = m[1]
			continue
		case "yaml":
			if open {
				t.Fatalf("%s: nothing is said of what comes of\n%s", at.heading, at.file)
			}
			at.file, at.command = text, "run-tasks train"
		case "console":
			at.command = strings.TrimPrefix(strings.TrimSpace(text), "$ ")
		case "text":
			at.want = text
			all = append(all, at)
			at.command = ""
		default:
			t.Fatalf("%s: a block of %s", at.heading, kind)
		}
		open = m[2] != "text"
	}
	if open || len(all) < 25 {
		t.Fatalf("%d examples, and one that is not complete: %v", len(all), open)
	}
	return all
}

// TestParametersPage compares what docs/parameters.md says of its examples with what a dry run of
// them shows.
func TestParametersPage(t *testing.T) {
	t.Parallel()
	for i, e := range pageExamples(t) {
		t.Run(fmt.Sprintf("%d %s", i, e.heading), func(t *testing.T) {
			t.Parallel()
			f := folder{t, t.TempDir()}
			f.write("tasks.yml",
				"tasks:\n  train: {command: [train], parameters: parameters.yml}\n")
			f.write("parameters.yml", e.file)
			shell := exec.Command("sh", "-c", strings.Replace(e.command, "run-tasks",
				"run-tasks --local --dry-run --all --json", 1))
			shell.Dir, shell.Env = f.dir, append(os.Environ(), "PATH="+filepath.Dir(program)+":"+
				os.Getenv("PATH"))
			var errors strings.Builder
			shell.Stderr = &errors
			out, err := shell.Output()
			got := ""
			for line := range strings.Lines(string(out)) {
				var task struct{ Argv []string }
				if err := json.Unmarshal([]byte(line), &task); err != nil {
					t.Fatal(err)
				}
				if len(task.Argv) > 0 {
					_, flags, _ := strings.Cut(human.CommandLine(task.Argv), " ")
					got += flags + "\n"
				}
			}
			if err != nil {
				got = errors.String()
			}
			if diff := cmp.Diff(e.want, got); diff != "" {
				t.Errorf("%s\n%s(-page +program)\n%s", e.command, e.file, diff)
			}
		})
	}
}
