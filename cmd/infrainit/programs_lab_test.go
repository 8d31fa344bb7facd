package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/lab"
	"mlframework/internal/programtest"
)

// programs sweeps programs as real ones are made on a cluster, in containers: each task's files are its own, and the files of the
// project on the hosts of workers, all but the first, are byte for byte as they were. They are in the cluster's folder root.
func (p *laptop) programs(t *testing.T, root string) {
	t.Helper()
	dir := filepath.Join(p.work, "digits")
	text, err := os.ReadFile(filepath.Join(dir, "tasks.yml"))
	if err != nil {
		t.Fatal(err)
	}
	image := strings.TrimSpace(strings.TrimPrefix(imageLine.FindString(string(text)), "image:"))
	for _, one := range append([]programtest.Program{programtest.Dataset}, programtest.All...) {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		one.Write(t, dir)
		p.image("digits", "", image)
		if one == programtest.Dataset { // the first
			programtest.Fill(t, dir, 1000)
			p.up("-f", "--yes") // its tasks.yml asks for other containers
		}
		project := programtest.Tree(t, dir)
		p.must("update-files", "--yes")
		before := releases(t, p.lab.Hosts[1:], root)
		id := strings.TrimSpace(p.must("run-tasks", "-q", programtest.Definition).out)
		if d := cmp.Diff(before, releases(t, p.lab.Hosts[1:], root)); d != "" {
			t.Errorf("%s: the files of the project on the hosts (-before +now):\n%s", one, d)
		}
		programtest.Unchanged(t, "the project", project, programtest.Tree(t, dir))
		p.must("run-tasks", "fetch", id)
		one.Left(t, filepath.Join(p.work, "outputs", id))
	}
}

// releases are the files of projects that hosts have: what they hold, their modes, and where links lead.
func releases(t *testing.T, hosts []*lab.Host, root string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, h := range hosts {
		found[h.Name] = strings.Split(h.Exec(t, "sh", "-c", "cd "+root+`/releases &&
			{ find . -type f -exec sha256sum {} +; find . -printf '%p %M %l\n'; } | sort`), "\n")
	}
	return found
}
