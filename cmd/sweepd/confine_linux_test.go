package main_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mlframework/sweep/secret"
	programs "mlframework/sweep/worker/process"
)

// confinedWorker starts a worker whose credentials, outputs and state are in folders of their own.
func (c *cluster) confinedWorker(name string, s site, flags ...string) *daemon {
	c.t.Helper()
	credentials, err := os.ReadFile(s.broker.Worker(c.t, s.vhost, name))
	if err == nil {
		err = os.MkdirAll(c.path("secrets"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(c.path("secrets", "credentials"), credentials, 0o600)
	}
	if err == nil { // programs can make nothing beside hidden folders
		err = os.WriteFile(c.path("starts"), nil, 0o600)
	}
	for _, folder := range []string{name, "state", "private"} {
		err = cmp.Or(err, os.Mkdir(c.path(folder), 0o700))
	}
	as := unprivileged()
	if as != nil {
		owner := fmt.Sprintf("%d:%d", as.Uid, as.Gid)
		chown := exec.Command("chown", "-R", owner,
			"starts", "secrets", name, "state", "private", "revisions")
		chown.Dir = c.dir
		err = cmp.Or(err, os.Chmod(c.dir, 0o711), chown.Run())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	d := newDaemon(c.t, c.dir, name, append(append([]string{"worker", "--name", name, "--host",
		"host-" + name, "--slots", "2",
		"--outputs", c.path(name), "--state", c.path("state"), "--revisions", c.path("revisions")},
		s.flags(c.path("secrets", "credentials"))...), flags...)...)
	d.as = as
	c.workers[name] = d
	d.start()
	c.ready(name)
	return d
}

// unprivileged is who runs a worker that confines: nil is the user who runs the tests, unless that
// is root.
func unprivileged() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: 65534, Gid: 65534}
}

// TestATaskCannotReachWhatItsWorkerHas runs tasks that try.
func TestATaskCannotReachWhatItsWorkerHas(t *testing.T) {
	t.Parallel()
	if err := programs.CanConfine(); err != nil {
		t.Skip(err)
	}
	s := open(t)
	c := newCluster(t, s)
	worker := c.confinedWorker("w1", s, "--confine")
	tries := map[string]string{
		"credentials": "cat " + c.path("secrets", "credentials"), "state": "ls " + c.path("state") +
			"/* && cat " + c.path("state", "incarnation"),
		"state changed": "echo x >>" + c.path("state", "events"), "output of others": "echo x >" +
			c.path("w1") + "/x",

		"output of another task": "e=1; for d in ../*; do " +
			"[ $d = ../$TASK_INDEX ] || ! echo x >$d/stdout.log || e=0; done; exit $e",
		"revisions":  "echo x >" + c.path("revisions") + "/x",
		"its worker": "kill -0 $PPID", "limits of its worker": "prlimit --pid $PPID --core=0",
		"the program of the worker": "echo >>" + program,
	}
	script := "reached=0"
	for what, try := range tries {
		script += fmt.Sprintf("; if ( %s ) >/dev/null 2>&1; then echo 'reached: %s'; reached=1; fi",
			try, what)
	}
	id := c.sweep("tries", script+"; touch mine && mktemp -p . && [ $reached = 0 ] || exit 1", 3)
	c.ended(patience, id)
	c.succeeded(id)
	for i := range 3 {
		if text, err := os.ReadFile(c.path("w1", id, fmt.Sprint(i), "stdout.log")); err != nil ||
			strings.Contains(string(text), "reached") {
			t.Errorf("task %d: %v\n%s", i, err, text)
		}
	}
	if w := c.shown("w1"); w.Unconfined != nil {
		t.Errorf("the worker says that its tasks are not confined: %s", *w.Unconfined)
	}
	// Landlock does not hold modes.
	opens := c.sweep("opens", "chmod 644 "+c.path("secrets", "credentials"), 1)
	c.ended(patience, opens)
	c.succeeded(opens)
	const warning = "other users may read the credentials"
	if strings.Contains(worker.said(), warning) {
		t.Error("the worker warns of credentials that no other user may read")
	}
	worker.kill()
	worker.start()
	eventually(t, patience, "a worker warns of credentials that others may read", func() bool {
		return strings.Contains(worker.said(), warning)
	})
}

// TestFoldersThatCannotBeHidden are refused before anything is done.
func TestFoldersThatCannotBeHidden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"credentials", "secrets/credentials"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(`{"username":"u","password":"p"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		credentials, state, want string
	}{
		"credentials beside all": {"credentials", "state", "into a folder of its own"},
		"no state":               {"secrets/credentials", "", "--state"},
		"state in the outputs":   {"secrets/credentials", "outputs/.worker", "--state"},
	} {
		cmd := exec.Command(program, "worker", "--confine", "--name", "hidden-"+filepath.Base(dir),
			"--broker", "amqp://127.0.0.1:1", "--outputs", filepath.Join(dir, "outputs"),
			"--revisions", filepath.Join(dir, "revisions"), "--credentials",
			filepath.Join(dir, c.credentials))
		if c.state != "" {
			cmd.Args = append(cmd.Args, "--state", filepath.Join(dir, c.state))
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: unprivileged()}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(string(out),
			c.want) {
			t.Errorf("%s: exit code %d: %s", name, code, out)
		}
	}
}

// TestWhoseTasksAreNotConfined has --confine refused for users whose tasks nothing would hold.
func TestWhoseTasksAreNotConfined(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: workers of root, and with a capability, as the tests do not run as root")
	}
	for name, c := range map[string]struct {
		as      *syscall.Credential
		ambient []uintptr
		refused bool
	}{
		"root":                   {nil, nil, true},
		"a user with capability": {unprivileged(), []uintptr{0}, true}, // CAP_CHOWN
		"a user":                 {unprivileged(), nil, false},
	} {
		cmd := exec.Command(program, "worker", "--confine", "--name", "w",
			"--broker", "amqp://127.0.0.1:1", "--outputs", "/nowhere/outputs",
			"--revisions", "/nowhere/revisions",
			"--credentials", "/nowhere/secrets/credentials")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as, AmbientCaps: c.ambient}
		out, _ := cmd.CombinedOutput() // without --state it is refused in any case
		refused := strings.Contains(string(out), "tasks of root")
		if code := cmd.ProcessState.ExitCode(); code != 2 || refused != c.refused {
			t.Errorf("%s: exit code %d: %s", name, code, out)
		}
	}
}

// TestOthersOfTheUserCannotReadTheMemory starts master and worker as a user without privileges: the
// kernel gives the files in /proc of a process that keeps its memory to itself to root.
func TestOthersOfTheUserCannotReadTheMemory(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "private-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	credentials := filepath.Join(dir, "credentials")
	if err := os.WriteFile(credentials, []byte(`{"username":"u","password":"p"}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	attr := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(credentials, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	broker := []string{"--broker", "amqp://127.0.0.1:1", "--credentials", credentials}
	for name, args := range map[string][]string{
		"master": {"master", "--store", dir + "/store", "--socket", dir + "/socket"},
		"worker": {"worker", "--name", filepath.Base(dir), "--outputs", dir + "/outputs",
			"--revisions", dir + "/revisions"},
	} {
		cmd := exec.Command(fmt.Sprintf("/proc/self/fd/%d", self.Fd()), append(args, broker...)...)
		log, err := os.Create(filepath.Join(dir, name+".log"))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.SysProcAttr = log, log, dir, attr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if pid := child(cmd.Process.Pid); pid != 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			_ = cmd.Process.Kill() // the one that waits would have ended the other
			_ = cmd.Wait()
			log.Close()
		})
		private := func(pid int) bool {
			var st syscall.Stat_t
			return syscall.Stat(fmt.Sprintf("/proc/%d/environ", pid), &st) == nil && st.Uid == 0
		}
		what := name + " keeps its memory to itself"
		if !becomes(patience, func() bool { return private(cmd.Process.Pid) }) {
			text, _ := os.ReadFile(log.Name())
			t.Errorf("it is not so: %s: %s", what, text)
		}
		if name == "worker" && !becomes(patience, func() bool {
			pid := child(cmd.Process.Pid)
			return pid != 0 && private(pid)
		}) {
			t.Errorf("it is not so: %s, the process that does the work", what)
		}
	}
}

// TestATaskReadsItsOwnSecretsOnly runs a task that looks for the secrets of another sweep, which is
// at work in the next slot.
func TestATaskReadsItsOwnSecretsOnly(t *testing.T) {
	t.Parallel()
	if err := programs.CanConfine(); err != nil {
		t.Skip(err)
	}
	for name, folder := range map[string]string{"named": "private", "default": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taskReadsItsOwnSecretsOnly(t, folder)
		})
	}
}

func taskReadsItsOwnSecretsOnly(t *testing.T, folder string) {
	const value = "recognisable-value-of-another-sweep"
	s := open(t)
	c := newCluster(t, s)
	private, flags := c.path("state", "secrets"), []string{"--confine"}
	if folder != "" {
		private = c.path(folder)
		flags = append(flags, "--secrets-folder", private)
	}
	c.confinedWorker("w1", s, flags...)
	victim := c.submission("victim",
		`printf '%s\n' "$SECRETS_DIR" >"$OUTPUT_DIR/where"; test "$(cat "$SECRETS_DIR/KEY")" = "$KEY"; `+held, 1)
	victim.Record.Recipe.Secrets = []string{"KEY"}
	victim.Secrets = secret.Values{"KEY": value}
	id := c.submit(victim)
	where := ""
	eventually(t, patience, "the victim runs", func() bool {
		text, _ := os.ReadFile(c.path("w1", id, "0", "where"))
		where = strings.TrimSpace(string(text))
		return where != ""
	})
	if !strings.HasPrefix(where, private+"/") {
		t.Errorf("the victim's secrets are in %s; want them in %s", where, private)
	}
	if text, err := os.ReadFile(filepath.Join(where, "KEY")); err != nil || string(text) != value {
		t.Fatalf("%s, which the other task tries to read: %q, %v", where, text, err)
	}
	spy := c.sweep("spy", "cat "+where+"/KEY "+private+"/*/*/*; echo over", 1)
	c.ended(patience, spy)
	c.succeeded(spy)
	text, err := os.ReadFile(c.path("w1", spy, "0", "stdout.log"))
	if err != nil || !strings.Contains(string(text), "over\n") || strings.Contains(string(text),
		"recognisable") {
		t.Errorf("another task prints %q, %v", text, err)
	}
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
}

// TestOutputFilesAreNotFollowed runs tasks that put links and pipes where the worker, which is not
// confined, writes what they print.
func TestOutputFilesAreNotFollowed(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	victim := c.path("victim")
	if err := os.WriteFile(victim, []byte("whole"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]string{
		"link": "ln -s " + victim + " stderr.log; echo text >&2",
		"pipe": "mkfifo stderr.log; echo text >&2",
		"late": "rm stdout.log; ln -s " + victim + " stdout.log; (sleep 0.3; echo text) & " +
			"echo text >&2",
		"latepipe": "rm stdout.log; mkfifo stdout.log; (sleep 0.3; echo text) & echo text >&2",
	} {
		id := c.sweep(name, do, 1)
		c.ended(patience, id)
		c.succeeded(id)
		file := c.path("w1", id, "0", "stderr.log")
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, info, err)
		} else if text, err := os.ReadFile(file); err != nil || string(text) != "text\n" {
			t.Errorf("%s: it keeps %q, %v", name, text, err)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "whole" {
		t.Errorf("the file that links led to has %q, %v", text, err)
	}
}
