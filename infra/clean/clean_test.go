package clean_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/infra/clean"
	"mlframework/infra/layout"
)

// site is a folder with a script, its home and its programs.
type site struct {
	t    *testing.T
	home string
}

func newSite(t *testing.T) *site {
	t.Helper()
	return &site{t, t.TempDir()}
}

func (s *site) write(path, text string, mode os.FileMode) {
	s.t.Helper()
	path = filepath.Join(s.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
}

// run runs the script with a home of its own and PATH's programs behind those of the site. Docker
// is not among them.
func (s *site) run(c clean.Cluster, args ...string) (out string, code int) {
	s.t.Helper()
	s.write("infra-clean", string(clean.Script(c)), 0o755)
	if !s.is("bin/docker") {
		s.write("bin/docker", "#!/bin/sh\nexit 1\n", 0o755)
	}
	s.write("bin/sudo", "#!/bin/sh\nexit 1\n", 0o755)
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(s.home, "infra-clean"), args...)
	cmd.Env = append(os.Environ(), "HOME="+s.home, "XDG_CACHE_HOME=", "PATH="+filepath.Join(s.home,
		"bin")+":"+os.Getenv("PATH"))
	said, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return string(said), cmd.ProcessState.ExitCode()
}

func (s *site) is(path string) bool {
	_, err := os.Lstat(filepath.Join(s.home, path))
	return err == nil
}

func local(name string) clean.Cluster {
	return clean.Cluster{Name: name, Root: "ml/" + name, Label: "mlframework.cluster",
		Hosts: []clean.Host{{Name: "local"}}}
}

// The script that is made is what people run: shellcheck sees that, and not the template.
func TestShellcheck(t *testing.T) {
	t.Parallel()
	checker, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed (Debian, Ubuntu: apt-get install shellcheck)")
	}
	c := local("c")
	c.Hosts = append(c.Hosts, clean.Host{Name: "gpu1", SSH: []string{"-p", "2222", "anna@gpu 1'"}})
	cmd := exec.CommandContext(t.Context(), checker, "-S", "warning", "-")
	cmd.Stdin = bytes.NewReader(clean.Script(c))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if out, code := s.run(local("c"), "--banana"); code != 2 || !strings.Contains(out,
		"unknown option --banana") {
		t.Errorf("%d: %s", code, out)
	}
	if out, code := s.run(local("c"), "--help"); code != 0 || !strings.Contains(out, "--volumes") ||
		strings.Contains(out, "cluster=") {
		t.Errorf("%d: %s", code, out)
	}
}

func TestOnlyTheFolderOfThisClusterGoes(t *testing.T) {
	t.Parallel()
	name := "an'na digits"
	mine := string(layout.NewMarker("anna", name).Encode())
	spaced := `{ "version": 1, "owner": "anna", "cluster": "` + name + `" }`
	for title, c := range map[string]struct {
		marker string
		gone   bool
	}{
		"its own": {mine, true}, "its own, with spaces": {spaced, true},
		"another's": {`{"cluster":"other","owner":"anna"}`, false}, "nobody's": {"", false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			folder := "ml/" + name
			s.write(folder+"/file", "x", 0o400)
			if c.marker != "" {
				s.write(folder+"/.mlframework-root", c.marker+"\n", 0o600)
			}
			out, code := s.run(local(name), "--files", "--yes")
			if s.is(folder) == c.gone {
				t.Errorf("%s", out)
			}
			// there is no Docker to ask
			if !strings.Contains(out, "LEFT: containers") || code != 1 {
				t.Errorf("%d: %s", code, out)
			}
			if c.gone && s.is("ml") {
				t.Error("an empty folder is left")
			}
			if !c.gone && !strings.Contains(out, "it is not this cluster's") {
				t.Errorf("%s", out)
			}
		})
	}
}

// The programs of agents go with the files, and nothing else of the cache.
func TestProgramsInTheCacheGo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write(".cache/mlframework/sweepd-0123", "x", 0o700)
	s.write(".cache/mlframework/.part.Xy", "x", 0o600)
	if _, _ = s.run(local("c"), "--yes"); !s.is(".cache/mlframework/sweepd-0123") {
		t.Error("they are gone without --files")
	}
	s.write(".cache/mlframework/scan", "x", 0o600)
	if out, _ := s.run(local("c"), "--files", "--yes"); s.is(".cache/mlframework/sweepd-0123") ||
		s.is(".cache/mlframework/.part.Xy") || !s.is(".cache/mlframework/scan") {
		t.Error(out)
	}
	if err := os.Remove(filepath.Join(s.home, ".cache/mlframework/scan")); err != nil {
		t.Fatal(err)
	}
	if out, _ := s.run(local("c"), "--files", "--yes"); s.is(".cache") {
		t.Error(out)
	}
}

func TestItAsksBeforeOutputsGo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("ml/c/.mlframework-root", `{"cluster":"c","owner":"anna"}`, 0o600)
	s.write("ml/c/hosts/gpu1/outputs/train-1/0/stdout.log", "x", 0o600)
	out, code := s.run(local("c"), "--files")
	if code != 1 || !strings.Contains(out, "outputs of tasks: 1, ") || !strings.Contains(out,
		"nothing was changed") || !s.is("ml/c/hosts") {
		t.Errorf("%d: %s", code, out)
	}
}

func TestAHostThatIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := local("c")
	c.Hosts = append([]clean.Host{{Name: "anna@gpu&1", SSH: []string{"-p", "22", "-o",
		"Batch Mode=it's", "gpu1"}}}, c.Hosts...)
	s.write("bin/ssh", "#!/bin/sh\nprintf '<%s>' \"$@\" >>\"$HOME/asked\"\ncat >/dev/null\necho "+
		"'ssh: connect to host gpu1: No route to host' >&2\nexit 255\n", 0o755)
	out, code := s.run(c, "--yes")
	if code != 1 || !strings.Contains(out, "anna@gpu&1: ssh: connect to host gpu1") ||
		!strings.Contains(out, "anna@gpu&1: LEFT: everything") {
		t.Errorf("%d: %s", code, out)
	}
	if !strings.Contains(out, "local: LEFT: containers") {
		t.Errorf("it did not go on: %s", out)
	}
	asked, err := os.ReadFile(filepath.Join(s.home, "asked"))
	if want := "<-a><-x><-o><LogLevel=ERROR><-o><ConnectTimeout=10><-p><22><-o><Batch " +
		"Mode=it's><gpu1><exec sh -s clean 'c' 'ml/c' 'mlframework.cluster' no no>"; err != nil ||
		string(asked) != want {
		t.Errorf("%s, %v", asked, err)
	}
}

// Whoever is asked knows which hosts will not be cleaned.
func TestItSaysWhatItReachesBeforeItAsks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("ml/c/.mlframework-root", `{"cluster":"c","owner":"anna"}`, 0o600)
	s.write("ml/c/hosts/gpu2/outputs/train-1/0/stdout.log", "x", 0o600)
	s.write("bin/ssh", "#!/bin/sh\ncat >/dev/null\n"+
		"echo 'ssh: connect to host gpu1: No route to host' >&2\nexit 255\n", 0o755)
	c := local("c")
	c.Hosts = append(c.Hosts, clean.Host{Name: "gpu1", SSH: []string{"gpu1"}})
	out, code := s.run(c, "--files")
	before, _, asked := strings.Cut(out, "Go on?")
	for _, want := range []string{"local: reached\n",
		"gpu1: ssh: connect to host gpu1: No route to host\n",
		"gpu1: NOT REACHED: what is there stays\n", "local: outputs of tasks: 1, "} {
		if !strings.Contains(before, want) {
			t.Errorf("%q is not in %s", want, before)
		}
	}
	if !asked || code != 1 || !s.is("ml/c/hosts") {
		t.Errorf("%d: %s", code, out)
	}
}

// Whoever would stop running tasks is asked, with their number and sweeps.
func TestItAsksWhileTasksRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var pids string
	for _, id := range []string{"train-2/4", "train-2/4", "train-2/15", "echo-1/0"} {
		task := exec.CommandContext(t.Context(), "sleep", "600")
		task.Env = []string{"SWEEP_ID=x", "TASK_ID=" + id, "ATTEMPT=1"}
		if err := task.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = task.Process.Kill(), task.Wait() })
		pids += fmt.Sprintln(task.Process.Pid)
	}
	s.write("bin/docker", "#!/bin/sh\necho \"$@\" >>\"$HOME/asked\"\ncase $* in\n*'ps -q'*) echo 1 ;;"+
		"\n'top 1 '*) printf 'PID\\n"+strings.ReplaceAll(pids, "\n", "\\n")+"' ;;\nesac\n", 0o755)
	for args, want := range map[string]string{
		"": "These tasks will be stopped; infrainit -f starts them again:\n" +
			"local: running tasks: 1 of echo-1\nlocal: running tasks: 2 of train-2\n" +
			"Go on? [y/N] nothing was changed; to go on without a terminal: " +
			s.home + "/infra-clean --yes\n",
		"--volumes": "These tasks will be stopped:\nlocal: running tasks: 1 of echo-1\n",
	} {
		out, code := s.run(local("c"), strings.Fields(args)...)
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: %d: %s", args, code, out)
		}
	}
	if asked, err := os.ReadFile(filepath.Join(s.home, "asked")); err != nil ||
		strings.Contains(string(asked), "rm") {
		t.Errorf("%s, %v", asked, err)
	}
	if out, code := s.run(local("c"), "--yes"); code != 0 || strings.Contains(out, "Go on?") {
		t.Errorf("%d: %s", code, out)
	}
}

// Tasks name the folders of their outputs, and hosts say what they like: none of it may move the
// cursor of whoever is asked whether to remove that, or stand for another line.
func TestWhatHostsSayIsVisible(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("ml/c/.mlframework-root", `{"cluster":"c","owner":"anna"}`, 0o600)
	s.write("ml/c/hosts/gpu1/outputs/train\x1b[2J\u202e\u009b1A/0/stdout.log", "x", 0o600)
	s.write("bin/ssh", "#!/bin/sh\ncat >/dev/null\nprintf 'all \\033[1A\\033[2Kis "+
		"well\\r\\n\\302\\2331A\\a'\nexit 255\n", 0o755)
	c := local("c")
	c.Hosts = append(c.Hosts, clean.Host{Name: "gpu\x1b[8m\n1/&", SSH: []string{"gpu1"}})
	for args, want := range map[string]string{"--files": "outputs, ",
		"--volumes --yes": "all ?[1A?[2Kis well\n"} {
		out, _ := s.run(c, strings.Fields(args)...)
		if strings.ContainsFunc(out, func(r rune) bool {
			return r != '\n' && (r < ' ' || r > '~')
		}) || !strings.Contains(out, want) {
			t.Errorf("%s: %q", args, out)
		}
	}
}

// Every shell that /bin/sh may be reads it.
func TestEveryShellReadsIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "infra-clean")
	if err := os.WriteFile(file, clean.Script(local("it's")), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"sh", "bash", "dash", "ksh", "busybox"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		args := []string{"-n", file}
		if shell == "busybox" {
			args = append([]string{"sh"}, args...)
		}
		if out, err := exec.CommandContext(t.Context(), path,
			args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
}

// What a login shell prints is not told, unless nothing ran.
func TestLoginShellsThatPrint(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("bin/ssh", "#!/bin/sh\necho Welcome to gpu1\necho 'stty: not a terminal' >&2\n"+
		"printf 'Have a nice day'\nfor last; do :; done\nexec sh -c \"$last\"\n", 0o755)
	c := local("c")
	c.Hosts = append(c.Hosts, clean.Host{Name: "gpu1", SSH: []string{"gpu1"}})
	out, _ := s.run(c, "--yes")
	if strings.Contains(out, "Welcome") || strings.Contains(out, "stty") ||
		strings.Contains(out, "nice day") || !strings.Contains(out, "gpu1: LEFT: containers") {
		t.Errorf("%s", out)
	}
}

func TestADryRunRemovesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("ml/c/.mlframework-root", `{"cluster":"c","owner":"anna"}`, 0o600)
	s.write(".cache/mlframework/sweepd-0123", "x", 0o700)
	s.write("bin/docker", "#!/bin/sh\necho \"$@\" >>\"$HOME/asked\"\n"+
		"case $* in *-q*) echo 1; echo 2 ;; esac\n", 0o755)
	out, code := s.run(local("c"), "--volumes", "--files", "--dry-run")
	for _, want := range []string{"containers (2)", "networks (2)", "images (2)", "volumes (2)",
		"/ml/c\n"} {
		if !strings.Contains(out, want) || !strings.Contains(out, "local: would be removed: ") {
			t.Errorf("%q is not in %s", want, out)
		}
	}
	asked, err := os.ReadFile(filepath.Join(s.home, "asked"))
	if err != nil || strings.Contains(string(asked), "rm") || code != 0 || !s.is("ml/c") ||
		!s.is(".cache/mlframework/sweepd-0123") {
		t.Errorf("%d: %s, %v", code, asked, err)
	}
}
