package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/queue/rights"
)

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The users of a broker of one's own are made in a folder: called again with another worker, the
// passwords stay.
func TestBrokerUsers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "users")
	code, stdout, stderr := call(t, "broker-users", "--folder", dir, "--worker", "w1")
	if code != 0 || stderr != "" || !strings.Contains(stdout, "rabbitmqctl import_definitions <"+
		dir+"/definitions.json") || !strings.Contains(stdout, dir+"/worker-w1\n") {
		t.Fatalf("exit code %d, it says %q and %q", code, stdout, stderr)
	}
	first := read(t, filepath.Join(dir, "worker-w1"))
	if code, _, stderr := call(t, "broker-users", "--worker", "w2", "--vhost", "lab", "--folder",
		dir); code != 0 {
		t.Fatalf("exit code %d, it says %q", code, stderr)
	}
	if again := read(t, filepath.Join(dir, "worker-w1")); again != first ||
		!strings.HasPrefix(first, "worker-w1:") {
		t.Errorf("the password of w1 became %q of %q", again, first)
	}
	definitions := read(t, filepath.Join(dir, "definitions.json"))
	for _, want := range []string{`"name": "master"`, `"name": "worker-w1"`, `"name": "worker-w2"`,
		`"vhost": "lab"`, rights.FromWorkers} {
		if !strings.Contains(definitions, want) {
			t.Errorf("the definitions lack %s", want)
		}
	}
	_, password, _ := strings.Cut(strings.TrimSpace(first), ":")
	if strings.Contains(definitions, password) {
		t.Error("the definitions have a password")
	}
	for _, name := range []string{"definitions.json", "master", "worker-w1", "worker-w2"} {
		if i, err := os.Stat(filepath.Join(dir, name)); err != nil || i.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, i.Mode(), err)
		}
	}
	write(t, filepath.Join(dir, "worker-w2"), "something else\n")
	for _, wrong := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--folder", dir, "--worker", "a b"}, cli.Usage, "cannot name a worker"},
		{[]string{"--worker", "w1"}, cli.Usage, "missing: --folder"},
		{[]string{"--folder", dir}, cli.Machine,
			"worker-w2 is not one line worker-w2:PASSWORD; remove it"},
	} {
		if code, stdout, stderr := call(t, append([]string{"broker-users"},
			wrong.args...)...); code != wrong.code || stdout != "" || !strings.Contains(stderr,
			wrong.says) {
			t.Errorf("%q: exit code %d, it says %q and %q", wrong.args, code, stdout, stderr)
		}
	}
}
