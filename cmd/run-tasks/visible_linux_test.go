package main_test

import (
	"strings"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// The name of the parameters file in a sweep's record may hold control codes, which must not reach
// the terminal.
func TestExtendShowsTheParametersFileOfTheRecord(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const name = "a\x1b[2Jb.yml"
	sp, _, err := space.Read("parameters.yml", []byte("x: 1\n"))
	s.must(err)
	_, err = s.client.Submit(t.Context(), api.Submission{Code: "c",
		Record: core.Record{Version: task.Version, Space: sp, Project: s.dir,
			ParametersFile: name, Recipe: task.Recipe{Definition: "work", Command: []string{"work"},
				Revision: "r"}}}, "", "")
	s.must(err)
	s.write("p/"+name, "x: 1\n")
	s.write("p/tasks.yml", "tasks:\n  work:\n    command: [work]\n")
	_, stderr, code := s.asks("extend", "-d", "p")
	if code != cli.OK || strings.Contains(stderr, "\x1b") || !strings.Contains(stderr,
		`every combination of a\x1b[2Jb.yml already`) {
		t.Errorf("%d %q", code, stderr)
	}
}
