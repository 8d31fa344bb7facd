package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mlframework/projects"
	"mlframework/sweep/task"
)

// row is a line of `run-tasks results --json`.
type row struct {
	ID, State, Host, Revision string
	Attempts                  int
	GPUs                      []task.Device
	Started                   time.Time
	Duration                  float64 // seconds
	Metrics                   map[string]any
}

// rows are the results of a sweep. Options are those of run-tasks results.
func (p *laptop) rows(sweep string, options ...string) []row {
	p.t.Helper()
	args := slices.Concat([]string{"run-tasks", "results", "--json"}, options, []string{sweep})
	return p.readRows(p.must(args...).out)
}

// readRows reads what `run-tasks results --json` prints.
func (p *laptop) readRows(text string) (all []row) {
	p.t.Helper()
	for line := range strings.Lines(text) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			p.t.Fatalf("%s: %v", line, err)
		}
		all = append(all, r)
	}
	return slices.Clip(all)
}

// works checks that every worker answers, that tasks run on the hosts, and that their files come.
func (p *laptop) works(hosts ...string) {
	p.t.Helper()
	echo := p.must("run-tasks", "test_echo").out
	for _, h := range hosts {
		if !strings.Contains(echo, " "+h+":") {
			p.t.Errorf("no echo from %s:\n%s", h, echo)
		}
	}
	p.has("digits/parameters.yml", fmt.Sprintf("n: [0, %d)\n", 2*2*len(hosts)))
	id := strings.TrimSpace(p.must("run-tasks", "-q", "work").out)
	ran := map[string]bool{}
	for _, r := range p.rows(id) {
		ran[r.Host] = true
		if r.State != "succeeded" || r.Attempts != 1 {
			p.t.Errorf("%+v", r)
		}
	}
	if len(ran) != len(hosts) {
		p.t.Errorf("tasks ran on %v, not on all of %v", ran, hosts)
	}
	p.fetched(id, 4*len(hosts), "one\n")
}

// fetched fetches a sweep, and checks what each of its tasks printed.
func (p *laptop) fetched(id string, tasks int, want string) {
	p.t.Helper()
	p.must("run-tasks", "fetch", id)
	if _, err := os.Stat(filepath.Join(p.work, "outputs", projects.ResultsMark)); err != nil {
		p.t.Errorf("what was fetched may be taken for a part of a project: %v", err)
	}
	for i := range tasks {
		text, err := os.ReadFile(filepath.Join(p.work, "outputs", id, strconv.Itoa(i),
			"stdout.log"))
		if err != nil || string(text) != want {
			p.t.Errorf("task %d of %s printed %q: %v", i, id, text, err)
		}
	}
}
