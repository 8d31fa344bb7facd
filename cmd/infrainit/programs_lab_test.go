package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/lab"
	"mlframework/internal/programtest"
)

// programs sweeps programs as real ones are made on a cluster, in containers: each task's files are
// its own, and the files of the project on the hosts of workers, all but the first, are byte for
// byte as they were. They are in the cluster's folder root.
func (p *laptop) programs(t *testing.T, root string) {
	t.Helper()
	dir := filepath.Join(p.work, "digits")
	text, err := os.ReadFile(filepath.Join(dir, "tasks.yml"))
	if err != nil {
		t.Fatal(err)
	}
	image := strings.TrimSpace(strings.TrimPrefix(imageLine.FindString(string(text)), "image:"))
	// What is large comes last.
	for i, one := range append(slices.Clip(programtest.All), programtest.Dataset) {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		one.Write(t, dir)
		p.image("digits", "", image)
		if one == programtest.Dataset {
			programtest.Fill(t, dir, 1000)
		}
		if i == 0 {
			p.up("-f", "--yes") // its tasks.yml asks for other containers
		}
		project := programtest.Tree(t, dir)
		p.must("update-files", "--yes")
		before := releases(t, p.lab, root)
		id := strings.TrimSpace(p.must("run-tasks", "-q", programtest.Definition).out)
		if d := cmp.Diff(before, releases(t, p.lab, root)); d != "" {
			t.Errorf("%s: the files of the project on the hosts (-before +now):\n%s", one, d)
		}
		programtest.Unchanged(t, "the project", project, programtest.Tree(t, dir))
		p.must("run-tasks", "fetch", id)
		one.Left(t, filepath.Join(p.work, "outputs", id))
	}
}

// releases are the files of projects that hosts have: what they hold, their modes, and where links
// lead. Of the first host, on which no worker is, it has none.
func releases(t *testing.T, l *lab.Lab, root string) [][]string {
	t.Helper()
	found := make([][]string, len(l.Hosts))
	l.Each(t, func(i int, h *lab.Host) {
		if i > 0 {
			found[i] = strings.Split(h.Exec(t, "sh", "-c", "cd "+root+`/releases &&
				{ find . -type f -exec sha256sum {} +
				find . -printf '%p %M %l\n'; } | sort`), "\n")
		}
	})
	return found
}
