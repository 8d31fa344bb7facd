package agent_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mlframework/infra/agent"
)

// hostShell is a host's shell whose home folder is home; before is what it does first.
func hostShell(t *testing.T, home, before string) agent.Pipe {
	return func(ctx context.Context, argv ...string) (net.Conn, error) {
		c := exec.Command("sh", append([]string{"-c", before + `; exec "$@"`, "sh"}, argv...)...)
		c.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME=")
		here, there := net.Pipe()
		in, err := c.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := c.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := c.Start(); err != nil {
			return nil, err
		}
		ended := make(chan struct{})
		t.Cleanup(func() { <-ended })
		go func() {
			_, _ = io.Copy(in, there)
			in.Close()
		}()
		go func() {
			_, _ = io.Copy(there, out)
			there.Close()
			_ = c.Wait()
			close(ended)
		}()
		return here, nil
	}
}

// program is one that says that it is ready, and then reads its input to the end.
func program(t *testing.T, text string) []agent.Program {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: hosts are Linux")
	}
	file := filepath.Join(t.TempDir(), "sweepd")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := agent.ReadProgram(runtime.GOARCH, file)
	if err != nil {
		t.Fatal(err)
	}
	return []agent.Program{{Arch: "riscv", Sum: p.Sum, Size: 1}, p}
}

const ready = "#!/bin/sh\necho mlframework-agent ready\nexec cat >/dev/null\n"

// names returns what is below a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		all = append(all, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheProgramIsBroughtOnce(t *testing.T) {
	t.Parallel()
	home, programs := t.TempDir(), program(t, ready)
	shell := hostShell(t, home, "echo Welcome!; printf 'no line end: '")
	for _, fresh := range []bool{true, false} {
		c, err := agent.Start(t.Context(), "gpu1", shell, programs, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if c.Fresh() != fresh {
			t.Errorf("it was sent: %v", c.Fresh())
		}
		c.Close()
	}
	want := []string{".", ".cache", ".cache/mlframework",
		".cache/mlframework/sweepd-" + programs[1].Sum}
	if got := names(t, home); !slices.Equal(got, want) {
		t.Errorf("there is %q", got)
	}
}

// What lies in the cache under the program's name runs only where it is the program, and nobody
// else may change it.
func TestTheCachedProgramIsChecked(t *testing.T) {
	t.Parallel()
	const evil = "#!/bin/sh\necho evil >\"$HOME/ran\"\n" + ready
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, cache, file string)
		fresh bool
	}{
		{"others may write", func(t *testing.T, cache, file string) {
			must(t, os.Chmod(cache, 0o777))
			must(t, os.Chmod(file, 0o777))
		}, false},
		{"other content", func(t *testing.T, _, file string) {
			must(t, os.WriteFile(file, []byte(evil), 0o755))
		}, true},
		{"a link", func(t *testing.T, cache, file string) {
			must(t, os.Rename(file, filepath.Join(cache, "elsewhere")))
			must(t, os.Symlink("elsewhere", file))
		}, true},
		{"another's file", func(t *testing.T, _, file string) { give(t, file) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home, programs := t.TempDir(), program(t, ready)
			shell := hostShell(t, home, ":")
			cache := filepath.Join(home, ".cache", "mlframework")
			file := filepath.Join(cache, "sweepd-"+programs[1].Sum)
			first, err := agent.Start(t.Context(), "gpu1", shell, programs, func() {})
			must(t, err)
			first.Close()
			c.spoil(t, cache, file)
			second, err := agent.Start(t.Context(), "gpu1", shell, programs, func() {})
			must(t, err)
			second.Close()
			if second.Fresh() != c.fresh {
				t.Errorf("it was sent: %v", second.Fresh())
			}
			if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
				t.Error("another program ran")
			}
			for _, name := range []string{cache, file} {
				info, err := os.Lstat(name)
				must(t, err)
				if info.Mode().Perm()&0o022 != 0 || info.Mode()&os.ModeSymlink != 0 {
					t.Errorf("%s: %v", name, info.Mode())
				}
			}
		})
	}
}

func TestAnotherUsersCacheIsRefused(t *testing.T) {
	t.Parallel()
	home, programs := t.TempDir(), program(t, ready)
	cache := filepath.Join(home, ".cache", "mlframework")
	must(t, os.MkdirAll(cache, 0o777))
	give(t, cache)
	c, err := agent.Start(t.Context(), "gpu1", hostShell(t, home, ":"), programs, func() {})
	if err == nil {
		c.Close()
	}
	f, ok := errors.AsType[*agent.Fault](err)
	if !ok || !strings.Contains(f.Cause, "belongs to another user") {
		t.Errorf("%v", err)
	}
}

// give gives a file to another user.
func give(t *testing.T, name string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root gives files away")
	}
	must(t, os.Chown(name, 65534, 65534))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A host on which the agent cannot run says why, and is left as it was.
func TestHostsWithoutAgent(t *testing.T) {
	t.Parallel()
	// tools is a PATH of the programs that the script needs, but for one.
	tools := func(t *testing.T, without string) string {
		dir := t.TempDir()
		for _, name := range []string{"sh", "uname", "mkdir", "mktemp", "dirname", "head",
			"sha256sum", "chmod",
			"mv", "rm", "rmdir", "cat"} {
			path, err := exec.LookPath(name)
			if err != nil {
				t.Fatal(err)
			}
			if name == without {
				continue
			}
			if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		return "PATH=" + dir
	}
	for _, c := range []struct {
		name, text string
		before     func(t *testing.T) string
		change     func(*agent.Program)
		want       string
	}{
		{name: "another system", before: func(t *testing.T) string {
			dir := t.TempDir()
			script := []byte("#!/bin/sh\necho Darwin arm64\n")
			if err := os.WriteFile(filepath.Join(dir, "uname"), script, 0o700); err != nil {
				t.Fatal(err)
			}
			return "PATH=" + dir + ":$PATH"
		}, want: "it runs Darwin arm64"},
		{name: "no program for it", change: func(p *agent.Program) { p.Arch = "mips" },
			want: "no sweepd for its architecture"},
		{name: "a full disk", before: func(*testing.T) string { return "ulimit -f 0" },
			want: "cannot be written"},
		{name: "no sha256sum", before: func(t *testing.T) string { return tools(t, "sha256sum") },
			want: "it lacks sha256sum"},
		{name: "damaged", change: func(p *agent.Program) { p.Sum = strings.Repeat("0", 64) },
			want: "arrived damaged"},
		{name: "it cannot be run", text: "#!/nowhere/sh\n", want: "does not run"},
		{name: "it ends", text: "#!/bin/sh\nexit 1\n", want: "does not start"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home, before := t.TempDir(), ":"
			if c.text == "" {
				c.text = ready
			}
			programs := program(t, c.text)
			if c.change != nil {
				c.change(&programs[1])
			}
			if c.before != nil {
				before = c.before(t)
			}
			_, err := agent.Start(t.Context(), "gpu1", hostShell(t, home, before), programs,
				func() {})
			f, ok := errors.AsType[*agent.Fault](err)
			if !ok || !strings.Contains(f.Cause, c.want) || f.Remedy == "" || f.Host != "gpu1" {
				t.Errorf("%v", err)
			}
			if got := names(t, home); c.name != "it ends" && len(got) != 1 {
				t.Errorf("it leaves %q", got)
			}
		})
	}
}

// A program that came meanwhile, from another start, is not removed by one whose own fails.
func TestAFailedStartLeavesAnothersProgram(t *testing.T) {
	t.Parallel()
	home, programs := t.TempDir(), program(t, ready)
	file := filepath.Join(home, ".cache", "mlframework", "sweepd-"+programs[1].Sum)
	arrives := func() { must(t, os.WriteFile(file, []byte(ready), 0o755)) }
	_, err := agent.Start(t.Context(), "gpu1", hostShell(t, home, "ulimit -f 0"), programs, arrives)
	if f, ok := errors.AsType[*agent.Fault](err); !ok || !strings.Contains(f.Cause, "written") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the other's program: %v", err)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	_, err := agent.Start(ctx, "gpu1", hostShell(t, t.TempDir(), ":"), program(t,
		"#!/bin/sh\nexec cat\n"), func() {})
	if err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("%v", err)
	}
}
