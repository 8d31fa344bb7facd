package main_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/internal/programtest"
)

// user is who sweeps a program, and the interpreter that this user may run.
type user struct {
	name   string
	uid    int
	python string // its folder
}

// nobody is an ordinary user that every machine has.
const nobody = 65534

// sweepTime bounds a sweep: much is hashed at its start, and the machine may be busy.
const sweepTime = 3 * time.Minute

// users are root and an ordinary user, or who runs the tests, who cannot be anybody else.
func users() []user {
	if os.Getuid() != 0 {
		return []user{{name: "ordinary user", uid: os.Getuid()}}
	}
	return []user{{name: "root"}, {name: "ordinary user", uid: nobody}}
}

// asUser runs a test as every user that it can be.
func asUser(t *testing.T, test func(*testing.T, user)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Log("NOT TESTED: a sweep of root, as who runs the tests is not root")
	}
	for _, u := range users() {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			u.python = u.findPython(t)
			test(t, u)
		})
	}
}

// credential makes a command one of the user's.
func (u user) credential() *syscall.Credential {
	if u.uid == os.Getuid() {
		return nil
	}
	return &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.uid)}
}

// findPython returns the folder of an interpreter that the user may run: that on PATH may be root's
// own.
func (u user) findPython(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3", "/usr/local/bin/python3"} {
		c := exec.Command(python, "-c", "import sys; print(sys.executable)")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: u.credential()}
		c.Dir = "/"
		if out, err := c.Output(); err == nil {
			return filepath.Dir(strings.TrimSpace(string(out)))
		}
	}
	t.Skipf("NOT TESTED: there is no python3 that %s may run", u.name)
	return ""
}

// sweeper is a user's folder with a program in p, and a home.
type sweeper struct {
	t    *testing.T
	user user
	dir  string
	env  []string // more of it
}

// newSweeper makes the folder. That of a test is closed to other users.
func newSweeper(t *testing.T, u user, p programtest.Program) *sweeper {
	t.Helper()
	dir, err := os.MkdirTemp("", "programs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p.Write(t, filepath.Join(dir, "p"))
	return &sweeper{t: t, user: u, dir: dir}
}

// give makes everything in the folder the user's.
func (s *sweeper) give() {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || s.user.uid == os.Getuid() {
			return err
		}
		return os.Lchown(path, s.user.uid, s.user.uid)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// start starts run-tasks, as the user.
func (s *sweeper) start(args ...string) *call {
	s.t.Helper()
	f := folder{s.t, s.dir}
	cmd := exec.Command(program, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+s.user.python+":/usr/bin:/bin", "HOME="+s.dir,
		"XDG_CACHE_HOME="+f.path(".cache"), "NO_COLOR=1")
	cmd.Env = append(cmd.Env, s.env...)
	return f.begin(cmd, &syscall.SysProcAttr{Setpgid: true, Credential: s.user.credential()})
}

// must runs run-tasks to its end, which is to be a good one.
func (s *sweeper) must(args ...string) {
	s.t.Helper()
	c := s.start(args...)
	if code := c.waitFor(sweepTime); code != 0 {
		s.t.Errorf("run-tasks %s: exit code %d:\n%s%s%s", strings.Join(args, " "), code, c.stdout,
			c.stderr, s.logs())
	}
}

// logs are what failing tasks said.
func (s *sweeper) logs() string {
	var all bytes.Buffer
	files, _ := filepath.Glob(filepath.Join(s.dir, "outputs/*/*/stderr*.log"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		all.WriteString(strings.TrimPrefix(file, s.dir) + ": " + lines[len(lines)-1] + "\n")
	}
	return all.String()
}

// untouched runs something after which snapshots and project are byte for byte as they were. The
// snapshot is there before: a sweep of a program that does nothing makes it.
func (s *sweeper) untouched(do func()) {
	s.t.Helper()
	tasks := filepath.Join(s.dir, "p", "tasks.yml")
	text, err := os.ReadFile(tasks)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(tasks, append(text, "  nothing: {command: [\"true\"]}\n"...),
		0o644); err != nil {
		s.t.Fatal(err)
	}
	s.give()
	s.must("--local", "-d", "p", "nothing")
	project, snapshots := filepath.Join(s.dir, "p"), filepath.Join(s.dir, ".mlframework",
		"revisions")
	before, beforeSnapshots := programtest.Tree(s.t, project), programtest.Tree(s.t, snapshots)
	if len(beforeSnapshots) <= len(before) {
		s.t.Errorf("the project has %d files and folders, all snapshots have %d", len(before),
			len(beforeSnapshots))
	}
	do()
	programtest.Unchanged(s.t, "the project", before, programtest.Tree(s.t, project))
	programtest.Unchanged(s.t, "the snapshot", beforeSnapshots, programtest.Tree(s.t, snapshots))
}

// sweep runs the program's tasks, so many at a time, and looks at what they leave. It is the
// folder's nth sweep.
func (s *sweeper) sweep(p programtest.Program, n, slots int) {
	s.t.Helper()
	s.must("--local", "-d", "p", "--slots", strconv.Itoa(slots), programtest.Definition)
	p.Left(s.t, filepath.Join(s.dir, "outputs", programtest.Definition+"-"+strconv.Itoa(n)))
}

// TestPrograms sweeps programs as their authors left them, with all tasks side by side, and then
// one after another: each task's files are its own, and nobody else's are changed.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, p := range programtest.All {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			asUser(t, func(t *testing.T, u user) {
				s := newSweeper(t, u, p)
				meeting := filepath.Join(s.dir, "meeting")
				if err := os.Mkdir(meeting, 0o755); err != nil {
					t.Fatal(err)
				}
				s.untouched(func() {
					s.env = []string{"MEETING=" + meeting, "NEIGHBOURS=" +
						strconv.Itoa(programtest.Tasks)}
					s.sweep(p, 1, programtest.Tasks)
					s.env = nil
					s.sweep(p, 2, 1)
				})
			})
		})
	}
}

// TestLargeDataSet has 5,000 files, ten of them so large that they are never copied, beside which a
// program keeps what it found out about them.
func TestLargeDataSet(t *testing.T) {
	t.Parallel()
	asUser(t, func(t *testing.T, u user) {
		s := newSweeper(t, u, programtest.Dataset)
		programtest.Fill(t, filepath.Join(s.dir, "p"), 20<<20)
		s.untouched(func() { s.sweep(programtest.Dataset, 1, 2) })
	})
}

// TestInterruptedProgram stops a sweep by Ctrl-C when each of its tasks has a checkpoint. Resumed,
// each goes on from its own.
func TestInterruptedProgram(t *testing.T) {
	t.Parallel()
	asUser(t, func(t *testing.T, u user) {
		s := newSweeper(t, u, programtest.Resumes)
		s.env = []string{"HOLD=" + filepath.Join(s.dir, "go")}
		s.untouched(func() {
			f := folder{t, s.dir}
			c := s.start("--local", "-d", "p", "--slots", strconv.Itoa(programtest.Tasks),
				programtest.Definition)
			eventually(t, sweepTime, "checkpoints of all tasks", func() bool {
				saved, _ := filepath.Glob(f.path("outputs/train-1/*/checkpoint.json"))
				for _, file := range saved {
					text, _ := os.ReadFile(file)
					if !strings.Contains(string(text), `"seen": [1, 1]`) {
						return false
					}
				}
				return len(saved) == programtest.Tasks
			})
			f.signal(c, syscall.SIGINT)
			if code := c.waitFor(sweepTime); code != 130 {
				t.Errorf("exit code %d: %s", code, c.stderr)
			}
			f.write("go", "")
			s.must("resume", "--slots", "2")
			programtest.Resumes.Left(t, f.path("outputs/train-1"))
		})
	})
}
