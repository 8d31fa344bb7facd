package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pageLines are the first lines of tasks.yml below a heading of docs/programs.md.
func pageLines(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/programs.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)\n### " + regexp.QuoteMeta(heading) + "\n.*?```yaml\n(.*?)```").FindSubmatch(page)
	if m == nil {
		t.Fatalf("docs/programs.md shows no tasks.yml below %s", heading)
	}
	return string(m[1])
}

// TestConventionsOfThePage sweeps a small program of each convention from the lines that docs/programs.md shows for it.
func TestConventionsOfThePage(t *testing.T) {
	t.Parallel()
	users()[0].findPython(t)
	for heading, c := range map[string]struct{ program, parameters string }{
		"argparse": {`import argparse
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float)
p.add_argument("--batch_size", type=int)
p.add_argument("--tied", action="store_true")
a = p.parse_args()
print(a.lr, a.batch_size, a.tied)
`, "lr: 1e-3\nbatch_size: 32\ntied: true\n"},
		"Hydra": {`import sys
given = dict(a.split("=", 1) for a in sys.argv[1:])
assert given.pop("hydra.run.dir") == ".", given
print(float(given.pop("model.lr")), given.pop("data.batch"), given.pop("tied"), *given)
`, "model.lr: 1e-3\ndata.batch: 32\ntied: True\n"},
		"Positional": {`import sys
dataset, lr, *flags = sys.argv[1:]
assert flags == ["--tied"], flags
print(float(lr), dataset, "--tied" in flags)
`, "dataset: 32\nlr: 1e-3\ntied: true\n"},
		"Config file": {`import sys
assert sys.argv[1:] == ["--config", "config.yaml"]
lines = [line.split("#")[0].strip().split(": ") for line in open("config.yaml") if ": " in line]
given = dict(lines)
print(float(given["lr"]), given["batch"], given["tied"])
`, "model.lr: 1e-3\nmodel.batch: 32\ntied: True\n"},
		"Environment variables": {`import os
print(float(os.environ["PARAM_MODEL_LR"]), os.environ["PARAM_BATCH"], os.environ["PARAM_TIED"])
`, "model.lr: 1e-3\nbatch: 32\ntied: True\n"},
		"parameters.json": {`import json, os
params = json.load(open(os.environ["OUTPUT_DIR"] + "/parameters.json"))
print(params["model.lr"], params["batch"], params["tied"])
`, "model.lr: 1e-3\nbatch: 32\ntied: True\n"},
	} {
		t.Run(heading, func(t *testing.T) {
			t.Parallel()
			f := folder{t, t.TempDir()}
			lines := "tasks: {train: {command: [python3, -u, train.py], parameters: parameters.yml, flags: env}}"
			if heading != "parameters.json" {
				lines = pageLines(t, heading)
			}
			for name, text := range map[string]string{
				"tasks.yml": lines, "train.py": c.program, "parameters.yml": c.parameters,
				"config.yaml": "# of the project\nmodel:\n  lr: 0.5 # slow\n  batch: 1\ntied: false\n",
			} {
				f.write(filepath.Join("p", name), text)
			}
			if stdout, stderr, code := f.run("--local", "-d", "p", "train"); code != 0 {
				t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
			}
			if got := strings.Join(f.lines("outputs/train-1/0/stdout.log"), "\n"); got != "0.001 32 True" {
				t.Errorf("the program got %q", got)
			}
		})
	}
}
