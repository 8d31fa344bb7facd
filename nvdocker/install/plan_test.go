package install_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/nvdocker"
	"mlframework/nvdocker/install"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	uuid1 = "GPU-67a571b1-79ee-1016-8ea3-c1fff3f1c1d2"
	uuid2 = "GPU-3e34e62f-d88e-f448-415e-be2cbf2c6178"
)

// host is one with two GPUs, a driver and Docker, and nothing more.
func host(id, version, docker string) install.Facts {
	gpu := func(i int, uuid string) nvdocker.GPU {
		return nvdocker.GPU{UUID: uuid, Index: i, Name: "NVIDIA L4"}
	}
	f := install.Facts{
		User: "anna", Root: true, OS: "Linux", Arch: "x86_64", ID: id, Version: version,
		System: strings.ToUpper(id[:1]) + id[1:] + " " + version,
		Cards:  []string{"0000:3b:00.0", "0000:af:00.0"}, Driver: true,
		GPU: nvdocker.Report{
			Driver: "570.133.07", GPUs: []nvdocker.GPU{gpu(0, uuid1), gpu(1, uuid2)},
		},
		Client: "/usr/bin/docker",
		Docker: nvdocker.Docker{Version: docker, Runtimes: []string{"runc"},
			Root: "/var/lib/docker"},
	}
	if f.Docker.Tells() {
		f.Docker.SpecDirs = []string{"/etc/cdi", "/var/run/cdi"}
	}
	return f
}

// settled is a host as install leaves it.
func settled(f install.Facts) install.Facts {
	plan, problem := install.Make(f, install.Options{})
	if problem != nil {
		panic(problem)
	}
	for _, s := range plan.Steps {
		effects[s.ID](&f, s)
	}
	return f
}

// names are those of a host's devices in a CDI specification as NVIDIA's tool writes it.
func names(f install.Facts) []string {
	all := []string{"nvidia.com/gpu=all"}
	for _, d := range nvdocker.Devices(f.GPU.GPUs) {
		all = append(all, "nvidia.com/gpu="+d.Number)
	}
	return all
}

// effects is what facts say after a step.
var effects = map[string]func(*install.Facts, install.Step){
	"dpkg":         func(f *install.Facts, _ install.Step) { f.Unfinished = false },
	"certificates": func(f *install.Facts, _ install.Step) { f.Lacks = nil },
	"key": func(f *install.Facts, s install.Step) {
		f.KeySum = fmt.Sprintf("%x", sha256.Sum256(s.Input))
	},
	"source": func(f *install.Facts, s install.Step) {
		_, rest, _ := strings.Cut(s.Script, "echo '")
		f.Source, _, _ = strings.Cut(rest, "'")
		f.Source += "\n"
		f.Candidates = append(f.Candidates, "nvidia-container-toolkit")
	},
	"toolkit": func(f *install.Facts, _ install.Step) {
		f.Docker.Toolkit, f.Package = "1.17.8", "ii"
	},
	"spec": func(f *install.Facts, s install.Step) {
		f.SpecDrivers = maps.Clone(f.SpecDrivers)
		if f.SpecDrivers == nil {
			f.SpecDrivers = map[string]string{}
		}
		for _, m := range regexp.MustCompile(`--output='?([^ '\n]+)`).FindAllStringSubmatch(
			s.Script, -1) {
			f.SpecDrivers[m[1]] = f.GPU.Driver
		}
		f.Docker.Specs = slices.Sorted(maps.Keys(f.SpecDrivers))
		if f.Docker.Tells() {
			f.Docker.Discovered = names(*f)
		}
	},
	"cdi": func(f *install.Facts, s install.Step) { f.Config, f.ConfigSum = s.Input, "cd" },
	"runtime": func(f *install.Facts, _ install.Step) {
		if text := strings.TrimSpace(string(f.Config)); text == "" {
			f.Config = []byte(`{"runtimes": {"nvidia": {}}}`)
		} else {
			f.Config = []byte(`{"runtimes": {"nvidia": {}}, ` + text[1:])
		}
	},
	"restart": func(f *install.Facts, _ install.Step) {
		if strings.Contains(string(f.Config), `"cdi": true`) {
			f.Docker.SpecDirs = []string{"/etc/cdi", "/var/run/cdi"}
		}
		if f.Docker.Tells() && len(f.Docker.Specs) > 0 {
			f.Docker.Discovered = names(*f)
		}
		if strings.Contains(string(f.Config), `"nvidia"`) {
			f.Docker.Runtimes = []string{"nvidia", "runc"}
		}
	},
	"check": func(*install.Facts, install.Step) {},
	"update": func(f *install.Facts, _ install.Step) {
		f.Candidates = append(f.Candidates, "nvidia-container-toolkit")
	},
}

func ids(p install.Plan) (all []string) {
	for _, s := range p.Steps {
		all = append(all, s.ID)
	}
	return all
}

// situations are hosts, by the name of their golden file.
func situations() map[string]func() (install.Facts, install.Options) {
	with := func(f install.Facts, change func(*install.Facts)) install.Facts {
		change(&f)
		return f
	}
	is := func(f install.Facts, o install.Options) func() (install.Facts, install.Options) {
		return func() (install.Facts, install.Options) { return f, o }
	}
	none := install.Options{}
	armored := []byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: " +
		"x\n\nbUkN\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n")
	return map[string]func() (install.Facts, install.Options){
		"ubuntu-22.04": is(with(host("ubuntu", "22.04", "24.0.7"), func(f *install.Facts) {
			f.Containers = []install.Container{{ID: "1a", Name: "web"}, {ID: "2b", Name: "db"}}
		}), none),
		"ubuntu-24.04": is(host("ubuntu", "24.04", "28.2.2"), none),
		"debian-12": is(with(host("debian", "12", "27.5.1"), func(f *install.Facts) {
			f.Config = []byte(`{"features": {"x": true}, "mtu": 1400, "http": "a&b"}`)
			f.ConfigSum, f.Lacks = "01", []string{"ca-certificates"}
			f.Containers, f.LiveRestore = []install.Container{{ID: "1a", Name: "web"}}, true
		}), none),
		"debian-13": is(host("debian", "13", "26.1.5+dfsg1"), none),
		"packaged": is(with(host("ubuntu", "24.04", "28.2.2"),
			func(f *install.Facts) { f.Candidates = []string{"nvidia-container-toolkit"} }), none),
		"mirror": is(host("debian", "13", "28.2.2"),
			install.Options{Source: "http://mirror.example/nvidia/", Key: armored}),
		"half": is(with(host("debian", "13", "28.2.2"),
			func(f *install.Facts) {
				f.Docker.Toolkit, f.Package, f.Unfinished = "1.17.8", "iU", true
			}), none),
		"other-file": is(with(host("debian", "13", "28.2.2"),
			func(f *install.Facts) { f.Sources = []string{"/etc/apt/sources.list.d/gpu.list"} }),
			none),
		"new-driver": is(with(settled(host("debian", "13", "28.2.2")),
			func(f *install.Facts) { f.GPU.Driver = "580.95.05" }), none),
		"split-later": is(with(settled(host("ubuntu", "24.04", "28.3.3")), splitLater), none),
		"second-card": is(with(settled(host("ubuntu", "24.04", "28.3.3")),
			func(f *install.Facts) {
				f.Docker.Discovered = []string{"nvidia.com/gpu=0", "nvidia.com/gpu=all"}
			}), none),
		"stale-elsewhere": is(with(settled(host("ubuntu", "24.04", "28.3.3")),
			func(f *install.Facts) {
				f.SpecDrivers["/var/run/cdi/nvidia.yaml"] = "550.54.15"
				f.Docker.Specs = append(f.Docker.Specs, "/var/run/cdi/nvidia.yaml")
			}), none),
		"turned-off": is(with(settled(host("debian", "13", "28.2.2")),
			func(f *install.Facts) { f.Docker.SpecDirs, f.Docker.Discovered = nil, nil }), none),
		"all-there": is(with(settled(host("debian", "12", "27.5.1")),
			func(f *install.Facts) { f.Root = false }), none),
		"driver": is(bare("ubuntu", "24.04"), install.Options{Driver: true}),
		"driver-deb": is(with(bare("debian", "12"),
			func(f *install.Facts) { f.Candidates = []string{"nvidia-driver"} }),
			install.Options{Driver: true}),
		"driver-kept": is(settled(host("ubuntu", "24.04", "28.2.2")),
			install.Options{Driver: true}),
	}
}

// splitLater splits the first GPU, after the CDI specification was written.
func splitLater(f *install.Facts) {
	f.GPU.GPUs = slices.Clone(f.GPU.GPUs)
	f.GPU.GPUs[0].MIG = true
	f.GPU.GPUs[0].Instances = []nvdocker.Instance{{UUID: "MIG-1", Index: 0},
		{UUID: "MIG-2", Index: 1}}
}

// TestSpecNamesEveryDevice has hosts whose CDI specification is not for the GPUs or the driver that
// they have now, and hosts where it is.
func TestSpecNamesEveryDevice(t *testing.T) {
	t.Parallel()
	is := func(change func(*install.Facts)) (steps []string, title string) {
		f := settled(host("ubuntu", "24.04", "28.3.3"))
		change(&f)
		plan, problem := install.Make(f, install.Options{})
		if problem != nil {
			t.Fatal(problem)
		}
		for _, s := range plan.Steps {
			title += s.Title + "\n"
		}
		return ids(plan), title
	}
	for name, c := range map[string]struct {
		change func(*install.Facts)
		title  string // "": nothing is to be done
	}{
		"settled": {func(*install.Facts) {}, ""},
		"by UUID": {func(f *install.Facts) {
			f.Docker.Discovered = []string{"nvidia.com/gpu=" + uuid1, "nvidia.com/gpu=" + uuid2}
		}, ""},
		"split": {splitLater, "nvidia.com/gpu=0:0"},
		"one more": {func(f *install.Facts) {
			f.Docker.Discovered = []string{"nvidia.com/gpu=0", "nvidia.com/gpu=all"}
		}, "nvidia.com/gpu=1"},
		"none found": {func(f *install.Facts) { f.Docker.Discovered = nil }, "nvidia.com/gpu=0"},
		"stale": {func(f *install.Facts) {
			f.SpecDrivers["/var/run/cdi/nvidia.yaml"] = "550.54.15"
		},
			"/var/run/cdi/nvidia.yaml, which is for driver 550.54.15"},
		"another directory": {func(f *install.Facts) { f.SpecDrivers, f.Docker.Specs = nil, nil },
			""},
	} {
		steps, title := is(c.change)
		if c.title == "" && len(steps) > 0 || c.title != "" &&
			(!slices.Equal(steps, []string{"spec", "check"}) ||
				!strings.Contains(title, c.title)) {
			t.Errorf("%s: %v\n%s", name, steps, title)
		}
	}
}

// bare is a host without a driver.
func bare(id, version string) install.Facts {
	f := host(id, version, "28.2.2")
	f.Driver, f.GPU = false, nvdocker.Report{Fault: &nvdocker.Problem{Cause: "no driver"}}
	return f
}

// TestPlans compares what --dry-run shows.
func TestPlans(t *testing.T) {
	t.Parallel()
	for name, situation := range situations() {
		f, o := situation()
		plan, problem := install.Make(f, o)
		if problem != nil {
			t.Errorf("%s: %v", name, problem)
			continue
		}
		got := f.Summary() + "\n" + plan.Text()
		for _, s := range plan.Steps {
			if s.ID == "cdi" {
				got += string(s.Input)
			}
		}
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestInterrupted plans again after every step: nothing is done twice, and nothing is left out.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for name, situation := range situations() {
		f, o := situation()
		if o.Driver {
			continue // a reboot follows
		}
		plan, _ := install.Make(f, o)
		for n, s := range plan.Steps {
			effects[s.ID](&f, s)
			again, problem := install.Make(f, o)
			rest := ids(plan)[n+1:]
			switch {
			case slices.Equal(rest, []string{"check"}):
				rest = nil
			case s.ID == "key" && s.Input == nil:
				// nothing tells whose key it is before the source is there
				rest = append([]string{"key"}, rest...)
			}
			if problem != nil || !slices.Equal(ids(again), rest) {
				t.Errorf("%s: after %s it plans %v (%v), not %v", name, s.ID, ids(again), problem,
					rest)
			}
		}
	}
}

// TestEveryStepHasATitle and a script.
func TestEveryStepHasATitle(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for name, situation := range situations() {
		plan, _ := install.Make(situation())
		for _, s := range plan.Steps {
			seen[s.ID] = true
			if s.Title == "" || s.Script == "" || s.Restarts != (s.ID == "restart") {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
	for id := range maps.Keys(effects) {
		if !seen[id] && id != "update" {
			t.Errorf("no situation has the step %s", id)
		}
	}
}
