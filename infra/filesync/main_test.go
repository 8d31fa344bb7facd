package filesync_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mlframework/infra/filesync"
	"mlframework/projects"
)

// farSide makes this program the far side of a root instead of the tests.
const farSide = "FILESYNC_TEST_ROOT"

func TestMain(m *testing.M) {
	if root := os.Getenv(farSide); root != "" {
		conn := struct {
			io.Reader
			io.Writer
		}{os.Stdin, os.Stdout}
		if err := filesync.Serve(context.Background(), conn, filesync.ServeOptions{Root: root,
			Idle: 20 * time.Second}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A process is the far side as a program of its own, at the other ends of two pipes.
type process struct {
	io.Reader
	io.WriteCloser
	cmd  *exec.Cmd
	once sync.Once
}

// Close ends the connection and waits for the process.
func (p *process) Close() error {
	p.once.Do(func() {
		p.WriteCloser.Close()
		if r, ok := p.Reader.(io.Closer); ok {
			r.Close()
		}
		_ = p.cmd.Wait()
	})
	return nil
}

func start(t testing.TB, root string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), farSide+"="+root)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p := &process{Reader: out, WriteCloser: in, cmd: cmd}
	t.Cleanup(func() { p.Close() })
	return p
}

var anna = filesync.Identity{Owner: "anna", Cluster: "ml", Who: "anna@laptop"}

// connect is a client with a far side of its own.
func connect(t testing.TB, root string) *filesync.Client {
	t.Helper()
	return filesync.NewClient(start(t, root), anna)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree writes files; a content that begins with "-> " is a link's target, and a name that ends with "/" a folder.
func tree(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		target, link := strings.CutPrefix(content, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(full, 0o755))
		case link:
			must(t, os.Symlink(target, full))
		default:
			must(t, os.WriteFile(full, []byte(content), 0o644))
		}
	}
}

func scan(t testing.TB, dir string) *projects.Manifest {
	t.Helper()
	m, err := projects.Scan(t.Context(), dir, projects.Options{})
	must(t, err)
	return m
}

func push(t testing.TB, root string, m *projects.Manifest) filesync.Pushed {
	t.Helper()
	c := connect(t, root)
	defer c.Close()
	done, err := c.Push(t.Context(), m, filesync.PushOptions{})
	must(t, err)
	return done
}

// look describes what lies below a folder: contents, targets, times of files and folders, executable bits.
func look(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	dir, err := filepath.EvalSymlinks(dir)
	must(t, err)
	must(t, filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
		if err != nil || full == dir {
			return err
		}
		name, _ := filepath.Rel(dir, full)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			found[name] = fmt.Sprint("folder ", info.ModTime().UnixNano())
		case info.Mode().Type() == fs.ModeSymlink:
			target, _ := os.Readlink(full)
			found[name] = "-> " + target
		default:
			data, err := os.ReadFile(full)
			if err != nil {
				return err
			}
			found[name] = fmt.Sprint(info.Mode()&0o100 != 0, info.ModTime().UnixNano(), string(data))
		}
		return nil
	}))
	return found
}

// writable lets a test's folder be removed though releases are read-only.
func writable(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(full, 0o755)
			}
			return nil
		})
	})
	return dir
}

// current returns the revision that a root's link names.
func current(t testing.TB, root string) string {
	t.Helper()
	target, err := os.Readlink(filepath.Join(root, "current"))
	must(t, err)
	return filepath.Base(target)
}
