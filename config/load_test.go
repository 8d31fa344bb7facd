package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/config"
	"mlframework/infra/host"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with the file of that name in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// write makes a file in a folder of its own, and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func load(t *testing.T, s config.Source) (*config.Config, string) {
	t.Helper()
	c, warnings, err := config.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return c, warnings.Error()
}

// explain is what Explain says, a line for each option that is not as by default.
func explain(c *config.Config, dir string) string {
	var b strings.Builder
	for _, e := range c.Explain() {
		if e.Origin != "default" {
			b.WriteString(e.Name + ": " + e.Value + " (" + e.Origin + ")\n")
		}
	}
	return strings.ReplaceAll(b.String(), dir, "DIR")
}

// What is stronger wins, each option by itself, and -f is about the options of the file alone.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	const text = "hosts: [a, b]\nmaster: 1\nimage: file\nslots: 2\noverrides: {a: {slots: 7}}\n"
	environ := []string{"MLFRAMEWORK_IMAGE=environment", "MLFRAMEWORK_SLOTS=3",
		"MLFRAMEWORK_GPUS=", "MLFRAMEWORK_MASTER=/run/s", "HOME=/x"}
	for _, c := range []struct {
		name  string
		saved bool
		flags map[string]string
		want  string
	}{
		{"file", true, nil, "hosts: a, b (DIR/cluster.yml:1:8)\nmaster: 1 (DIR/cluster.yml:2:9)\n" +
			"image: environment (MLFRAMEWORK_IMAGE)\nslots: 3 (MLFRAMEWORK_SLOTS)\n"},
		{"flag beside the file", true, map[string]string{"slots": "4", "workers": "2"},
			"hosts: a, b (DIR/cluster.yml:1:8)\n" +
				"master: 1 (DIR/cluster.yml:2:9)\nworkers: 2 (-w)\nimage: environment " +
				"(MLFRAMEWORK_IMAGE)\nslots: 4 (--slots)\n"},
		{"names of hosts", true, map[string]string{"workers": "a,b", "master": "b"},
			"hosts: a, b (DIR/cluster.yml:1:8)\nmaster: 2 (-m)\n" +
				"workers: 1, 2 (-w)\nimage: environment (MLFRAMEWORK_IMAGE)\n" +
				"slots: 3 (MLFRAMEWORK_SLOTS)\n"},
		{"flag that empties", true, map[string]string{"master": "", "image": ""},
			"hosts: a, b (DIR/cluster.yml:1:8)\n" +
				"master: join the running cluster (-m)\nimage: as in tasks.yml " +
				"(--image)\nslots: 3 (MLFRAMEWORK_SLOTS)\n"},
		{"without -f", false, map[string]string{"hosts": "a"}, "hosts: a (-a)\nimage: " +
			"environment (MLFRAMEWORK_IMAGE)\nslots: 3 (MLFRAMEWORK_SLOTS)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := write(t, "cluster.yml", text)
			got, warnings := load(t, config.Source{File: file, Saved: c.saved, Flags: c.flags,
				Environ: environ})
			if diff := cmp.Diff(c.want, explain(got, filepath.Dir(file))); diff != "" {
				t.Error(diff)
			}
			if own := got.Host(host.Address{Name: "a"}); own.Slots != 7 {
				t.Errorf("what a host has of its own is always read: %+v", own)
			}
			if !strings.Contains(warnings, "overrides.a.slots: what a host has of its own stays, "+
				"whatever ") {
				t.Errorf("no word about that: %s", warnings)
			}
		})
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	file := write(t, "cluster.yml", "hosts: anna@a, b\nworkers: [local, 1-2]\nkey: ~/id\nproject: "+
		"p/\ndrain-timeout: 1d2h\ngpus: [0, GPU-1f]\ngpu-busy: mine\ngpu-busy-above: 2g\nexpose-monitor: true\nbroker-port: "+
		"5681\nhost-key-check: yes\nfolder: a//b/\nmaster-address: \"2001:db8::1\"\n"+
		"name: n\nbroker-image: r:3\nlease: 90s\n")
	c, _ := load(t, config.Source{File: file, Saved: true, Home: "/home/anna"})
	want := config.Options{
		Hosts:   []host.Address{{User: "anna", Name: "a"}, {Name: "b"}},
		Workers: []host.Position{host.Here, 1, 2},
		Key:     "/home/anna/id", Project: filepath.Join(filepath.Dir(file), "p"),
		DrainTimeout: 26 * time.Hour, Lease: 90 * time.Second,
		GPUs: config.GPUs{Devices: []string{"0", "GPU-1f"}}, GPUBusy: "mine",
		GPUBusyAbove: "2g", ExposeMonitor: true,
		BrokerPort:   5681,
		HostKeyCheck: config.CheckYes,
		Folder:       "a/b", MasterAddress: "2001:db8::1", Name: "n",
		BrokerImage: "r:3",
	}
	if diff := cmp.Diff(want, c.Options); diff != "" {
		t.Error(diff)
	}
	s, err := c.Selection()
	if err != nil || s.Master != nil || len(s.Workers) != 3 {
		t.Error(s, err)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cluster.yml")
	load(t, config.Source{File: write(t, "cluster.yml", "overrides:\n  # gpu1: {slots: 2}\n")})
	c, warnings := load(t, config.Source{File: file,
		Flags: map[string]string{"project": "/home/anna/My Digits!", "master": "local"},
		User:  "Anna"})
	want := config.Options{Folder: "mlframework", Project: "/home/anna/My Digits!",
		Master: host.Here, Name: "anna-my-digits",
		BrokerImage: "rabbitmq:4.2", DrainTimeout: 10 * time.Minute, Lease: 2 * time.Minute}
	if diff := cmp.Diff(want, c.Options); diff != "" || c.Read != "" || warnings != "" {
		t.Error(diff, c.Read, warnings)
	}
	if _, err := (&config.Config{}).Selection(); !errors.Is(err, host.ErrNothing) {
		t.Error(err)
	}
	_, _, err := config.Load(config.Source{File: file, Saved: true})
	if m, ok := errors.AsType[*config.Missing](err); !ok || m.File != file {
		t.Error(err)
	}
}

// The default name of a cluster is one that it can have, whatever user and project are called.
func TestDefaultName(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cluster.yml")
	for project, want := range map[string]string{
		"digits": "anna-digits", "my..proj": "anna-my-proj", "my___proj": "anna-my-proj",
		"a.-b": "anna-a-b", "_a-_b": "anna-a-b", "v1.2__x_y": "anna-v1.2__x_y", "A--Ü": "anna-a",
		strings.Repeat("a", 42) + "__b": "anna-" + strings.Repeat("a", 42),
	} {
		source := config.Source{File: file, User: "Anna",
			Flags: map[string]string{"project": "/home/anna/" + project}}
		c, _ := load(t, source)
		if c.Options.Name != want {
			t.Errorf("%s: %q, want %q", project, c.Options.Name, want)
		}
		source.Flags["name"] = want
		load(t, source)
	}
}

// The current folder is the project when it has a tasks.yml.
func TestProjectOfTheCurrentFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "digits")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	c, _ := load(t, config.Source{User: "anna"})
	if c.Options.Project != "" || c.Options.Name != "" {
		t.Errorf("%+v", c.Options)
	}
	if err := os.WriteFile("tasks.yml", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ = load(t, config.Source{User: "anna"})
	if c.Options.Project != "." || c.Options.Name != "anna-digits" {
		t.Errorf("%+v", c.Options)
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	file := write(t, "cluster.yml", `
slots: 2
image: all
overrides:
  gpu1: &big {user: anna, port: 2222, key: k, jump: "g1, ben@g2:22", gpus: [], image: own, labels: {room: "12", empty: ""},
    environment: {OMP_NUM_THREADS: 04}, volumes: ["/a:/b", "~/c:/d:ro"], limits: {memory: 1g, shm: 64m, pids: 99}}
  gpu2: *big
  gpu3:
    <<: *big
    slots: 5
  gpu3:2222: {slots: 6}
  local: {slots: 1}
`)
	c, _ := load(t, config.Source{File: file, Saved: true})
	dir := filepath.Dir(file)
	big := config.Host{
		Address: host.Address{User: "anna", Name: "gpu1", Port: 2222},
		HostOptions: config.HostOptions{
			User: "anna", Port: 2222, Key: filepath.Join(dir, "k"), Slots: 2,
			Jump: []host.Address{{Name: "g1"}, {User: "ben", Name: "g2", Port: 22}},
			GPUs: config.GPUs{None: true}, Image: "own",
			Labels:      []config.Pair{{Name: "room", Value: "12"}, {Name: "empty"}},
			Environment: []config.Pair{{Name: "OMP_NUM_THREADS", Value: "04"}},
			Volumes:     []string{"/a:/b", "~/c:/d:ro"},
			Limits:      config.Limits{Memory: 1 << 30, SharedMemory: 64 << 20, Processes: 99},
		},
	}
	with := func(change func(*config.Host)) config.Host { h := big; change(&h); return h }
	for text, want := range map[string]config.Host{
		"gpu1": big,
		"ben@GPU1:22": with(func(h *config.Host) {
			h.Address = host.Address{User: "ben", Name: "GPU1", Port: 22}
		}),
		"gpu2": with(func(h *config.Host) { h.Address.Name = "gpu2" }),
		"gpu3": with(func(h *config.Host) { h.Address.Name = "gpu3"; h.Slots = 5 }),
		"gpu3:2222": {Address: host.Address{Name: "gpu3", Port: 2222},
			HostOptions: config.HostOptions{Slots: 6, Image: "all"}},
		"gpu4": {Address: host.Address{Name: "gpu4"},
			HostOptions: config.HostOptions{Slots: 2, Image: "all"}},
		"local": {Address: host.Local, HostOptions: config.HostOptions{Slots: 1, Image: "all"}},
	} {
		a, err := host.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.Host(a)); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}

// Where only flags are wrong the command line is to blame; a fault of the file makes it the
// configuration.
func TestUsage(t *testing.T) {
	t.Parallel()
	flags := map[string]string{"hosts": "a,,a", "master": "9", "workers": "1,1", "slots": "many",
		"host-key-check": "acept-new"}
	_, _, err := config.Load(config.Source{File: write(t, "cluster.yml", "master: 1\n"),
		Flags: flags})
	u, ok := errors.AsType[*config.Usage](err)
	if !ok {
		t.Fatalf("%T: %v", err, err)
	}
	golden(t, "usage.txt", u.Error()+"\n")
	_, _, err = config.Load(config.Source{File: write(t, "cluster.yml", "mastr: 1\n"),
		Flags: flags})
	if _, ok := errors.AsType[*config.Usage](err); ok || !strings.Contains(err.Error(),
		`did you mean "master"?`) || !strings.Contains(err.Error(), "many") {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	_, warnings, err := config.Load(config.Source{File: write(t, "cluster.yml", ""),
		Environ: []string{
			"MLFRAMEWORK_HOSTS=a,b:x", "MLFRAMEWORK_MASTER_HOST=3", "MLFRAMEWORK_BROKERIMAGE=x",
			"MLFRAMEWORK_CREDENTIALS=x", "MLFRAMEWORK_CA=x",
			"MLFRAMEWORK_EXPOSE_MONITOR=maybe", "MLFRAMEWORK_BROKER=x", "MLFRAMEWORK_GUARD=1",
			"MLFRAMEWORK_MASTER=/run/master.sock"}})
	if err == nil {
		t.Fatal("no fault")
	}
	golden(t, "environment.txt", err.Error()+"\n"+warnings.Error()+"\n")
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"cluster.yml", "config.sh"} {
		file := filepath.Join(dir, name)
		if err := os.Mkdir(file, 0o700); err != nil {
			t.Fatal(err)
		}
		_, _, err := config.Load(config.Source{File: filepath.Join(dir, "cluster.yml"),
			Saved: true})
		want := file + ": cannot be read: it is not a file; name another with --config, or put a " +
			"readable file there"
		if err == nil || err.Error() != want {
			t.Error(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	file := write(t, "cluster.yml", strings.Repeat("#", 2<<20))
	if _, _, err := config.Load(config.Source{File: file}); err == nil ||
		!strings.Contains(err.Error(), "longer than 1048576 bytes") {
		t.Error(err)
	}
}
