package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tried is the head of the table in docs/security.md of what a hostile task was seen to try.
const tried = "| a task tries to | and gets |"

// hostile runs a task on the master's host and on another, beside a task of another sweep with a
// secret, that tries all that a task must not be able to do. Docs/security.md has a row for each
// attempt.
func (p *laptop) hostile(t *testing.T, cluster string) {
	t.Helper()
	const value = "recognisable-secret-of-the-victim"
	if err := os.CopyFS(filepath.Join(p.work, "hostile"),
		os.DirFS("testdata/hostile")); err != nil {
		t.Fatal(err)
	}
	p.up("-f", "-d", "hostile/victim", "--name", cluster, "--image", p.training)
	const victim = "victim-1"
	follower := p.command(t.Context(), "run-tasks", "-q", "victim")
	follower.Env = append(follower.Env, "TOKEN="+value)
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the victims run", func() bool {
		r := p.run("run-tasks", "show", "--json", victim)
		return strings.Contains(r.out, `"running":2`)
	})
	p.up("-f", "-d", "hostile/spy", "--name", cluster, "--image", p.training)
	spy := strings.TrimSpace(p.must("run-tasks", "-q", "spy").out)
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), tried)
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range p.rows(spy) {
		if row.State != "succeeded" {
			t.Errorf("%+v", row)
		}
	}
	for _, index := range []string{"0", "1"} {
		printed := p.must("run-tasks", "logs", spy+"/"+index).out
		t.Logf("%s/%s\n%s", spy, index, printed)
		attempts := 0
		for line := range strings.Lines(printed) {
			name, answer, found := strings.Cut(strings.TrimSpace(line), "\t")
			if attempts++; !found || !strings.HasPrefix(answer, "refused: ") ||
				strings.Contains(printed, value) {
				t.Errorf("a hostile task: %s", line)
			}
			if !strings.Contains(table, "\n| "+name+" |") {
				t.Errorf("docs/security.md has no row for %q", name)
			}
		}
		if rows := strings.Count(table, "\n| "); attempts != rows {
			t.Errorf("%d attempts, and docs/security.md has %d rows", attempts, rows)
		}
	}
	p.must("run-tasks", "cancel", victim)
	_ = follower.Wait() // it was cancelled
	for _, h := range p.lab.Hosts {
		if left := h.Exec(t, "sh", "-c", "pgrep -af '^left-behind' || true"); left != "" {
			t.Errorf("on %s is left: %s", h.Name, left)
		}
	}
}
