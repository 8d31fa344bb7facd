package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/cmd/internal/site"
	"mlframework/config"
	"mlframework/infra"
	"mlframework/infra/plan"
)

// config.yml says what the cluster is: a change that failed, and was rolled back, is not saved.
func TestConfigIsSavedWhenTheChangeIsMade(t *testing.T) {
	t.Parallel()
	const before = "hosts: [gpu1, gpu2]\nmaster: 1\nworkers: [1, 2]\nname: c\n"
	const after = "hosts: [gpu1, gpu2]\nmaster: 1\nworkers: [2]\nname: c\n"
	failed := errors.New("failed")
	for _, c := range []struct {
		name, before, during, after string
		keep                        bool
		err                         error // of the change
	}{
		{"made", before, before, after, false, nil},
		{"failed", before, before, before, false, failed},
		{"failed and kept", before, before, after, true, failed},
		{"a new file, for -f after a crash", "", after, after, false, failed},
		{"cannot be saved", "workers: 1: 2\n", "", "workers: 1: 2\n", false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "config.yml")
			if c.before != "" {
				if err := os.WriteFile(file, []byte(c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			refused := c.during == ""
			s, err := site.ReadFrom(config.Source{File: file, NoFile: refused,
				Flags: map[string]string{
					"hosts": "gpu1,gpu2", "master": "1", "workers": "2", "name": "c",
				}}, os.Stderr)
			if err != nil {
				t.Fatal(err)
			}
			program := &command{infraUp: func(_ context.Context, r infra.Request, _ infra.Options) (
				infra.Result, error) {
				if err := r.Begin(plan.Plan{}); err != nil {
					return infra.Result{}, err
				}
				checkFile(t, "during the change", file, c.during)
				return infra.Result{}, c.err
			}}
			_, err = program.bringUp(t.Context(), s, infra.Request{Keep: c.keep})
			if !refused && !errors.Is(err, c.err) || refused && err == nil {
				t.Error(err)
			}
			checkFile(t, "at the end", file, c.after)
		})
	}
}

func checkFile(t *testing.T, when, file, want string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil || !strings.HasSuffix(string(data), want) {
		t.Errorf("%s config.yml is %q, %v", when, data, err)
	}
}
