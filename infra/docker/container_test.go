package docker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/docker"
)

func TestLifeOfAContainer(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	s := spec(t, "serve")
	s.Labels["mlframework.role"] = "worker"
	if _, err := e.Create(ctx, s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, s.Name) })
	c := only(t, s.Name)
	if c.State != "created" || c.Running() || !c.Started.IsZero() || c.Hash != s.Hash() ||
		c.Image != s.Image {
		t.Errorf("created, it is %+v", c)
	}
	if err := e.Start(ctx, s.Name); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(ctx, s.Name); err != nil {
		t.Errorf("a second start: %v", err)
	}
	c = only(t, s.Name)
	if !c.Running() || time.Since(c.Started) > patience ||
		c.Labels["mlframework.role"] != "worker" {
		t.Errorf("started, it is %+v", c)
	}
	_, err := e.Create(ctx, s)
	want(t, err, docker.Conflict, s.Name, "create container", "on here")
	await(t, s.Name, "ready")
	if err := e.Stop(ctx, s.Name, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if c = only(t, s.Name); c.State != "exited" || c.Exit != 3 {
		t.Errorf("stopped, it is %+v", c)
	}
	want(t, e.Kill(ctx, s.Name, ""), docker.Conflict)
	if err := e.Rename(ctx, c.ID, s.Name+"-aside"); err != nil {
		t.Fatal(err)
	}
	if c = only(t, s.Name+"-aside"); c.State != "exited" || c.Hash != s.Hash() {
		t.Errorf("renamed, it is %+v", c)
	}
	want(t, e.Rename(ctx, c.ID, s.Name+"-aside"), docker.Other)
	if err := e.Rename(ctx, c.ID, s.Name); err != nil {
		t.Fatal(err)
	}
	if err := e.Remove(ctx, s.Name); err != nil {
		t.Fatal(err)
	}
	_, err = e.Find(ctx, s.Name)
	want(t, err, docker.NotFound, s.Name)
	want(t, e.Remove(ctx, s.Name), docker.NotFound)
}

// only gives the one container of a name by way of List.
func only(t *testing.T, name string) docker.Container {
	t.Helper()
	all, err := engine(t).List(bounded(t), map[string]string{markLabel: ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("%s is not listed", name)
	return docker.Container{}
}

func TestStopKillsWhatDoesNotLeave(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	c := run(t, spec(t, "stubborn"))
	await(t, c, "ready")
	if err := e.Stop(ctx, c, 0); err != nil {
		t.Fatal(err)
	}
	if found := only(t, c); found.Exit != 137 {
		t.Errorf("killed, it is %+v", found)
	}
	if err := e.Restart(ctx, c, 0); err != nil {
		t.Fatal(err)
	}
	if err := e.Kill(ctx, c, "KILL"); err != nil {
		t.Fatal(err)
	}
	if code, err := e.Wait(ctx, c); err != nil || code != 137 {
		t.Errorf("killed, it ended with %d, %v", code, err)
	}
}

func TestWaitGivesTheExitCode(t *testing.T) {
	t.Parallel()
	if code, out := output(t, spec(t, "exit", "42")); code != 42 || out != "ends with 42\n" {
		t.Errorf("exit code %d, output %q", code, out)
	}
	_, err := engine(t).Wait(bounded(t), name())
	want(t, err, docker.NotFound)
}

func TestAConfinedContainer(t *testing.T) {
	t.Parallel()
	s := spec(t, "confined")
	s.User = "1234:1235"
	s.ReadOnly, s.NoNewPrivileges, s.DropCaps = true, true, []string{"ALL"}
	s.Mounts = []docker.Mount{{At: "/tmp", Tmpfs: &docker.Tmpfs{Size: 16 << 20, Exec: true}}}
	_, out := output(t, s)
	const none = "0000000000000000"
	wanted := "Uid 1234 1234 1234 1234\nCapPrm " + none + "\nCapEff " + none + "\nCapBnd " + none +
		"\nNoNewPrivs 1\nSeccomp 2\n/written false\n/tmp/written true\nrun from /tmp true\n"
	if diff := cmp.Diff(wanted, out); diff != "" {
		t.Errorf("seen from inside (-wanted +seen):\n%s", diff)
	}

	s = spec(t, "confined")
	s.Mounts = []docker.Mount{{At: "/tmp", Tmpfs: &docker.Tmpfs{}}}
	_, out = output(t, s)
	for _, part := range []string{"NoNewPrivs 0", "/written true", "run from /tmp false"} {
		if !strings.Contains(out, part) {
			t.Errorf("without limits %q should be seen:\n%s", part, out)
		}
	}
}

func TestABindMountWhoseSourceIsMissing(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	dir := t.TempDir()
	s := spec(t, "exit", "0")
	s.Mounts = []docker.Mount{{At: "/in", Bind: filepath.Join(dir, "missing")}}
	_, err := e.Run(ctx, s)
	want(t, err, docker.NoSource, "missing")
	_, err = e.Find(ctx, s.Name)
	want(t, err, docker.NotFound)
	if _, err := os.Stat(filepath.Join(dir, "missing")); !os.IsNotExist(err) {
		t.Errorf("Docker made the folder: %v", err)
	}
}

func TestMounts(t *testing.T) {
	t.Parallel()
	dir, volume := t.TempDir(), name()
	if err := engine(t).CreateVolume(bounded(t), docker.Volume{Name: volume,
		Labels: labels()}); err != nil {
		t.Fatal(err)
	}
	s := spec(t, "write", "/bound/file")
	s.Mounts = []docker.Mount{{At: "/bound", Bind: dir}, {At: "/kept", Volume: volume,
		ReadOnly: true}, {At: "/quick", Tmpfs: &docker.Tmpfs{}}}
	if code, out := output(t, s); code != 0 {
		t.Fatal(out)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "file")); string(text) != "written\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestABusyPortLeavesNoContainer(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	busy := l.Addr().(*net.TCPAddr).Port
	s := spec(t, "serve")
	s.Ports = []docker.Port{{Host: "127.0.0.1", Port: busy, Container: 80}}
	taken := func(s docker.Spec, port int) {
		t.Helper()
		_, err = e.Run(ctx, s)
		want(t, err, docker.PortTaken, fmt.Sprintf("port 127.0.0.1:%d is taken", port),
			"start container "+s.Name+" on here")
		_, err = e.Find(ctx, s.Name)
		want(t, err, docker.NotFound)
	}
	taken(s, busy) // by another program

	free := spec(t, "serve")
	free.Ports = []docker.Port{{Host: "127.0.0.1", Container: 80}}
	run(t, free)
	ports := only(t, free.Name).Ports
	if len(ports) != 1 || ports[0].Port == 0 || ports[0].Container != 80 ||
		ports[0].Host != "127.0.0.1" {
		t.Fatalf("published are %+v", ports)
	}
	s = spec(t, "serve")
	s.Ports = ports
	taken(s, ports[0].Port) // by another container
}

func TestWhatASpecSetsIsSeenInside(t *testing.T) {
	t.Parallel()
	s := spec(t, "env")
	s.Hostname, s.User, s.Env = "one", "1234:99", []string{"COLOUR=dark green"}
	if _, out := output(t, s); out != "one / 1234 99 dark green\n" {
		t.Errorf("seen inside: %q", out)
	}
}

func TestLimitsAreSet(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	s := spec(t, "serve")
	s.Entrypoint = []string{"/probe"}
	s.Pids, s.Memory, s.Shm = 99, 64<<20, 32<<20
	s.Restart, s.Grace = "unless-stopped", 7*time.Second
	s.Log = docker.Log{Driver: "json-file", MaxSize: 1 << 20, Files: 3}
	s.DropCaps = []string{"ALL"}
	s.Env, s.Mounts = []string{"A=b"}, []docker.Mount{{Bind: "/etc", At: "/data", ReadOnly: true}}
	if _, err := e.Create(ctx, s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, s.Name) })
	raw, err := e.InspectJSON(ctx, s.Name)
	if err != nil {
		t.Fatal(err)
	}
	var seen struct {
		Config     struct{ StopTimeout int }
		HostConfig struct {
			PidsLimit, Memory, ShmSize int64
			CapDrop                    []string
			RestartPolicy              struct{ Name string }
			LogConfig                  struct {
				Type   string
				Config map[string]string
			}
		}
	}
	if err := json.Unmarshal(raw, &seen); err != nil {
		t.Fatal(err)
	}
	h := seen.HostConfig
	got := fmt.Sprintln(h.PidsLimit, h.Memory, h.ShmSize, h.CapDrop,
		h.RestartPolicy.Name, h.LogConfig.Type, h.LogConfig.Config, seen.Config.StopTimeout)
	wanted := "99 67108864 33554432 [ALL] unless-stopped json-file map[max-file:3 " +
		"max-size:1048576] 7\n"
	if got != wanted {
		t.Errorf("set is\n%s, wanted\n%s", got, wanted)
	}
	c := only(t, s.Name)
	if !slices.Equal(c.Command, s.Command) || !slices.Contains(c.Env, "A=b") ||
		!slices.Equal(c.Mounts, s.Mounts) || c.Memory != s.Memory || c.Shm != s.Shm ||
		c.Pids != s.Pids {
		t.Errorf("found is %+v", c)
	}
}

func TestCreateSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	for title, c := range map[string]struct {
		change func(*docker.Spec)
		kind   docker.Kind
		text   string
	}{
		"no image here": {func(s *docker.Spec) { s.Image = mark + ":missing" }, docker.NotFound,
			"No such image"},
		"no image": {func(s *docker.Spec) { s.Image = "" }, docker.Other, "no image"},
		"no name":  {func(s *docker.Spec) { s.Name = "" }, docker.Other, "no name"},
		"own label": {func(s *docker.Spec) { s.Labels[docker.HashLabel] = "x" }, docker.Other,
			docker.HashLabel},
		"two mounts": {func(s *docker.Spec) {
			s.Mounts = []docker.Mount{{At: "/a", Bind: "/tmp", Volume: "v"}}
		}, docker.Other, `"/a"`},
		"grace": {func(s *docker.Spec) { s.Grace = time.Millisecond }, docker.Other,
			"whole seconds"},
		"missing network": {func(s *docker.Spec) {
			s.Networks = []docker.Network{{Name: mark + "-missing"}}
		}, docker.NotFound, "missing"},
		"no driver": {func(s *docker.Spec) {
			s.Devices = []docker.Device{{IDs: []string{"GPU-1"}, Capabilities: []string{"gpu"}}}
		},
			docker.NoToolkit, "could not select device driver"},
		"no program": {func(s *docker.Spec) { s.Entrypoint = []string{"/missing"} }, docker.Other,
			"no such file"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := spec(t, "serve")
			c.change(&s)
			_, err := e.Run(ctx, s)
			want(t, err, c.kind, c.text, "on here")
			if s.Name != "" {
				_, err := e.Find(ctx, s.Name)
				want(t, err, docker.NotFound)
			}
		})
	}
}

func TestAnEndedContextEndsCalls(t *testing.T) {
	t.Parallel()
	e, c := engine(t), run(t, spec(t, "serve"))
	await(t, c, "ready")
	for title, call := range map[string]func(context.Context) error{
		"wait": func(ctx context.Context) error { _, err := e.Wait(ctx, c); return err },
		"logs": func(ctx context.Context) error {
			return e.Logs(ctx, c, docker.LogOptions{Follow: true}, &strings.Builder{})
		},
		"exec": func(ctx context.Context) error {
			_, err := e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "serve"}}, nil, nil,
				nil)
			return err
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(bounded(t), 300*time.Millisecond)
			defer cancel()
			err := call(ctx)
			want(t, err, docker.Cancelled, c)
			if !is(err, context.DeadlineExceeded) {
				t.Errorf("%v does not tell that the time was over", err)
			}
			ctx, cancel = context.WithCancel(bounded(t))
			cancel()
			want(t, call(ctx), docker.Cancelled)
		})
	}
	ctx, cancel := context.WithCancel(bounded(t))
	cancel()
	s := spec(t, "serve")
	_, err := e.Run(ctx, s)
	want(t, err, docker.Cancelled, s.Name)
	_, err = e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "cat"}}, nil, nil, nil)
	want(t, err, docker.Cancelled)
}
