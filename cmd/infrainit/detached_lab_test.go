package main_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestDetachedOnACluster submits three sweeps with --detach, whose terminals are gone then, and
// kills the master while they run and again before what runs at their ends. All of it ends, and
// `run-tasks monitor` shows it.
func TestDetachedOnACluster(t *testing.T) {
	slow(t)
	p := newLaptop(t, 2)
	master := p.lab.Hosts[0]
	p.has("digits/tasks.yml", `tasks:
  a: &work
    command: [sleep, 8]
    on-end: {run: [sh, -c, 'sleep 3; echo "$ON_END_SWEEP $ON_END_STATE"'], on: success}
  b: *work
  c: {<<: *work, command: [sh, -c, 'sleep 8; exit 3']}
`)
	p.up(append(p.images(), "-a", p.hosts("anna"), "-d", "digits", "--name", "c", "-m", "1", "-w",
		"2", "--slots", "3")...)
	for _, name := range []string{"a", "b", "c"} {
		begun := time.Now()
		id := strings.TrimSpace(p.must("run-tasks", "-q", "--detach", name).out)
		t.Logf("--detach of %s took %.2f s", id, time.Since(begun).Seconds())
	}
	kill := func() {
		master.Exec(t, "sh", "-c",
			"kill -9 $(docker inspect -f '{{.State.Pid}}' mlframework-c-master)")
	}
	kill()
	if r := p.run("run-tasks", "wait", "a-1", "b-1", "c-1"); r.code != 1 {
		t.Errorf("wait ended with %d:\n%s%s", r.code, r.out, r.err)
	}
	kill()
	if r := p.run("run-tasks", "wait", "a-1", "b-1"); r.code != 0 {
		t.Errorf("wait ended with %d:\n%s%s", r.code, r.out, r.err)
	}
	for _, id := range []string{"on-end-1", "on-end-2"} {
		p.must("run-tasks", "wait", id)
	}
	ends := p.must("run-tasks", "logs", "on-end-1/0").out +
		p.must("run-tasks", "logs", "on-end-2/0").out
	if strings.Count(ends, "a-1 succeeded\n") != 1 || strings.Count(ends, "b-1 succeeded\n") != 1 {
		t.Errorf("what ran at the ends printed %q", ends)
	}
	list := p.must("run-tasks", "ls").out
	if strings.Count(list, "on-end-") != 2 {
		t.Errorf("the sweeps are\n%s", list)
	}
	in := p.run("run-tasks", "exec", "a-1/0", "--", "sh", "-c", "pwd; echo $HOME; exit 5")
	if in.code != 5 || in.out != "/mlframework/outputs/a-1/0\n/mlframework/home\n" {
		t.Errorf("exec ended with %d: %q, %q", in.code, in.out, in.err)
	}
	in = p.run("/usr/bin/script", "-qec", "run-tasks exec a-1/0 -- sh -c 'stty size; tty'", "/dev/null")
	if in.code != 0 || !strings.Contains(in.out, "0 0\r\n") || !strings.Contains(in.out, "/dev/pts/") {
		t.Errorf("exec with a terminal ended with %d: %q, %q", in.code, in.out, in.err)
	}
	if page := p.monitor("/sweeps"); !strings.Contains(page, "a-1") ||
		!strings.Contains(page, "on-end-2") {
		t.Errorf("the monitor shows\n%s", page)
	}
	p.remove()
	clean(t, p.lab)
}

// loginLink is a link to the monitor, as run-tasks monitor prints it.
var loginLink = regexp.MustCompile(`(http://127\.0\.0\.1:\d+)/login\?code=([A-Z2-7]+)\n`)

// monitor returns a page that run-tasks monitor serves.
func (p *laptop) monitor(path string) string {
	p.t.Helper()
	c := p.command(p.t.Context(), "run-tasks", "monitor", "--no-open")
	var said lockedBuffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	var link []string
	eventually(p.t, "a link to the monitor", func() bool {
		link = loginLink.FindStringSubmatch(said.String())
		return link != nil
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	login, err := http.NewRequest(http.MethodPost, link[1]+"/login",
		strings.NewReader(url.Values{"code": {link[2]}}.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	login.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	login.Header.Set("Origin", link[1])
	answer, err := browser.Do(login)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer, err = browser.Get(link[1] + path); err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Error(err)
	}
	if err := c.Wait(); err != nil {
		p.t.Errorf("run-tasks monitor: %v\n%s", err, said.String())
	}
	return string(page)
}

// lockedBuffer is a buffer that may be read while a program writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
