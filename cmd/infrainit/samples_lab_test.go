package main_test

import (
	"os"
	"path/filepath"
	"strings"
)

// samples gives a running cluster each sample that needs numpy as its project, with an image that
// has numpy: there is no registry to build that of the sample's Dockerfile from. Some of its tasks
// run, and their outputs are fetched.
func (p *laptop) samples(cluster string) {
	p.t.Helper()
	for name, checkpoint := range map[string]string{"mnist": "checkpoint.npz",
		"bowcnn": "checkpoint.json"} {
		dir := filepath.Join(p.work, name)
		if err := os.CopyFS(dir, os.DirFS("../../projects/"+name)); err != nil {
			p.t.Fatal(err)
		}
		p.up("-f", "-d", name, "--name", cluster, "--image", p.training)
		id := strings.TrimSpace(p.must("run-tasks", "-q", "run_training", "--limit", "2").out)
		rows := p.rows(id)
		for _, r := range rows {
			if accuracy, _ := r.Metrics["accuracy"].(float64); r.State != "succeeded" ||
				accuracy < 0.4 {
				p.t.Errorf("%s: %+v", name, r)
			}
		}
		p.must("run-tasks", "fetch", id)
		left, _ := filepath.Glob(filepath.Join(p.work, "outputs", id, "*", "result", checkpoint))
		if len(rows) != 2 || len(left) != 2 {
			p.t.Errorf("%s: %d tasks left %v", name, len(rows), left)
		}
	}
}
