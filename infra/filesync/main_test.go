package filesync_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/agent/server"
	"mlframework/infra/filesync"
	"mlframework/projects"
)

// asAgent has this program be an agent instead of the tests.
const asAgent = "FILESYNC_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asAgent) != "" {
		conn := struct {
			io.Reader
			io.WriteCloser
		}{os.Stdin, os.Stdout}
		err := server.Serve(context.Background(), conn, server.Options{Idle: 20 * time.Second})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A process is an agent as a program of its own, at the other ends of two pipes.
type process struct {
	root string // for its client
	io.Reader
	io.WriteCloser
	cmd    *exec.Cmd
	closed sync.Once
	ended  sync.Once
}

// wait waits for the end of the process.
func (p *process) wait() { p.ended.Do(func() { _ = p.cmd.Wait() }) }

// Close ends the connection and waits for the process.
func (p *process) Close() error {
	p.closed.Do(func() {
		p.WriteCloser.Close()
		if r, ok := p.Reader.(io.Closer); ok {
			r.Close()
		}
		p.wait()
	})
	return nil
}

func start(t testing.TB, root string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	// The race detector has a program wait for a second at its end, for reports of others.
	cmd.Env = append(os.Environ(), asAgent+"=yes", "GORACE=atexit_sleep_ms=0")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p := &process{root: root, Reader: out, WriteCloser: in, cmd: cmd}
	t.Cleanup(func() { p.Close() })
	return p
}

var anna = filesync.Identity{Owner: "anna", Cluster: "ml", Who: "anna@laptop"}

// connect is a client with an agent of its own.
func connect(t testing.TB, root string) *filesync.Client {
	t.Helper()
	p := start(t, root)
	return client(p, p.root, anna)
}

// client is one over a connection to an agent.
func client(conn io.ReadWriteCloser, root string, id filesync.Identity) *filesync.Client {
	return filesync.NewClient(agentOf(conn), root, id)
}

// agentOf is a client of an agent at the other end of a connection.
func agentOf(conn io.ReadWriteCloser) *agent.Client {
	ready := sync.OnceValue(func() error {
		_, err := io.ReadFull(conn, make([]byte, len(agent.Ready)))
		return err
	})
	return agent.NewClient("gpu1", &pipe{conn, nil, ready})
}

// pipe is a connection without deadlines. The first that comes over it is that the agent is ready.
type pipe struct {
	io.ReadWriteCloser
	net.Conn
	ready func() error
}

func (p *pipe) Read(to []byte) (int, error) {
	if err := p.ready(); err != nil {
		return 0, err
	}
	return p.ReadWriteCloser.Read(to)
}

func (p *pipe) Write(b []byte) (int, error) {
	if err := p.ready(); err != nil {
		return 0, err
	}
	return p.ReadWriteCloser.Write(b)
}

func (p *pipe) Close() error                     { return p.ReadWriteCloser.Close() }
func (p *pipe) SetDeadline(time.Time) error      { return nil }
func (p *pipe) SetReadDeadline(time.Time) error  { return nil }
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }

// verify reads a whole release.
func verify(t testing.TB, root, revision string) error {
	data, err := os.ReadFile(filepath.Join(root, "manifests", revision))
	if err != nil {
		return err
	}
	data = append(data, filesync.EndOfEntries)
	m, err := filesync.ReadManifest(bufio.NewReader(bytes.NewReader(data)), revision)
	if err != nil {
		return err
	}
	return m.Verify(t.Context(), filepath.Join(root, "releases", revision))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree writes files; a content that begins with "-> " is a link's target, and a name that ends with
// "/" a folder.
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
	done, err := connect(t, root).Push(t.Context(), m, filesync.PushOptions{})
	must(t, err)
	return done
}

// look describes what lies below a folder: contents, targets, times of files and folders,
// executable bits.
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
			found[name] = fmt.Sprint(info.Mode()&0o100 != 0, info.ModTime().UnixNano(),
				string(data))
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
