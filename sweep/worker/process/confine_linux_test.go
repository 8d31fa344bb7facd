package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/sweep/worker/process"
)

func init() {
	helpers["confined"] = confined
	helpers["confined-threads"] = confinedThreads
}

// confined runs a shell script as a program that is confined as a worker confines those of its
// tasks, below $BASE.
func confined() int {
	k, base, err := confining()
	if err != nil {
		return say(err)
	}
	defer k.Close(context.Background())
	if add := os.Getenv("ADD"); add != "" {
		if err := os.WriteFile(add, []byte("new"), 0o600); err != nil {
			return say(err)
		}
	}
	exit := k.Run(context.Background(), process.Spec{Argv: []string{"sh", "-c", os.Args[1]},
		Env: os.Environ(), Dir: base + "/outputs/own",
		Stdout: os.Stdout, Stderr: os.Stdout, Own: []string{base + "/outputs/own"}})
	if exit.Err != nil {
		return say(exit.Err)
	}
	return exit.Code
}

func confining() (*process.Keeper, string, error) {
	base := os.Getenv("BASE")
	k, err := process.NewKeeper(nil)
	if err == nil && os.Getenv("CONFINE") != "no" {
		err = k.Confine(process.Confinement{Hidden: []string{base + "/secrets", base + "/state"},
			ReadOnly: []string{base + "/outputs"},
			Writable: []string{base + "/state/home"}})
	}
	return k, base, err
}

func say(err error) int {
	fmt.Println(err)
	return 99
}

// confinedThreads runs many confined programs at a time and prints the threads of this process that
// are confined with them.
func confinedThreads() int {
	k, base, err := confining()
	if err != nil {
		return say(err)
	}
	done := make(chan process.Exit)
	for range 8 {
		go func() {
			var exit process.Exit
			for range 25 {
				exit = k.Run(context.Background(),
					process.Spec{Argv: []string{"true"}, Env: os.Environ(),
						Own: []string{base + "/outputs/own"}})
			}
			done <- exit
		}()
	}
	for range 8 {
		if exit := <-done; exit.Err != nil || exit.Code != 0 {
			fmt.Println(exit)
		}
	}
	if err := k.Close(context.Background()); err != nil {
		return say(err)
	}
	// a thread ends a moment after its last call
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		left := confinedNow()
		if len(left) == 0 {
			return 0
		}
		if time.Now().After(end) {
			fmt.Println("confined:", left)
			return 1
		}
	}
}

func confinedNow() (threads []string) {
	all, _ := filepath.Glob("/proc/self/task/*/status")
	for _, file := range all {
		if status, err := os.ReadFile(file); err == nil &&
			strings.Contains(string(status), "NoNewPrivs:\t1") {
			threads = append(threads, file)
		}
	}
	return threads
}

// cell makes the folders of a worker and gives what runs a helper there, as a user without
// privileges.
func cell(t *testing.T) (base string, run func(helper string, args ...string) (string, error)) {
	t.Helper()
	return cellIn(t, &syscall.SysProcAttr{})
}

func cellIn(t *testing.T, attr *syscall.SysProcAttr) (base string,
	run func(helper string, args ...string) (string, error)) {
	t.Helper()
	if err := process.CanConfine(); err != nil {
		t.Skip(err)
	}
	base, err := os.MkdirTemp("/dev/shm", "confined-") // where another user reaches it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	for _, dir := range []string{"secrets", "state/home", "outputs/own/sub", "outputs/other",
		"revisions"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"secrets/credentials", "state/events", "outputs/own/mine",
		"outputs/other/theirs", "config"} {
		write(t, base, name, "text of "+name, 0o600)
	}
	self, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = self.Close() })
	if os.Getuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if out, err := exec.Command("chown", "-R", fmt.Sprint(nobody),
			base).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return base, func(helper string, args ...string) (string, error) {
		cmd := exec.Command(fmt.Sprintf("/proc/self/fd/%d", self.Fd()), args...)
		cmd.Env = append(os.Environ(), "HELPER="+helper, "BASE="+base,
			"ADD="+filepath.Join(base, "added"))
		cmd.Dir, cmd.SysProcAttr = base, attr
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
}

// nobody is a user without privileges.
const nobody = 65534

// TestWhatAConfinedProgramReaches lets programs try what they may do and what they may not.
func TestWhatAConfinedProgramReaches(t *testing.T) {
	t.Parallel()
	base, run := cell(t)
	const python = "python3 -Sc 'import resource as r; "
	for _, c := range []struct {
		name, script string
		allowed      bool
	}{
		{"read the credentials", "cat $BASE/secrets/credentials", false},
		{"read them through a link", "ln -sf $BASE/secrets/credentials l; cat l", false},
		{"give them another name", "ln $BASE/secrets/credentials stolen", false},
		{"write to them", "echo x >>$BASE/secrets/credentials", false},
		{"read the state", "cat $BASE/state/events", false},
		{"empty the state", "truncate -s 0 $BASE/state/events", process.LandlockABI() < 3},
		{"remove the state", "rm $BASE/state/events", false},
		{"write to another's output", "echo x >$BASE/outputs/other/theirs", false},
		{"empty another's output", ": >$BASE/outputs/other/theirs", false},
		{"remove another's output", "rm -f $BASE/outputs/other/theirs", false},
		{"add to another's output", "touch $BASE/outputs/other/new", false},
		{"move to another's output", "mv mine $BASE/outputs/other/new", false},
		{"take another's output", "mv $BASE/outputs/other/theirs .", false},
		{"replace its own folder", "mv $BASE/outputs/own $BASE/outputs/gone", false},
		{"read the memory of the worker", ": </proc/$PPID/mem", false},
		{"read the environment of the worker", "cat /proc/$PPID/environ", false},
		{"open a file of the worker", "readlink /proc/$PPID/fd/1", false},
		{"signal the worker", "kill -CONT $PPID", process.LandlockABI() < 6},
		{"set a limit of the worker", "prlimit --pid $PPID --core=0", false},
		{"set a limit of what it started",
			"sleep 9 & prlimit --pid $! --core=0; e=$?; kill $!; exit $e", false},
		{"read limits of the worker", "prlimit --pid $PPID", true},
		{"set its own limits",
			"ulimit -n 99 && prlimit --nofile=88 sh -c 'test $(ulimit -n) = 88'", true},
		{"set its tag", "prlimit --locks=5: true", false},
		{"set its tag by setrlimit(3)", python + `r.setrlimit(10, (5, r.RLIM_INFINITY))'`, false},
		{"read all limits", "prlimit && " + python + "r.getrlimit(10)'", true},
		{"set other limits to what they are", python +
			"[r.setrlimit(n, r.getrlimit(n)) for n in range(16) if n != 10]'", true},
		{"read another's output", "cat $BASE/outputs/other/theirs", true},
		{"list what is hidden", "ls $BASE/secrets /", true},
		{"read what came later", "cat $BASE/added", true},
		{"work in its own folder",
			"echo x >new && mkdir a && mv new a/ && ln a/new b && rm -r a b && truncate -s 3 mine",
			true},
		{"use its home", "echo x >$BASE/state/home/.profile", true},
		{"use what is beside", "echo x >>$BASE/config && rm $(mktemp -p /tmp) && echo >/dev/null",
			true},
		// as CUDA does with /dev/nvidia*: TIOCGPTN of a device is an ioctl that anybody may call
		{"talk to a device", `python3 -Sc 'import fcntl, os
fd = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
fcntl.ioctl(fd, 0x80045430, bytes(4))'`, true},
		{"signal its own", "sleep 9 & kill $! && kill -0 $$", true},
		{"look into its own", "sleep 9 & cat /proc/$!/environ >env; kill $!; test -s env", true},
	} {
		out, err := run("confined", c.script)
		if (err == nil) != c.allowed {
			t.Errorf("%s: %v: %s", c.name, err, out)
		}
	}
	if text, err := os.ReadFile(base + "/outputs/other/theirs"); err != nil ||
		string(text) != "text of outputs/other/theirs" {
		t.Errorf("another's output: %q, %v", text, err)
	}
}

// TestNoThreadStaysConfined looks for threads of the process that starts confined programs which
// are confined, too: what Go runs on them would be, and main's would make the whole process look so
// to others.
func TestNoThreadStaysConfined(t *testing.T) {
	t.Parallel()
	if len(confinedNow()) > 0 {
		t.Skip("these tests run with no_new_privs")
	}
	_, run := cell(t)
	if out, err := run("confined-threads"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
