package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/cmd/internal/site"
	"mlframework/config"
	"mlframework/infra"
	"mlframework/infra/clean"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// cluster.yml says what the cluster is: a change that failed, and was rolled back, is not saved.
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
			file := filepath.Join(t.TempDir(), "cluster.yml")
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

// With -f, the file and the script of a cluster are those of the folder above which has them; a new
// cluster has them in the current folder.
func TestFilesOfAFolderAbove(t *testing.T) {
	above := t.TempDir()
	here := filepath.Join(above, "src")
	if err := os.Mkdir(here, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(above, "cluster.yml"),
		[]byte("hosts: [gpu1, gpu2]\nmaster: 1\nname: c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	program := &command{infraUp: func(_ context.Context, r infra.Request, _ infra.Options) (
		infra.Result, error) {
		return infra.Result{}, r.Begin(plan.Plan{Before: layout.Record{Cluster: "c"}})
	}}
	for _, c := range []struct {
		dir   string
		saved bool
		flags map[string]string
	}{
		{above, true, map[string]string{"workers": "2"}},
		{here, false, map[string]string{"hosts": "gpu3", "master": "1", "workers": "1",
			"name": "c"}},
	} {
		s, err := site.ReadFrom(config.Source{Saved: c.saved, Flags: c.flags}, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := program.bringUp(t.Context(), s, infra.Request{}); err != nil {
			t.Error(err)
		}
		for file, want := range map[string]string{"cluster.yml": "workers: [" + c.flags["workers"],
			"infra-clean": "mlframework infra-clean"} {
			text, err := os.ReadFile(filepath.Join(c.dir, file))
			if err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s in %s: %q, %v", file, c.dir, text, err)
			}
		}
	}
}

func checkFile(t *testing.T, when, file, want string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil || !strings.HasSuffix(string(data), want) {
		t.Errorf("%s cluster.yml is %q, %v", when, data, err)
	}
}

// The script that removes a cluster is never that of another one in its place.
func TestScriptsOfSeveralClusters(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	bringUp := func(cluster string, flags map[string]string) error {
		t.Helper()
		flags["hosts"], flags["name"] = "gpu1,gpu2", cluster
		s, err := site.ReadFrom(config.Source{File: filepath.Join(folder, "cluster.yml"),
			Flags: flags}, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		program := &command{infraUp: func(_ context.Context, r infra.Request, _ infra.Options) (
			infra.Result, error) {
			before := layout.Record{Cluster: cluster}
			return infra.Result{}, r.Begin(plan.Plan{Before: before})
		}}
		_, err = program.bringUp(t.Context(), s, infra.Request{})
		return err
	}
	for _, c := range []struct {
		what, cluster string
		flags         map[string]string
		refused       bool
		scripts       map[string]string // their clusters
	}{
		{"a cluster", "a", map[string]string{"master": "1"}, false,
			map[string]string{"infra-clean": "a"}},
		{"hosts join another", "b", map[string]string{"workers": "2"}, false,
			map[string]string{"infra-clean": "a", "infra-clean-b": "b"}},
		{"and again", "b", map[string]string{"workers": "2"}, false,
			map[string]string{"infra-clean": "a", "infra-clean-b": "b"}},
		{"it changes", "a", map[string]string{"master": "1", "workers": "2"}, false,
			map[string]string{"infra-clean": "a", "infra-clean-b": "b"}},
		{"the other one is cleaned, and its script removed", "b", map[string]string{"workers": "2"},
			false, map[string]string{"infra-clean": "b"}},
		{"one whose file is taken", "c", map[string]string{"workers": "2"}, true,
			map[string]string{"infra-clean": "b", "infra-clean-c": "d"}},
	} {
		if strings.HasSuffix(c.what, "removed") {
			if err := os.Remove(filepath.Join(folder, "infra-clean")); err != nil {
				t.Fatal(err)
			}
		}
		if c.refused {
			other := clean.Script(clean.Cluster{Name: "d"})
			if err := os.WriteFile(filepath.Join(folder, "infra-clean-c"), other,
				0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := bringUp(c.cluster, c.flags); (err != nil) != c.refused {
			t.Errorf("%s: %v", c.what, err)
		}
		found := map[string]string{}
		files, err := filepath.Glob(filepath.Join(folder, "infra-clean*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found[filepath.Base(file)] = clean.ClusterOf(text)
		}
		if d := cmp.Diff(c.scripts, found); d != "" {
			t.Errorf("%s: clusters of the scripts (-want +got):\n%s", c.what, d)
		}
	}
}
