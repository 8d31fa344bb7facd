package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/infra/docker"
	"mlframework/internal/leaktest"
)

// patience bounds every wait for an engine, and what is built for it.
const patience = 2 * time.Minute

// mark names all that this run of the tests makes, and labels it.
var mark = "mlframework-test-" + strings.ToLower(rand.Text()[:8])

const markLabel = "mlframework.test"

func labels() map[string]string { return map[string]string{markLabel: mark} }

// serial numbers the names of one run.
var serial atomic.Int64

func name() string { return fmt.Sprintf("%s-%d", mark, serial.Add(1)) }

// shared is the engine of this machine, opened once.
var shared = sync.OnceValues(func() (*docker.Engine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return docker.Open(ctx, local{}.host("here"))
})

func TestMain(m *testing.M) {
	code := m.Run()
	if e, err := shared(); err == nil {
		err := errors.Join(sweep(e), e.Close())
		if err == nil {
			err = leaktest.Find()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "after the tests:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// sweep removes what carries the label of this run.
func sweep(e *docker.Engine) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	containers, failed := e.List(ctx, labels())
	err = errors.Join(err, failed)
	for _, c := range containers {
		err = errors.Join(err, e.Remove(ctx, c.ID))
	}
	images, failed := e.ListImages(ctx, labels())
	err = errors.Join(err, failed)
	for _, i := range images {
		if len(i.Tags) == 0 {
			i.Tags = []string{i.ID}
		}
		for _, ref := range i.Tags {
			err = errors.Join(err, e.RemoveImage(ctx, ref))
		}
	}
	networks, failed := e.ListNetworks(ctx, labels())
	err = errors.Join(err, failed)
	for _, n := range networks {
		err = errors.Join(err, e.RemoveNetwork(ctx, n.ID))
	}
	volumes, failed := e.ListVolumes(ctx, labels())
	err = errors.Join(err, failed)
	for _, v := range volumes {
		err = errors.Join(err, e.RemoveVolume(ctx, v.Name))
	}
	return err
}

// engine gives this machine's engine. Where there is none it skips the test, or fails it where
// CI=true.
func engine(t testing.TB) *docker.Engine {
	t.Helper()
	e, err := shared()
	if err != nil {
		absent(t, "Docker", err)
	}
	return e
}

// absent ends a test that lacks something real.
func absent(t testing.TB, what string, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s has to be there in CI: %v", what, err)
	}
	t.Skipf("NOT TESTED: this needs %s: %v", what, err)
}

// bounded is a context for one test.
func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// probe builds the program of the test containers, once, for the machine's architecture.
var probe = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", mark)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "probe")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file,
		"./testdata/probe")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return os.ReadFile(file)
})

// rootfs is a tar with the program, a folder of uid 1234 with a file, and an open /tmp. What it is
// for makes it a layer of its own.
func rootfs(t testing.TB, what string) io.Reader {
	t.Helper()
	program, err := probe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct {
		name     string
		mode     int64
		uid, gid int
		data     []byte
	}{
		{"probe", 0o755, 0, 0, program},
		{"tmp/", 0o1777, 0, 0, nil},
		{"data/", 0o750, 1234, 1235, nil},
		{"data/first", 0o640, 1234, 1235, []byte("from the image\n")},
		{"what", 0o644, 0, 0, []byte(mark + what)},
	} {
		h := &tar.Header{Name: f.name, Mode: f.mode, Uid: f.uid, Gid: f.gid,
			Size: int64(len(f.data)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

var imported sync.Once

// image gives the reference of an image with the test program as its entry point.
func image(t testing.TB) string {
	t.Helper()
	e, ref := engine(t), mark+":probe"
	imported.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		config := docker.ImageConfig{Entrypoint: []string{"/probe"}, Labels: labels()}
		if err := e.ImportImage(ctx, rootfs(t, "probe"), config, ref); err != nil {
			t.Fatal(err)
		}
	})
	return ref
}

// spec is a container of the test image.
func spec(t testing.TB, args ...string) docker.Spec {
	return docker.Spec{Name: name(), Image: image(t), Command: args, Labels: labels()}
}

// run starts a container and removes it at the end of the test.
func run(t testing.TB, s docker.Spec) string {
	t.Helper()
	e := engine(t)
	if _, err := e.Run(bounded(t), s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, s.Name) })
	return s.Name
}

func remove(t testing.TB, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := engine(t).Remove(ctx, name); err != nil && docker.KindOf(err) != docker.NotFound {
		t.Error(err)
	}
}

// output runs a container to its end, and gives exit code and output.
func output(t testing.TB, s docker.Spec) (int, string) {
	t.Helper()
	ctx, e := bounded(t), engine(t)
	run(t, s)
	code, err := e.Wait(ctx, s.Name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := e.Logs(ctx, s.Name, docker.LogOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	return code, out.String()
}

// want fails the test unless the error is of the kind and its text has all the parts.
func want(t testing.TB, err error, kind docker.Kind, parts ...string) {
	t.Helper()
	if docker.KindOf(err) != kind {
		t.Fatalf("kind %q is wanted, not %q: %v", kind, docker.KindOf(err), err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("the error lacks %q: %v", p, err)
		}
	}
}
