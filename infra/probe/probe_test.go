package probe_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mlframework/infra/layout"
	"mlframework/infra/probe"
)

// shell runs a script on this machine.
func shell(ctx context.Context, script string, args []string, w io.Writer) error {
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", script, "sh"}, args...)...)
	c.Stdout = w
	return c.Run()
}

func needLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("hosts are Linux")
	}
}

func TestThisMachine(t *testing.T) {
	t.Parallel()
	needLinux(t)
	root := filepath.Join(t.TempDir(), "a folder", "of mine")
	for _, c := range []struct {
		name string
		make func() error
		want func(probe.Facts) bool
	}{
		{"nothing there", func() error { return nil }, func(f probe.Facts) bool {
			return !f.RootNotEmpty && f.Marker == nil && f.Revision == "" && f.Unwritable == ""
		}},
		{"a cluster's", func() error {
			err := os.MkdirAll(filepath.Join(root, "bin", "abc"), 0o700)
			if err == nil {
				err = os.MkdirAll(filepath.Join(root, "bin", "cut-off"), 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(root, "bin", "abc", "sweepd"), nil, 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(root, ".mlframework-root"),
					[]byte("{\"version\":1,\"cluster\":\"c\",\n\"owner\":\"anna b\"}\n"), 0o600)
			}
			if err == nil {
				err = os.Symlink("releases/0123", filepath.Join(root, "current"))
			}
			return err
		}, func(f probe.Facts) bool {
			return f.RootNotEmpty && *f.Marker == layout.NewMarker("anna b", "c") &&
				f.Revision == "0123" && slices.Equal(f.Binaries, []string{"abc"})
		}},
	} {
		if err := c.make(); err != nil {
			t.Fatal(err)
		}
		f, err := probe.Host(t.Context(), shell, root, nil, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if !c.want(f) || f.Root != root {
			t.Errorf("%s: %+v", c.name, f)
		}
		u, _ := user.Current()
		if f.OS != "linux" || f.Arch != runtime.GOARCH || f.User != u.Username ||
			f.UID != os.Getuid() || f.Cores < 1 || f.Memory < 1<<20 || f.Free == 0 {
			t.Errorf("%s: %+v", c.name, f)
		}
		if f.ClockSkew.Abs() > 2*time.Second {
			t.Errorf("its own clock is %v ahead", f.ClockSkew)
		}
	}
}

func TestAFolderThatCannotBeMade(t *testing.T) {
	t.Parallel()
	needLinux(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := probe.Host(t.Context(), shell, filepath.Join(file, "below"), nil, time.Now)
	if err != nil || f.Unwritable != file {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestWhoListensAndWhoAnswers(t *testing.T) {
	t.Parallel()
	needLinux(t)
	open, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused.Close()
	f, err := probe.Host(t.Context(), shell, "ml", nil, time.Now)
	if err != nil || !slices.Contains(f.Listening, open.Addr().(*net.TCPAddr).Port) {
		t.Errorf("%v, %v", f.Listening, err)
	}
	if !f.Bash {
		t.Skip("no bash here")
	}
	silent := "nowhere.invalid:1" // which never resolves (RFC 6761, section 6.4)
	want := []string{refused.Addr().String(), open.Addr().String()}
	got, err := probe.Reach(t.Context(), shell, append([]string{silent}, want...), 20*time.Second)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	answer := func(_ context.Context, _ string, _ []string, w io.Writer) error {
		_, err := io.WriteString(w, "clock 1000\ndone yes\n")
		return err
	}
	for name, c := range map[string]struct {
		asked, ended time.Time
		ahead        time.Duration
	}{
		"at once, and fast":  {time.Unix(400, 0), time.Unix(400, 0), 10 * time.Minute},
		"slowly, and right":  {time.Unix(970, 0), time.Unix(1000, 0), 0},
		"in the same second": {time.Unix(1000, 900), time.Unix(1000, 950), 0},
		"slowly, and fast":   {time.Unix(960, 0), time.Unix(990, 5), 10 * time.Second},
		"slowly, and slow":   {time.Unix(1020, 5), time.Unix(1040, 0), -20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			times := []time.Time{c.asked, c.ended}
			now := func() (at time.Time) { at, times = times[0], times[1:]; return at }
			f, err := probe.Host(t.Context(), answer, "ml", nil, now)
			if err != nil || f.ClockSkew != c.ahead {
				t.Errorf("%v, %v, want %v", f.ClockSkew, err, c.ahead)
			}
		})
	}
}

func TestAnswersThatAreWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, want string }{
		"cut off":  {"os Linux\n", "ends too early"},
		"no count": {"cores many\ndone yes\n", `its cores is "many"`},
		"no JSON":  {"marker {\ndone yes\n", `its marker is "{"`},
		"endless":  {strings.Repeat("x", 2<<20), "ends too early"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := func(_ context.Context, _ string, _ []string, w io.Writer) error {
				_, err := io.WriteString(w, c.answer)
				return err
			}
			_, err := probe.Host(t.Context(), answer, "ml", nil, time.Now)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestQuickAgreesWithHost(t *testing.T) {
	t.Parallel()
	needLinux(t)
	root := filepath.Join(t.TempDir(), "it's mine")
	_, text, err := probe.Quick(t.Context(), shell, root, "record")
	if err != nil || text != "" {
		t.Errorf("where nothing is: %q, %v", text, err)
	}
	for i, name := range []string{"zz", "aa"} {
		dir := filepath.Join(root, "bin", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "sweepd"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, time.Time{}, time.Unix(int64(1000+i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{os.Mkdir(filepath.Join(root, "bin", "cut-off"), 0o700),
		os.Symlink("releases/0123", filepath.Join(root, "current"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const record = "{\"done yes\\n\":\n1}\n"
	if err := os.WriteFile(filepath.Join(root, "record"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	q, text, err := probe.Quick(t.Context(), shell, root, "record")
	if err != nil || text != record {
		t.Errorf("%q, %v", text, err)
	}
	f, err := probe.Host(t.Context(), shell, root, nil, time.Now)
	if err != nil || q.Root != f.Root || q.UID != f.UID || q.Arch != f.Arch ||
		!slices.Equal(q.Binaries, []string{"zz", "aa"}) || !slices.Equal(f.Binaries, q.Binaries) ||
		q.Revision != "0123" || f.Revision != q.Revision {
		t.Errorf("%+v\n%+v, %v", q, f, err)
	}
}

// TestWhereLinksLead has the folder of a cluster and others told with all links followed, also of
// what is not there.
func TestWhereLinksLead(t *testing.T) {
	needLinux(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(dir, "my home"))
	links := map[string]string{"my home": "disk", "disk/all": "..", "data": "disk/not there"}
	for link, to := range links {
		err := os.MkdirAll(filepath.Join(dir, "disk"), 0o700)
		if err := errors.Join(err, os.Symlink(to, filepath.Join(dir, link))); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ sources, want []string }{
		"none": {nil, nil},
		"some": {[]string{"~", "~/all", "~/x y", dir + "/data", "/$HOME/*"},
			[]string{"disk", "", "disk/x y", "disk/not there", "/$HOME/*"}},
		"not told all": {[]string{"/a\nrealsource /b"}, nil},
	} {
		f, err := probe.Host(t.Context(), shell, "ml/c", c.sources, time.Now)
		for i, want := range c.want {
			if !strings.HasPrefix(want, "/") {
				c.want[i] = filepath.Join(dir, want)
			}
		}
		root := filepath.Join(dir, "disk/ml/c")
		if err != nil || f.RealRoot != root || !slices.Equal(f.RealSources, c.want) {
			t.Errorf("%s: %q, %q, %v", name, f.RealRoot, f.RealSources, err)
		}
		missing := []string{os.Getenv("HOME") + "/x y", dir + "/data", "/$HOME/*"}
		if name == "some" && !slices.Equal(f.MissingSources, missing) {
			t.Errorf("not there is %q", f.MissingSources)
		}
	}
}
