package docker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mlframework/infra/docker"
)

// The login of the registries of these tests, and its line of htpasswd (bcrypt, cost 5).
const (
	user     = "anna"
	password = "a secret for tests"
	htpasswd = "anna:$2a$05$gGwl26wUkUqQzw3ze9h.T.1wYzVCMSKGrx0/j/mEQOjKPadtsRYCG\n"
)

// registry runs Debian's docker-registry on the loopback, which engines trust without TLS, and
// gives its address.
func registry(t *testing.T, login bool) (address string) {
	t.Helper()
	for _, program := range []string{"docker-registry", "docker"} {
		if _, err := exec.LookPath(program); err != nil {
			absent(t, program, err)
		}
	}
	for address == "" {
		address = tryRegistry(t, login)
	}
	return address
}

// tryRegistry runs one on a free port. It gives "" when the port was not free any more.
func tryRegistry(t *testing.T, login bool) string {
	t.Helper()
	dir := t.TempDir()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	config := fmt.Sprintf("version: 0.1\nlog: {level: error}\nstorage: {filesystem: "+
		"{rootdirectory: %s}}\nhttp: {addr: %q, headers: {Folder: [%s]}}\n",
		dir, address, dir)
	if login {
		config += fmt.Sprintf("auth: {htpasswd: {realm: tests, path: %s/htpasswd}}\n", dir)
	}
	for name, text := range map[string]string{"config.yml": config, "htpasswd": htpasswd} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	cmd := exec.Command("docker-registry", "serve", filepath.Join(dir, "config.yml"))
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("the registry said:\n%s", said.String())
		}
	})
	// then it is asked again
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		Timeout: 5 * time.Second}
	for ctx := bounded(t); ; {
		answer, err := client.Get("http://" + address + "/v2/")
		if err == nil {
			answer.Body.Close()
			if answer.Header.Get("Folder") == dir { // else it is another's
				return address
			}
		}
		select {
		case <-ended:
			if !strings.Contains(said.String(), "address already in use") {
				t.Fatal("the registry ended")
			}
			return ""
		case <-ctx.Done():
			t.Fatalf("the registry does not answer: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// cli runs the docker command with a folder of logins.
func cli(t *testing.T, dir, stdin string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(bounded(t), "docker", append([]string{"--config", dir}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("docker %s: %v\n%s", args[0], err, out)
	}
}

// pushed puts the test image into a registry and takes that name from it again.
func pushed(t *testing.T, address, dir string) (ref string) {
	t.Helper()
	ctx, e := bounded(t), engine(t)
	ref = address + "/" + mark + ":pushed"
	own := mark + ":" + strings.ReplaceAll(address, ":", "-")
	config := docker.ImageConfig{Labels: map[string]string{markLabel: mark, "from": address}}
	if err := e.ImportImage(ctx, rootfs(t, own), config, own); err != nil {
		t.Fatal(err)
	}
	if err := e.TagImage(ctx, own, ref); err != nil {
		t.Fatal(err)
	}
	cli(t, dir, "", "push", ref)
	for _, r := range []string{ref, own} {
		if err := e.RemoveImage(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	return ref
}

func TestPull(t *testing.T) {
	t.Parallel()
	engine(t)
	address := registry(t, false)
	ref := pushed(t, address, t.TempDir())
	ctx, e := bounded(t), engine(t)
	var seen []docker.Progress
	if err := e.PullImage(ctx, ref, func(p docker.Progress) {
		seen = append(seen, p)
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(seen, func(p docker.Progress) bool {
		return p.Total > 0 && p.Done == p.Total
	}) {
		t.Errorf("reported is %+v", seen)
	}
	i, err := e.FindImage(ctx, ref)
	if err != nil || len(i.Digests) != 1 || i.Labels["from"] != address {
		t.Fatalf("pulled is %+v, %v", i, err)
	}
	if err := e.PullImage(ctx, i.Digests[0], nil); err != nil {
		t.Errorf("by digest: %v", err)
	}
	told, err := e.RegistryDigest(ctx, ref)
	if err != nil || told != i.Digest(ref) || docker.AtDigest(ref, told) != i.Digests[0] {
		t.Errorf("the registry tells %s, %v of %q", told, err, i.Digests)
	}
	_, err = e.RegistryDigest(ctx, address+"/"+mark+":missing")
	want(t, err, docker.NotFound, "ask the registry for image", "on here")
	err = e.PullImage(ctx, address+"/"+mark+":missing", nil)
	want(t, err, docker.NotFound, "missing", "pull image", "on here")
	want(t, e.PullImage(ctx, "Not A Reference", nil), docker.Other, "Not A Reference")
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	want(t, e.PullImage(ctx, ref, nil), docker.Cancelled)
}

func TestPullWithTheLoginOfTheHost(t *testing.T) {
	t.Parallel()
	engine(t)
	address, none, dir := registry(t, true), t.TempDir(), t.TempDir()
	cli(t, dir, password, "login", "--username", user, "--password-stdin", address)
	ref := pushed(t, address, dir)
	open := func(dir string) *docker.Engine {
		e, err := docker.Open(bounded(t), local{env: []string{"DOCKER_CONFIG=" + dir}}.host("gpu1"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	err := open(none).PullImage(bounded(t), ref, nil)
	want(t, err, docker.Unauthorized, "docker login "+address, "gpu1")
	bare, err := docker.Open(bounded(t), local{path: commands(t, "sh")}.host("gpu1"))
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	want(t, bare.PullImage(bounded(t), ref, nil), docker.Unauthorized, "docker login "+address,
		"exit code 127")
	e := open(dir)
	var seen []docker.Progress
	if err := e.PullImage(bounded(t), ref, func(p docker.Progress) {
		seen = append(seen, p)
	}); err != nil {
		t.Fatal(err)
	}
	if i, err := e.FindImage(bounded(t), ref); err != nil || i.Labels["from"] != address {
		t.Errorf("pulled is %+v, %v", i, err)
	}
	if !slices.ContainsFunc(seen, func(p docker.Progress) bool {
		return strings.HasSuffix(p.Status, ": Pull complete")
	}) {
		t.Errorf("reported is %+v", seen)
	}
}

func TestReadPull(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct{ in, err string }{
		"done": {"latest: Pulling from library/x\nabc: Pull complete\nStatus: Downloaded " +
			"newer image\nexit 0\n", ""},
		"refused": {"Error response from daemon: no basic auth credentials\nexit 1\n",
			"exit code 1: Error response from daemon: no basic auth"},
		"no such":  {"sh: 2: docker: not found\nexit 127\n", "exit code 127"},
		"cut":      {"abc: Downloading\n", "cut short"},
		"too long": {strings.Repeat("x", 2<<20), "too long"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			err := docker.ReadPull(strings.NewReader(c.in), func(docker.Progress) {})
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(),
				c.err) {
				t.Errorf("%q gives %v", c.in[:min(len(c.in), 80)], err)
			}
			if title == "cut" && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%v is no cut", err)
			}
		})
	}
}
