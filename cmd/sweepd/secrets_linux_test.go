package main_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mlframework/sweep/secret"
)

// Secrets reach the attempts on other machines, and are nowhere but in files of mode 0600 that go
// with what needs them.
func TestSecretsAreNowhereElse(t *testing.T) {
	t.Parallel()
	const value = "recognisable-value-of-a-secret"
	b, s := ownBroker(t)
	c := newCluster(t, s)
	w := c.worker("w1", s)
	submission := c.submission("secretive",
		`printf '%s\n' "$SECRETS_DIR" >"$OUTPUT_DIR/where"; test "$(cat "$SECRETS_DIR/KEY")" = "$KEY"; echo "key $KEY"; `+held, 2)
	submission.Record.Recipe.Secrets = []string{"KEY"}
	submission.Secrets = secret.Values{"KEY": value}
	id := c.submit(submission)
	var folders []string
	eventually(t, patience, "both run", func() bool {
		folders = nil
		for n := range 2 {
			where, _ := os.ReadFile(c.path("w1", id, strconv.Itoa(n), "where"))
			if folder := strings.TrimSpace(string(where)); folder != "" &&
				c.printed(id, n) == "key ********" {
				folders = append(folders, folder)
			}
		}
		return len(folders) == 2
	})
	allowed := map[string]bool{c.path("store", "secrets", id): true}
	for _, folder := range folders {
		allowed[filepath.Join(folder, "KEY")] = true
	}
	for path := range allowed {
		info, err := os.Stat(path)
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	search := func(when string) {
		t.Helper()
		for _, folder := range append(folders, c.dir, b.Dir) {
			grep(t, when, folder, value, allowed)
		}
		for _, path := range []string{"/v1/sweeps", "/v1/sweeps/" + id, "/v1/sweeps/" + id +
			"/results", "/v1/sweeps/" + id + "/tasks/0", "/v1/workers", "/v1/audit",
			"/v1/metrics"} {
			if text := c.answers(path); strings.Contains(text, value) || text == "" {
				t.Errorf("%s: %s answers %q", when, path, text)
			}
		}
		commands(t, when, value)
	}
	b.Settle(t)
	search("while it runs")
	// both: its files stay for the next
	c.fault("w1", "killed", func() { w.killOf(w.guard(), w.executor()) })
	c.master.kill()
	b.Down(t) // it writes what it has
	c.master.start()
	w.start()
	w.begun()
	for _, folder := range folders {
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("%s is left of a worker that was killed", folder)
		}
	}
	b.Up(t)
	c.letGo()
	c.ended(2*patience, id)
	c.succeeded(id)
	eventually(t, patience, "its secrets are gone", func() bool {
		_, err := os.Stat(c.path("store", "secrets", id))
		return os.IsNotExist(err)
	})
	clear(allowed)
	search("when it has ended")
}

// printed is the last line that a task printed.
func (c *cluster) printed(id string, n int) string {
	text, _ := os.ReadFile(c.path("w1", id, strconv.Itoa(n), "stdout.log"))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// grep looks for a text in every file below a folder, in the names of files, too.
func grep(t *testing.T, when, folder, text string, allowed map[string]bool) {
	t.Helper()
	looked := 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && !e.Type().IsRegular() {
			return nil // files of a broker come and go
		}
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		looked++
		if found := bytes.Contains(content, []byte(text)) || strings.Contains(path,
			text); found != allowed[path] {
			t.Errorf("%s: %s has it: %v", when, path, found)
		}
		return err
	})
	if err != nil || looked == 0 && len(allowed) > 0 {
		t.Errorf("%s: %d files of %s were looked at: %v", when, looked, folder, err)
	}
}

// commands looks for a text in the arguments of every process, and in the environment of those of
// this program.
func commands(t *testing.T, when, text string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) < 3 {
		t.Fatal(all, err)
	}
	for _, path := range all {
		arguments, _ := os.ReadFile(path)
		if strings.Contains(string(arguments), text) {
			t.Errorf("%s: %s has it: %q", when, path, arguments)
		}
		environment, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if strings.HasPrefix(string(arguments), program) && strings.Contains(string(environment),
			text) {
			t.Errorf("%s: the environment of %q has it", when, arguments)
		}
	}
}

// answers is what the master's API answers to a question, byte by byte.
func (c *cluster) answers(path string) string {
	c.t.Helper()
	bare := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", c.path("socket"))
		}}}
	answer, err := bare.Get("http://master" + path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}
