package main_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The five commands, as a new user types them: a cluster, its state, sweeps on it, changed files,
// programs of many kinds, and nothing left behind.
func TestFiveCommands(t *testing.T) {
	t.Parallel()
	p := newLaptop(t, 3)
	if err := os.CopyFS(filepath.Join(p.work, "digits"),
		os.DirFS("../../projects/digits")); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	sample := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(p.work, "digits", name), []byte(text),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"tasks.yml", "train.py"} {
		text, err := os.ReadFile(filepath.Join("../../projects/digits", name))
		if err != nil {
			t.Fatal(err)
		}
		sample(name, string(text))
	}
	tasks := p.image("digits", "", p.training)
	sample("parameters.yml", "batchsize: 100\nepoch: 2\nunit: 8\nlr: [0.03, 0.05, 0.1, 0.15]\n")

	p.upWithGPUs(t, "--broker-image", p.broker, "-a", "anna@host1,anna@host2,anna@host3", "-r",
		"ml", "-d", "digits", "-m", "1", "-w", "2,3")
	p.status(0, "all is well")
	const root = "/home/anna/ml/root-digits"
	p.rotates(t, root)

	echo := p.must("run-tasks", "test_echo").out
	for _, host := range []string{"host2", "host3"} {
		if !strings.Contains(echo, "| hello from "+host+" slot") {
			t.Errorf("no echo from %s:\n%s", host, echo)
		}
	}
	training := p.must("run-tasks", "run_training").out
	for _, host := range []string{"host2:", "host3:"} {
		if !strings.Contains(training, host) {
			t.Errorf("no output is tagged %s:\n%s", host, training)
		}
	}
	rows := p.rows("run_training-1")
	hosts := map[string]bool{}
	for _, r := range rows {
		hosts[r.Host] = true
		if r.State != "succeeded" || r.Metrics["accuracy"] == nil {
			t.Errorf("%+v", r)
		}
	}
	if len(rows) != 4 || !hosts["host2"] || !hosts["host3"] {
		t.Errorf("%d tasks ran on %v", len(rows), hosts)
	}

	p.must("run-tasks", "fetch", "run_training-1")
	for i := range rows {
		text, err := os.ReadFile(filepath.Join(p.work, "outputs", "run_training-1", strconv.Itoa(i),
			"stdout.log"))
		if err != nil || !strings.Contains(string(text), "validation accuracy") {
			t.Errorf("task %d: %q, %v", i, text, err)
		}
	}
	if r := p.must("run-tasks", "fetch", "run_training-1"); strings.Count(r.out,
		": 0 files, 0 B") != 2 {
		t.Errorf("again:\n%s", r.out)
	}

	// Metrics that are in files on two hosts are read again there.
	p.has("digits/tasks.yml", strings.Replace(tasks, "    metrics:\n",
		"    metrics:\n      rate: {file: parameters.json, key: lr}\n", 1))
	if r := p.must("run-tasks", "results", "--reread", "run_training-1"); !strings.Contains(r.err,
		"re-read the metrics of 4 tasks: 4 tasks changed") {
		t.Errorf("reread:\n%s%s", r.out, r.err)
	}
	for i, r := range p.rows("run_training-1") {
		if rate := []float64{0.03, 0.05, 0.1, 0.15}[i]; r.Metrics["rate"] != rate ||
			r.Metrics["accuracy"] != rows[i].Metrics["accuracy"] {
			t.Errorf("read again on %s: %v, was %v", r.Host, r.Metrics, rows[i].Metrics)
		}
	}
	p.has("digits/tasks.yml", tasks)

	text, err := os.ReadFile(filepath.Join(p.work, "digits", "train.py"))
	if err != nil {
		t.Fatal(err)
	}
	sample("train.py", "print('as it is now')\n"+string(text))
	p.must("update-files")
	p.must("run-tasks", "-q", "run_training")
	again := p.rows("run_training-2")
	if len(again) != 4 || again[0].Revision == rows[0].Revision {
		t.Errorf("the files of the sweep after update-files are %+v", again)
	}
	if out := p.must("run-tasks", "logs", "run_training-2/0").out; !strings.Contains(out,
		"as it is now") {
		t.Errorf("its program printed %q", out)
	}
	p.drifts(tasks)
	p.places("another:1", root)
	p.sweepsGPUs(t, "another:1")
	p.programs(t, root)
	p.samples("root-digits")
	p.apart(t, "root-digits", root)
	p.hostile(t, "root-digits")
	for _, h := range p.lab.Hosts {
		if files := ofRoot(t, h); files != "" {
			t.Errorf("files of root on %s:\n%s", h.Name, files)
		}
	}
	p.must("./infra-clean", "--volumes", "--files", "--yes")
	clean(t, p.lab)
}
