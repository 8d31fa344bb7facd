package server_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/agent/server"
	"mlframework/infra/layout"
)

func TestPrivateFiles(t *testing.T) {
	t.Parallel()
	c, root := start(t, server.Options{}), t.TempDir()
	dir := filepath.Join(root, "hosts", "gpu1", "secrets")
	put := func(files ...agent.PrivateFile) error {
		return c.PutPrivate(t.Context(), agent.PrivateFiles{Root: root, Dir: dir, Files: files,
			UID: -1})
	}
	must(t, put(agent.PrivateFile{Name: "ca.pem", Data: []byte("ca")},
		agent.PrivateFile{Name: ".erlang.cookie", Data: []byte{0xff, 0}}))
	must(t, put(agent.PrivateFile{Name: "ca.pem", Data: []byte("other")}))
	if err := put(agent.PrivateFile{Name: "ca.pem"}, agent.PrivateFile{Name: "../x"}); err == nil {
		t.Error("a file came to another folder")
	}
	if got := list(t, dir); !slices.Contains(got, ".erlang.cookie") {
		t.Errorf("there is %q", got)
	}
	for name, want := range map[string]string{"ca.pem": "other", ".erlang.cookie": "\xff\x00"} {
		file := filepath.Join(dir, name)
		text, err := os.ReadFile(file)
		info, _ := os.Stat(file)
		if err != nil || string(text) != want || info.Mode() != 0o600 {
			t.Errorf("%s: %q, %v, %v", name, text, err, info.Mode())
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

// What cannot be made again is on the disk before it takes the place of what was there, and its
// name is when the call returns. The test is not parallel: it replaces what all use.
func TestPrivateFilesAreOnTheDisk(t *testing.T) {
	c, root := start(t, server.Options{}), t.TempDir()
	sync := *server.SyncFile
	defer func() { *server.SyncFile = sync }()
	var synced []string
	full := false
	*server.SyncFile = func(f *os.File) error {
		name, err := filepath.Rel(root, f.Name())
		must(t, err)
		_, err = os.Stat(filepath.Join(root, "authority", "secrets.json"))
		synced = append(synced, fmt.Sprintf("%s %v", name, err == nil))
		if full {
			return syscall.EIO
		}
		return sync(f)
	}
	q := agent.PrivateFiles{Root: root, Dir: filepath.Join(root, "authority"), UID: -1,
		Files: []agent.PrivateFile{{Name: "secrets.json", Data: []byte("{}")}}}
	must(t, c.PutPrivate(t.Context(), q))
	must(t, c.WriteText(t.Context(), agent.Text{Root: root, Name: "cluster.json"}))
	want := []string{"authority/.new/secrets.json false", "authority true", ". true",
		"cluster.json.part true", ". true"}
	if !slices.Equal(synced, want) {
		t.Errorf("%q", synced)
	}
	full, q.Files[0].Data = true, []byte("{1}")
	err := c.PutPrivate(t.Context(), q)
	text, _ := os.ReadFile(filepath.Join(root, "authority", "secrets.json"))
	if err == nil || string(text) != "{}" {
		t.Errorf("%v, and there is %q", err, text)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	c, root := start(t, server.Options{}), t.TempDir()
	for _, there := range []string{root, filepath.Join(root, "nowhere")} {
		if text, err := c.ReadText(t.Context(), there, "cluster.json"); text != "" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	for _, text := range []string{"{}\n", strings.Repeat("x", agent.MaxText)} {
		must(t, c.WriteText(t.Context(), agent.Text{Root: root, Name: "cluster.json",
			Data: []byte(text)}))
		if got, err := c.ReadText(t.Context(), root, "cluster.json"); err != nil || got != text {
			t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
		}
	}
	must(t, os.WriteFile(filepath.Join(root, "long"), make([]byte, agent.MaxText+1), 0o600))
	if _, err := c.ReadText(t.Context(), root, "long"); err == nil {
		t.Error("it was cut off")
	}
}

// The audit on the master's host takes lines and is bounded, and no link of it is followed. Where the cluster's folder is gone, nothing is made.
func TestAudit(t *testing.T) {
	t.Parallel()
	c, root := start(t, server.Options{}), t.TempDir()
	file := filepath.Join(root, layout.Audit)
	enter := func(line string) {
		t.Helper()
		must(t, c.AppendAudit(t.Context(), agent.AuditLine{Root: root, Line: []byte(line)}))
	}
	enter("nobody's")
	if _, err := os.Stat(file); err == nil {
		t.Error("a folder that is no cluster's got a file")
	}
	for name, text := range map[string]string{".mlframework-root": "{}",
		"elsewhere": "a secret\n"} {
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	long := strings.Repeat(".", 200<<10)
	for n := range 7 {
		enter(fmt.Sprint(n, long))
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for most, want := range map[int]string{100: "3 4 5 6", 1: "6"} {
		lines, err := c.Audit(t.Context(), root, most)
		must(t, err)
		if got := strings.ReplaceAll(strings.Join(lines, " "), ".", ""); got != want {
			t.Errorf("the last %d are %q; want %q", most, got, want)
		}
	}
	if _, err := c.Audit(t.Context(), root, -1); err == nil ||
		!strings.Contains(err.Error(), "lines=-1 is not a number of lines") {
		t.Errorf("%v", err)
	}
	must(t, errors.Join(os.Remove(file), os.Symlink("elsewhere", file)))
	err := c.AppendAudit(t.Context(), agent.AuditLine{Root: root, Line: []byte("not there")})
	if text, _ := os.ReadFile(filepath.Join(root, "elsewhere")); string(text) != "a secret\n" ||
		err == nil {
		t.Errorf("a link was followed: %q, %v", text, err)
	}
	if lines, err := c.Audit(t.Context(), root, 1); err != nil || strings.Contains(
		strings.Join(lines, ""), "secret") {
		t.Errorf("a link was read: %q, %v", lines, err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a, b := start(t, server.Options{Home: home}), start(t, server.Options{Home: home})
	must(t, os.WriteFile(filepath.Join(home, "notes"), nil, 0o600))
	must(t, a.LeaveToken(t.Context(), "ab12-gpu1"))
	all, err := b.Tokens(t.Context())
	if err != nil || !slices.Equal(all, []agent.Token{{Name: "ab12-gpu1"}}) {
		t.Errorf("%v, %v", all, err)
	}
	must(t, b.RemoveToken(t.Context(), "ab12-gpu1"))
	must(t, a.RemoveToken(t.Context(), "ab12-gpu1"))
	if got := list(t, home); len(got) != 1 {
		t.Errorf("left: %q", got)
	}
	if err := a.LeaveToken(t.Context(), "x/../../y"); err == nil {
		t.Error("a token elsewhere")
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cache := filepath.Join(home, ".cache", "mlframework")
	must(t, os.MkdirAll(cache, 0o700))
	old, now := time.Now().Add(-31*24*time.Hour), strings.Repeat("a", 64)
	for _, name := range []string{"sweepd-" + now, "sweepd-" + strings.Repeat("b", 64), ".part.Xy1",
		"scan"} {
		must(t, os.WriteFile(filepath.Join(cache, name), []byte("program"), 0o700))
		must(t, os.Chtimes(filepath.Join(cache, name), old, old))
	}
	c := start(t, server.Options{Program: filepath.Join(cache, "sweepd-"+now), Made: 2})
	if got, want := list(t, cache), []string{"scan", "sweepd-" + now}; !slices.Equal(got, want) {
		t.Errorf("out of use are %q", got)
	}
	root := t.TempDir()
	to := filepath.Join(root, "bin", "0123", "sweepd")
	must(t, c.CopyProgram(t.Context(), agent.ProgramCopy{Root: root, To: to}))
	for path, mode := range map[string]os.FileMode{to: 0o755,
		filepath.Dir(to): os.ModeDir | 0o755} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if got := list(t, filepath.Dir(to)); len(got) != 1 {
		t.Errorf("beside it: %q", got)
	}
	must(t, c.RemoveProgram(t.Context()))
	if got := list(t, cache); len(got) != 1 {
		t.Errorf("there is %q", got)
	}
	must(t, os.Remove(filepath.Join(cache, "scan")))
	must(t, c.RemoveProgram(t.Context()))
	if got := list(t, home); len(got) != 0 {
		t.Errorf("there is %q", got)
	}
}
