package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mlframework/sweep/worker/process"
)

// noCgroups has tests and their helpers run as where no cgroup is delegated.
const noCgroups = "TEST_WITHOUT_CGROUPS"

func init() {
	if os.Getenv(noCgroups) != "" {
		newKeeper = process.WithoutCgroups
	}
}

func needCgroups(t *testing.T) {
	t.Helper()
	if os.Getenv(noCgroups) != "" {
		t.Skip("NOT TESTED: cgroups are turned off")
	}
	if err := process.CanUseCgroups(); err != nil {
		t.Skip("NOT TESTED: programs get no cgroups of their own here:", err)
	}
}

// traceless is a process that has left its parent, its session, its environment and the limit by
// which programs are told apart.
const traceless = `
def bare_of_limits():
    resource.setrlimit(10, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    bare(0)
`

// What has left everything else is known by its cgroup, while other programs run that may have left
// it.
func TestCgroupTellsWhoseProcessItIs(t *testing.T) {
	t.Parallel()
	needCgroups(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	running, ended := make(chan int, 1), make(chan process.Exit, 1)
	other, _ := spec(t, "sleep", "60")
	other.Started = func(pid int) { running <- pid }
	go func() { ended <- keeper.Run(ctx, other) }()
	<-running
	s, _ := python(t, traceless+"daemon(bare_of_limits)\nnoted(1)")
	if e := keeper.Run(t.Context(), s); e.Left != 1 || e.Code != 0 {
		t.Errorf("got %+v", e)
	}
	gone(t, s.Dir)
	cancel()
	if e := <-ended; e.Left != 0 || e.Cause != process.Stopped {
		t.Errorf("the other ended as %+v", e)
	}
}

// A kernel may kill whatever comes into a cgroup that was killed once.
func TestCgroupOfAKilledProgramIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	needCgroups(t)
	for range 20 {
		s, _ := python(t, "if os.fork() == 0: stubborn()\nnoted(1)")
		s.Grace = 0
		if e := keeper.Run(t.Context(), s); e.Left != 1 || e.Code != 0 {
			t.Fatalf("got %+v", e)
		}
	}
}

// Of what outlives both processes of a pair, the next run finds also what no environment tells of.
func TestBothKilledLeaveNothingInTheirCgroup(t *testing.T) {
	needCgroups(t)
	p := startPair(t, traceless+
		"daemon(bare_of_limits)\nnoted(1)\nprint('ready', flush=True)\nstay()")
	if got := p.line(); got != "ready" {
		t.Fatal(got)
	}
	p.killBoth(t)
	// another test's worker may be faster
	none := func([]string) bool { return false }
	if killed, err := process.KillLeftovers(t.Context(), none); killed != 0 || err != nil {
		t.Errorf("%d were its own: %v", killed, err)
	}
	within(t, soon, "all gone", p.treeGone)
	own, err := process.OwnCgroup()
	left, _ := filepath.Glob(own + "/mlframework-*-" + p.executor + "-*")
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// delegated makes a cgroup that belongs to the user without privileges who runs confined programs.
func delegated(t *testing.T) *os.File {
	t.Helper()
	own, err := process.OwnCgroup()
	if err != nil || os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can delegate a cgroup to another user:", err)
	}
	dir := filepath.Join(own, "mlframework test of confined programs")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("NOT TESTED: no cgroup can be made:", err)
	}
	t.Cleanup(func() {
		within(t, soon, "the cgroup is empty", func() bool { return os.Remove(dir) == nil })
	})
	for _, name := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		if err := os.Chown(filepath.Join(dir, name), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// A confined program cannot leave its cgroup, nor touch another, though they belong to its user.
func TestConfinedProgramsStayInTheirCgroup(t *testing.T) {
	needCgroups(t)
	top := delegated(t)
	_, run := cellIn(t, &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(top.Fd())})
	t.Setenv("TOP", top.Name())
	out, err := run("confined", "cat /proc/self/cgroup")
	if err != nil || !strings.Contains(process.UnifiedPath(out), "/mlframework-") {
		t.Fatalf("a program of another user is in no cgroup of its own: %v: %s", err, out)
	}
	for name, script := range map[string]string{
		"leave":        `echo $$ >"$TOP/cgroup.procs"`,
		"make another": `mkdir "$TOP/new" && rmdir "$TOP/new"`,
		"freeze":       `for c in "$TOP"/*/*/; do echo 0 >"$c/cgroup.freeze" || exit 1; done`,
		"move the worker": `for c in "$TOP"/*/1/cgroup.procs; do echo $PPID >"$c" || exit 1; done
			echo $PPID >"$TOP/cgroup.procs"`,
		"end all there": `echo 1 >"$TOP/cgroup.kill"; exit`,
	} {
		if out, err := run("confined", script); err == nil ||
			!strings.Contains(out, "ermission denied") {
			t.Errorf("a confined program can %s: %v: %s", name, err, out)
		}
		t.Setenv("CONFINE", "no")
		if out, err := run("confined", script); err != nil && name != "end all there" {
			t.Errorf("%s: a weak test, nobody can: %v: %s", name, err, out)
		}
		t.Setenv("CONFINE", "")
	}
}

// The tests of whole trees also hold where no cgroup is delegated.
func TestTreesWithoutCgroups(t *testing.T) {
	needCgroups(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*soon)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^Test(WhatOutlives|StopReaches|"+
		"TimeoutOfATree|DaemonOfOne|StartsAre|GuardKilled|ExecutorKilled|BothKilled$)")
	cmd.Env = append(os.Environ(), noCgroups+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

func TestCgroupFolder(t *testing.T) {
	t.Parallel()
	const mounts = "25 1 0:21 / /proc rw - proc proc rw\n" +
		"30 23 0:26 %s /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	for _, c := range []struct{ name, root, cgroup, path, folder string }{
		{"a host", "/", "0::/user.slice/a.scope\n", "/user.slice/a.scope",
			"/sys/fs/cgroup/user.slice/a.scope"},
		{"a container with a namespace of its own", "/", "0::/\n", "/", "/sys/fs/cgroup"},
		{"one without, which sees its own part", "/docker/1", "3:cpu:/docker/1\n0::/docker/1\n",
			"/docker/1", "/sys/fs/cgroup"},
		{"another's part", "/docker/2", "0::/docker/1\n", "/docker/1", ""},
		{"a name that begins so", "/docker/1", "0::/docker/12\n", "/docker/12", ""},
		{"only version 1", "/", "3:cpu:/docker/1\n", "", ""},
		{"a mount with an escape", "/a\\040b", "0::/a\n", "/a", ""},
	} {
		path := process.UnifiedPath(c.cgroup)
		folder := process.CgroupFolder(fmt.Sprintf(mounts, c.root), path)
		if path != c.path || folder != c.folder {
			t.Errorf("%s: %q in %q", c.name, path, folder)
		}
	}
}
