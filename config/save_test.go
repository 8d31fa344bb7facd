package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/config"
	"mlframework/infra/host"
)

func hosts(t *testing.T, text string) []host.Address {
	t.Helper()
	list, err := host.ParseList(host.Split(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// edits are texts, what changes, and what becomes of the text. What is not an option that changes
// stays, but for blank lines and spaces.
var edits = []struct {
	name, before string
	change       func(t *testing.T, o *config.Options)
	after        string
}{
	{"a word, its comment stays", "master: 1   # the big one\nslots: 2\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 4 },
		"master: 1 # the big one\nslots: 4\n"},
	{"the comment of the line that changes",
		"slots: 2\t # few\nhosts: [a]\nmaster: 1 # the big one\n",
		func(_ *testing.T, o *config.Options) { o.Master = host.Here },
		"slots: 2 # few\nhosts: [a]\nmaster: local # the big one\n"},
	{"one that goes", "# about slots\nslots: 2 # few\n# about name\nname: x\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 0 },
		"# about slots\n# about name\nname: x\n"},
	{"the last one goes", "name: x\n# about slots\nslots: 2\n# end\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 0 },
		"name: x\n# about slots\n# end\n"},
	{"the only one goes", "# about slots\nslots: 2\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 0 }, "# about slots\n{}\n"},
	{"one comes where the only one went", "# about slots\n{}\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 2 }, "# about slots\nslots: 2\n"},
	{"one that comes, behind the others", "name: x\n\n# hosts\noverrides:\n  a: {slots: 1}\n",
		func(t *testing.T, o *config.Options) { o.Hosts = hosts(t, "a,b:22") },
		"name: x\nhosts: [a, 'b:22']\n# hosts\noverrides:\n  a: {slots: 1}\n"},
	{"one that comes where none is", "# mine\noverrides:\n  a: {slots: 1} # end",
		func(_ *testing.T, o *config.Options) { o.Slots = 1 },
		"# mine\noverrides:\n  a: {slots: 1} # end\nslots: 1\n"},
	{"an empty file", "", func(_ *testing.T, o *config.Options) { o.Slots, o.Name = 1, "x" },
		"name: x\nslots: 1\n"},
	{"comments only", "# mine\n\n#slots: 1",
		func(_ *testing.T, o *config.Options) { o.Slots = 1 }, "# mine\n\n#slots: 1\nslots: 1\n"},
	{"line ends of Windows", "name: x\r\nslots: 2 # few\r\n# end\r\n",
		func(_ *testing.T, o *config.Options) { o.Slots, o.MonitorPort = 4, 5556 },
		"name: x\nslots: 4 # few\n# end\n\nmonitor-port: 5556\n"},
	{"a list in brackets", "hosts: [a, b] # all\n",
		func(t *testing.T, o *config.Options) { o.Hosts = hosts(t, "a,[::1]:22") },
		"hosts: [a, '[::1]:22'] # all\n"},
	{"a list in one word", "hosts: a,b # all\n",
		func(t *testing.T, o *config.Options) { o.Hosts = hosts(t, "a,c") },
		"hosts: [a, c] # all\n"},
	{"items on lines of their own",
		"hosts: # all\n  - a # first\n  # - x\n  - b\n\n  - c # last\nname: x\n",
		func(t *testing.T, o *config.Options) { o.Hosts = hosts(t, "z,a,c,d") },
		"hosts: # all\n  - z\n  - a # first\n  # - x\n  - c # last\n  - d\nname: x\n"},
	{"all items go", "hosts:\n- a # first\n# between\n- b\nname: x\n",
		func(_ *testing.T, o *config.Options) { o.Hosts = nil }, "# between\nname: x\n"},
	{"quotes", "name: \"x\" # a\nimage: 'it''s' # b\n",
		func(_ *testing.T, o *config.Options) { o.Name, o.Image = "y", "z:1" },
		"name: y # a\nimage: z:1 # b\n"},
	{"a block text", "image: |- # c\n  python\nname: x\n",
		func(_ *testing.T, o *config.Options) { o.Image = "y" }, "image: y # c\nname: x\n"},
	{"an anchor that nobody uses", "name: &n x # c\n",
		func(_ *testing.T, o *config.Options) { o.Name = "y" }, "name: y # c\n"},
	{"an alias", "overrides: {a: {image: &i x}}\nimage: *i # c\n",
		func(_ *testing.T, o *config.Options) { o.Image = "y" },
		"overrides: {a: {image: &i x}}\nimage: y # c\n"},
	{"a tag", "name: !!str x # c\n",
		func(_ *testing.T, o *config.Options) { o.Name = "y" }, "name: y # c\n"},
	{"a byte order mark", "\ufeffslots: 1 # ü\nname: x\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 2 }, "slots: 2 # ü\nname: x\n"},
	{"a byte order mark before comments only", "\ufeff# mine\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 2 }, "\ufeff# mine\nslots: 2\n"},
	{"a key in quotes", "\"slots\": 1\n? name\n: x\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 2 }, "\"slots\": 2\nname: x\n"},
	{"an item over two lines", "hosts: # all\n- \"a\\\n  b\"\n- c\nname: x\n",
		func(t *testing.T, o *config.Options) { o.Hosts = hosts(t, "c") },
		"hosts: # all\n  - c\nname: x\n"},
	{"between marks", "---\nname: x\n...\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 2 }, "name: x\nslots: 2\n"},
	{"in braces", "{name: x, overrides: {a: {slots: 1}}}\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 2 },
		"{name: x, slots: 2, overrides: {a: {slots: 1}}}\n"},
	{"names of hosts stay", "hosts: [a, b]\nmaster: a\nworkers: [b]\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 1 },
		"hosts: [a, b]\nmaster: a\nworkers: [b]\nslots: 1\n"},
	{"names of hosts that are listed anew", "hosts: [a, b]\nmaster: a\nworkers: [b]\n",
		func(t *testing.T, o *config.Options) { o.Hosts = hosts(t, "b,a") },
		"hosts: [b, a]\nmaster: 1\nworkers: [2]\n"},
	{"what looks like nothing", "image: x\n",
		func(_ *testing.T, o *config.Options) { o.Image = "null" }, "image: \"null\"\n"},
	{"a value that is a key", "name: slots\nslots: 1\n",
		func(_ *testing.T, o *config.Options) { o.Slots = 2 }, "name: slots\nslots: 2\n"},
	{"a key that is an alias", "overrides: {a: {image: &k name}}\n*k : x # c\n",
		func(_ *testing.T, o *config.Options) { o.Name = "y" },
		"overrides: {a: {image: &k name}}\n*k: y # c\n"},
	{"a merged option", "<<: {name: x}\nslots: 1\n",
		func(_ *testing.T, o *config.Options) { o.Name = "y" },
		"<<: {name: x}\nslots: 1\nname: y\n"},
	{"an anchor that is used", "name: &n x\noverrides: {a: {image: *n}}\n",
		func(_ *testing.T, o *config.Options) { o.Name = "y" }, ""},
	{"a merged option that goes", "<<: {name: x}\nslots: 1\n",
		func(_ *testing.T, o *config.Options) { o.Name = "" }, ""},
}

func TestEdit(t *testing.T) {
	t.Parallel()
	for _, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			o, err := config.OptionsOf(".", "", []byte(e.before))
			if err != nil {
				t.Fatal(err)
			}
			e.change(t, &o)
			after, err := config.Edit(".", "", []byte(e.before), o)
			if e.after == "" {
				if err == nil || !strings.Contains(err.Error(),
					"without changing more than them; write each on a line of its own") {
					t.Errorf("%q, %v", after, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e.after, string(after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is saved is read back the same, and saving it again changes no byte.
func TestSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "cluster.yml")
	o := config.Options{
		Hosts: hosts(t, "anna@a,b:2222"), Key: "/home/anna/.ssh/id", Folder: "ml",
		Project: filepath.Join(dir, "p"), Master: 1,
		Workers: []host.Position{host.Here, 2}, Name: "n", BrokerImage: "r:3",
		GPUs: config.GPUs{Devices: []string{"0", "2"}}, GPUBusyAbove: "2g", MasterAddress: "::1",
		HostKeyCheck: config.CheckNo, ExposeMonitor: true, MonitorPort: 5556,
		DrainTimeout: 90 * time.Minute, Lease: 5 * time.Minute,
	}
	for range 2 {
		if err := config.Save(file, "/home/anna", o); err != nil {
			t.Fatal(err)
		}
		golden(t, "saved.yml", strings.ReplaceAll(text(t, file), dir, "DIR"))
		c, _ := load(t, config.Source{File: file, Saved: true, Home: "/home/anna"})
		if diff := cmp.Diff(o, c.Options); diff != "" {
			t.Error(diff)
		}
	}
	if mode := stat(t, file).Mode().Perm(); mode != 0o644 {
		t.Errorf("a new file has the mode %v", mode)
	}
}

// Paths stand in the file relative to its folder, whatever the current folder is.
func TestSaveAwayFromTheFile(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	if err := os.MkdirAll("clusters", 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("clusters", "big.yml")
	if err := config.Save(file, home, config.Options{Project: "digits", Name: "n",
		Folder: "mlframework", BrokerImage: "rabbitmq:4.2", Lease: 2 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	if got := text(t, file); !strings.Contains(got, "\nproject: ../digits\n") ||
		strings.Contains(got, "folder") {
		t.Error(got)
	}
	c, _ := load(t, config.Source{File: file, Saved: true, Home: home})
	if c.Options.Project != "digits" {
		t.Errorf("%+v", c.Options)
	}
	if err := config.Save(filepath.Join(home, file), home, c.Options); err != nil {
		t.Fatal(err)
	}
	if got := text(t, file); !strings.Contains(got, "\nproject: ../digits\n") {
		t.Error(got)
	}
}

func TestSaveKeepsModeAndLink(t *testing.T) {
	t.Parallel()
	file := write(t, "real.yml", "key: ~/id # mine\nslots: 1\n")
	link := filepath.Join(filepath.Dir(file), "cluster.yml")
	if err := os.Symlink("real.yml", link); err != nil {
		t.Fatal(err)
	}
	c, _ := load(t, config.Source{File: link, Saved: true, Home: "/home/anna"})
	before := stat(t, file)
	if err := config.Save(link, "/home/anna", c.Options); err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, stat(t, file)) {
		t.Error("a file that does not change is written")
	}
	c.Options.Slots = 2
	if err := config.Save(link, "/home/anna", c.Options); err != nil {
		t.Fatal(err)
	}
	if got := text(t, file); got != "key: ~/id # mine\nslots: 2\n" ||
		stat(t, file).Mode().Perm() != 0o600 {
		t.Errorf("%q, %v", got, stat(t, file).Mode())
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Error(info, err)
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 2 {
		t.Error(left, err)
	}
}

// A file with faults is not touched, and neither is one whose folder is gone.
func TestSaveFails(t *testing.T) {
	t.Parallel()
	file := write(t, "cluster.yml", "slots: 0\n")
	err := config.Save(file, "", config.Options{Slots: 2})
	if err == nil || !strings.Contains(err.Error(), "cluster.yml:1:8: slots: ") ||
		text(t, file) != "slots: 0\n" {
		t.Error(err, text(t, file))
	}
	o := config.Options{Slots: 2, Folder: "x", BrokerImage: "y", HostKeyCheck: "no",
		Lease: time.Minute}
	gone := filepath.Join(t.TempDir(), "gone", "cluster.yml")
	if err := config.Save(gone, "", o); err == nil || !strings.HasPrefix(err.Error(),
		"save the options in "+gone+": ") {
		t.Error(err)
	}
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func stat(t *testing.T, file string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
