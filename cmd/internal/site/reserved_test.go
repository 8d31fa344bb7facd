package site_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/cmd/internal/site"
	"mlframework/config"
)

// A tasks.yml that run-tasks could not use is refused before it is brought to hosts.
func TestADefinitionWithTheNameOfASubcommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "image: python:3.12-slim\ntasks:\n  ls: {command: [\"true\"]}\n"
	if err := os.WriteFile(filepath.Join(dir, "tasks.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &site.Site{Config: new(config.Config)}
	s.Config.Options.Project = dir
	if _, _, err := s.Project(t.Context()); err == nil ||
		!strings.Contains(err.Error(), `"ls" is a subcommand of run-tasks`) {
		t.Errorf("%v", err)
	}
}
