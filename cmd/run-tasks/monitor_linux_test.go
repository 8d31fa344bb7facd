package main_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"mlframework/internal/processtest"
)

// loginLink is a link to the monitor by its address, as run-tasks prints it.
var loginLink = regexp.MustCompile(`(http://127\.0\.0\.1:\d+)/login\?code=([A-Z2-7]+)\n`)

// read logs in to the monitor with the link that a call printed, and reads a page.
func (c *call) read(path string) string {
	c.t.Helper()
	c.shows("open this instead:\n")
	var link []string
	eventually(c.t, deadline, "a link", func() bool {
		link = loginLink.FindStringSubmatch(c.stdout.String())
		return link != nil
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	r, err := http.NewRequest(http.MethodPost, link[1]+"/login",
		strings.NewReader(url.Values{"code": {link[2]}}.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", link[1])
	answer, err := browser.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer, err = browser.Get(link[1] + path); err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(page)
}

// The monitor of a folder shows its sweeps, those that run and those that have ended, and ends with
// Ctrl-C, which leaves sweeps as they are.
func TestMonitorOfAFolder(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	work := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	pages := f.start(nil, "monitor", "--no-open")
	if page := pages.read("/sweeps/work-1"); !strings.Contains(page, "1 of 4") {
		t.Errorf("the page is %s", page)
	}
	f.signal(pages, syscall.SIGINT)
	pages.ends(0)
	f.write("go-work", "")
	work.ends(0)
	f.over()
	again := f.start(nil, "monitor", "--no-open")
	if page := again.read("/sweeps/work-1"); !strings.Contains(page, "4 of 4") {
		t.Errorf("after the sweep the page is %s", page)
	}
	guard, executor := f.runner()
	processtest.Kill(t, guard, executor)
	again.shows("note: the process that ran the tasks has ended; starting it again\n")
	eventually(t, deadline, "another runner", func() bool {
		now, _ := f.runner()
		return now != guard
	})
	f.signal(again, syscall.SIGINT)
	again.ends(0)
	f.over()
}

// The page of a task has what it printed, also of a sweep that ended before the monitor began. A
// viewer is not offered to run it again.
func TestMonitorShowsAnOutput(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 1s", "echo printed by $TASK_INDEX\necho and why >&2; exit $TASK_INDEX\n")
	f.start(nil, "--local", "-d", "p", "--keep-going", "work").ends(1)
	pages := f.start(nil, "monitor", "--no-open", "--viewer")
	page := pages.read("/sweeps/work-1/tasks/1")
	if strings.Contains(page, "Run again") {
		t.Errorf("a viewer can act: %s", page)
	}
	for _, want := range []string{"and why\n</pre>", "exit code 1", "Differs in one parameter"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	f.signal(pages, syscall.SIGINT)
	pages.ends(0)
	f.over()
}

// The link is not in the command line of the browser, which other users can read.
func TestMonitorOpensABrowser(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 1s", "")
	f.write("p/bin/xdg-open", "#!/bin/sh\necho \"$@\" > "+f.path("arguments")+"; cp \"$1\" "+
		f.path("page")+"\nls -ld \"$(dirname \"$1\")\" \"$1\" > "+f.path("rights")+"\n")
	if err := os.Chmod(f.path("p/bin/xdg-open"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "monitor")
	cmd.Dir = f.path("p")
	cmd.Env = append(os.Environ(), "PATH="+f.path("p/bin")+":"+os.Getenv("PATH"), "DISPLAY=:7",
		"SSH_CONNECTION=")
	c := f.begin(cmd, &syscall.SysProcAttr{Setpgid: true})
	eventually(t, deadline, "a browser", func() bool { return len(f.lines("rights")) == 2 })
	link := loginLink.FindStringSubmatch(c.stdout.String())
	page, _ := os.ReadFile(f.path("page"))
	arguments := f.lines("arguments")
	if link == nil || !strings.Contains(string(page), link[2]) {
		t.Errorf("the page is %s", page)
	}
	if len(arguments) != 1 || strings.Contains(arguments[0], "code") {
		t.Errorf("it is called with %q", arguments)
	}
	for i, want := range []string{"drwx------", "-rw-------"} {
		if rights := f.lines("rights")[i]; !strings.HasPrefix(rights, want) {
			t.Errorf("the rights are %s", rights)
		}
	}
	f.signal(c, syscall.SIGINT)
	c.ends(0)
	if _, err := os.Stat(filepath.Dir(arguments[0])); err == nil {
		t.Error("the page is still there")
	}
}

// Where nothing can be shown the monitor says so.
func TestMonitorOfNothing(t *testing.T) {
	t.Parallel()
	f := folder{t, t.TempDir()}
	if _, stderr, code := f.run("monitor"); code != 2 || !strings.Contains(stderr,
		"no sweeps in this folder") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if left, _ := os.ReadDir(f.dir); len(left) > 0 {
		t.Errorf("it made %v", left)
	}
}
