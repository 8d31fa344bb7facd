package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mlframework/cmd/internal/site"
	"mlframework/config"
	"mlframework/nvdocker"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// card returns an unused GPU as nvidia-smi reports it.
func card(index int, change func(*nvdocker.GPU)) nvdocker.GPU {
	g := nvdocker.GPU{UUID: fmt.Sprintf("GPU-%d", index), Index: index,
		Name: "NVIDIA A100-SXM4-80GB", Bus: fmt.Sprintf("0000:0%d:00.0", index),
		Memory: 80 << 30, Used: 100 << 20, Temperature: 30, Errors: nvdocker.Unknown}
	if change != nil {
		change(&g)
	}
	return g
}

func usedBy(user string) func(*nvdocker.GPU) {
	return func(g *nvdocker.GPU) {
		g.Used, g.Utilization = 6<<30, 97
		g.Processes = []nvdocker.Process{{PID: 411, User: user, Name: "/usr/bin/python",
			Memory: 6 << 30}}
	}
}

// One host has four GPUs, of which one is lost; another has two, of which its worker has one; the
// driver of the third hangs.
func TestGPUs(t *testing.T) {
	t.Parallel()
	o := whole()
	o.Hosts[0].NVIDIA = nvdocker.Report{Driver: "570.1", GPUs: []nvdocker.GPU{card(0, nil),
		card(1, func(g *nvdocker.GPU) {
			g.Used, g.Utilization, g.Processes = 6<<30, 97,
				[]nvdocker.Process{{PID: 411, User: "ben", Name: "/usr/bin/python",
					Memory: 6 << 30}}
		}),
		card(2, func(g *nvdocker.GPU) {
			g.MIG, g.Utilization, g.Instances = true, nvdocker.Unknown,
				[]nvdocker.Instance{{Profile: "1g.10gb"}, {Profile: "1g.10gb"},
					{Profile: "3g.40gb"}}
		}),
		{Index: nvdocker.Unknown, Bus: "0000:09:00.0", Lost: "GPU is lost",
			Memory: nvdocker.Unknown, Used: nvdocker.Unknown,
			Utilization: nvdocker.Unknown, Temperature: nvdocker.Unknown,
			Errors: nvdocker.Unknown}}}
	o.Hosts[1].NVIDIA = nvdocker.Report{GPUs: []nvdocker.GPU{card(0, nil),
		card(1, func(g *nvdocker.GPU) { g.Errors = 2 })}}
	o.Hosts[1].Containers[0].GPUs = 1
	o.Workers[0].GPUs = []task.GPU{device(0, 0, "")}
	o.Hosts[2].NVIDIA.Fault = &nvdocker.Problem{Cause: "nvidia-smi does not answer",
		Remedy: "reboot the host"}
	o.Judge(nil, nil, nil)
	text := strings.Join(o.Tables(0), "\n")
	for _, want := range []string{`
HOST  ROLE     STATE    SINCE  SLOTS  BUSY  LOAD      DISK          GPUS
gpu1  broker   running  1h                  1.5 of 4  1024.0G free  5
gpu1  master   running  1h
gpu1  monitor  running  1h
gpu2  worker   ready    1h     4      1     1.5 of 4  1024.0G free  1 of 2
gpu3  worker   ready    1h     4      1     1.5 of 4  1024.0G free
`, `
HOST  GPU           STATE  MEMORY         USE  TEMP  NAME
gpu1  0             free   0.1G of 80.0G  0%   30 C  NVIDIA A100-SXM4-80GB
gpu1  1             busy   6.0G of 80.0G  97%  30 C  NVIDIA A100-SXM4-80GB
gpu1  2             free   0.1G of 80.0G       30 C  NVIDIA A100-SXM4-80GB, split: 2 x 1g.10gb, 1 x 3g.40gb
gpu1  0000:09:00.0  lost
gpu2  0             free   0.1G of 80.0G  0%   30 C  NVIDIA A100-SXM4-80GB
gpu2  1             unfit  0.1G of 80.0G  0%   30 C  NVIDIA A100-SXM4-80GB

gpu1: GPU 1 is used by ben, python (pid 411), 6.0 GB
gpu1: GPU 0000:09:00.0 does not answer: GPU is lost: reboot the host; if it comes again look at power, heat and seat of the card
gpu2: GPU 1: its memory had 2 uncorrected errors (ECC): end its programs and reset it (sudo nvidia-smi --gpu-reset -i 1), or reboot the host; if it comes again replace the card
gpu2: its worker was given 1 of 2 GPUs: see gpus in cluster.yml
gpu3: nvidia-smi does not answer: reboot the host
`} {
		if !strings.Contains(text+"\n", want) {
			t.Errorf("it lacks%s\n%s", want, text)
		}
	}
	o.Hosts[1].Containers[0].GPUs = 2
	if all := o.Tables(0)[6]; !strings.HasSuffix(all, "1024.0G free  2") {
		t.Errorf("a worker with all GPUs: %q", all)
	}
	for _, l := range o.Tables(60) {
		if utf8.RuneCountInString(l) > 60 {
			t.Errorf("wider than 60: %q", l)
		}
	}
}

// device is a GPU that the worker of a host has.
func device(index int, given float64, unavailable string) task.GPU {
	return task.GPU{UUID: fmt.Sprintf("GPU-%d", index), Name: "NVIDIA A100-SXM4-80GB",
		Memory: 80 << 30, Given: given, Unavailable: unavailable}
}

// The worker of gpu2 has given GPUs to tasks, and some of them to none; gpu3 cannot be asked.
func TestGPUsThatTasksHave(t *testing.T) {
	t.Parallel()
	o := whole()
	o.Hosts[1].NVIDIA.GPUs = []nvdocker.GPU{
		card(0, usedBy("root")), card(1, usedBy("root")), card(2, usedBy("ben")), card(3, nil),
		card(4, func(g *nvdocker.GPU) { g.Errors = 2 }), card(5, nil), card(6, nil),
		card(7, func(g *nvdocker.GPU) {
			g.MIG, g.Utilization = true, nvdocker.Unknown
			g.Instances = []nvdocker.Instance{{UUID: "MIG-0", Profile: "1g.10gb"},
				{UUID: "MIG-1", Profile: "1g.10gb"}}
		})}
	o.Hosts[1].Containers[0].GPUs = 8
	const busy, failed = "busy: ben, python (pid 411), 6.0 GB", "its memory had 2 errors\x1b[m"
	const unseen = "busy: 6.0 GB in use"
	o.Workers[0].GPUs = []task.GPU{device(0, 1, ""), device(1, 0.5, unseen),
		device(2, 0, busy), device(3, 0, unseen), device(4, 0, failed),
		device(5, 0, ""), {UUID: "MIG-0", Given: 1, Split: true}, {UUID: "MIG-1", Split: true}}
	o.Workers[1].GPUs = []task.GPU{{UUID: "GPU-77aa88bb-1111", Unavailable: busy}}
	faults := o.Judge(nil, nil, nil)
	want := []site.Fault{{"gpu2", "GPU 4: its memory had 2 uncorrected errors (ECC)",
		"end its programs and reset it (sudo nvidia-smi --gpu-reset -i 4), or reboot the host; " +
			"if it comes again replace the card"}}
	if diff := cmp.Diff(want, faults); diff != "" || o.Well {
		t.Errorf("well: %v (-want +got)\n%s", o.Well, diff)
	}
	text := strings.Join(o.Tables(0), "\n")
	for _, want := range []string{`
HOST  GPU  STATE          MEMORY         USE  TEMP  NAME
gpu2  0    tasks          6.0G of 80.0G  97%  30 C  NVIDIA A100-SXM4-80GB
gpu2  1    tasks: 0.5     6.0G of 80.0G  97%  30 C  NVIDIA A100-SXM4-80GB
gpu2  2    busy           6.0G of 80.0G  97%  30 C  NVIDIA A100-SXM4-80GB
gpu2  3    busy           0.1G of 80.0G  0%   30 C  NVIDIA A100-SXM4-80GB
gpu2  4    unfit          0.1G of 80.0G  0%   30 C  NVIDIA A100-SXM4-80GB
gpu2  5    free           0.1G of 80.0G  0%   30 C  NVIDIA A100-SXM4-80GB
gpu2  6    excluded       0.1G of 80.0G  0%   30 C  NVIDIA A100-SXM4-80GB
gpu2  7    tasks: 1 of 2  0.1G of 80.0G       30 C  NVIDIA A100-SXM4-80GB, split: 2 x 1g.10gb

gpu2: GPU 2 is used by ben, python (pid 411), 6.0 GB
gpu2: its worker was given 8 of 9 GPUs: see gpus in cluster.yml
gpu2: GPU 1, GPU 3 are not given to tasks: busy: 6.0 GB in use
gpu3: GPU-77aa88bb is not given to tasks: busy: ben, python (pid 411), 6.0 GB
`, `
WORKER  STATE  SLOTS  BUSY  GPUS      HEARD   CPU  MEMORY        WAITING  TASKS      VERSION
gpu2    ready  4      1     2.5 of 8  1s ago  50%  2.0G of 8.0G  0        train-7/3  1a2b3c4d5e6f+changes
gpu3    ready  4      1     0 of 1    1s ago  50%  2.0G of 8.0G  0        train-7/3  1a2b3c4d5e6f+changes
`} {
		if !strings.Contains(text+"\n", want) {
			t.Errorf("it lacks%s\n%s", want, text)
		}
	}
	for _, l := range o.Tables(60) {
		if utf8.RuneCountInString(l) > 60 {
			t.Errorf("wider than 60: %q", l)
		}
	}
}

// A GPU that is out of order is a fault where a worker has it and says so, too, or it is lost.
func TestFaultsOfGPUs(t *testing.T) {
	t.Parallel()
	failed := func(g *nvdocker.GPU) { g.Errors = 2 }
	lost := func(g *nvdocker.GPU) { g.Lost = "GPU is lost" }
	lostNameless := func(g *nvdocker.GPU) { g.UUID, g.Index, g.Lost = "", nvdocker.Unknown, "lost" }
	desktop := func(g *nvdocker.GPU) { g.Used = 900 << 20 }
	other, broken, hidden := device(1, 0, ""), device(0, 0, "the driver hangs"),
		device(0, 0, "Failed to initialize NVML: Unknown Error")
	broken.Broken, hidden.Broken = true, true
	unlisted := broken
	unlisted.UUID = "GPU-5b3c2a1f-1111"
	for name, c := range map[string]struct {
		change func(*nvdocker.GPU)
		gpus   []task.GPU // of the worker
		want   string     // what the fault begins with; "": none
	}{
		"free":                               {nil, []task.GPU{device(0, 0, "")}, ""},
		"used by others":                     {usedBy("ben"), []task.GPU{device(0, 0, "busy: ben")}, ""},
		"kept by the worker":                 {nil, []task.GPU{device(0, 0, "why")}, ""},
		"out of order":                       {failed, []task.GPU{device(0, 0, "why")}, "GPU 0: its memory"},
		"out of order, with a task":          {failed, []task.GPU{device(0, 1, "why")}, "GPU 0: its memory"},
		"out of order, not noticed yet":      {failed, []task.GPU{device(0, 0, "")}, ""},
		"out of order, and not the worker's": {failed, []task.GPU{other}, ""},
		"a desktop":                          {desktop, []task.GPU{device(0, 0, "busy: 6.0 GB in use")}, ""},
		"lost":                               {lost, []task.GPU{device(0, 1, "")}, "GPU 0 does not"},
		"lost, and not the worker's":         {lost, []task.GPU{other}, ""},
		"lost without its UUID":              {lostNameless, []task.GPU{other}, "GPU 0000:00:00.0 does"},
		"no worker has GPUs":                 {lostNameless, nil, ""},
		"broken for the worker": {nil, []task.GPU{broken},
			"GPU 0 is not given to tasks: the driver hangs"},
		"broken for the worker, and used by others": {usedBy("ben"), []task.GPU{broken},
			"GPU 0 is not given to tasks: the driver hangs"},
		"broken, and not listed by the host": {nil, []task.GPU{other, unlisted},
			"GPU-5b3c2a1f is not given to tasks: the driver hangs"},
		"lost by the container": {nil, []task.GPU{hidden}, "GPU 0 is not given to tasks: Failed"},
		"broken for both":       {failed, []task.GPU{broken}, "GPU 0: its memory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := whole()
			o.Hosts[1].NVIDIA.GPUs = []nvdocker.GPU{card(0, c.change)}
			o.Hosts[1].Containers[0].GPUs = len(c.gpus)
			o.Workers[0].GPUs = c.gpus
			faults := o.Judge(nil, nil, nil)
			if c.want == "" {
				if len(faults) > 0 {
					t.Errorf("%v", faults)
				}
				return
			}
			if len(faults) != 1 || faults[0].Host != "gpu2" ||
				!strings.HasPrefix(faults[0].What, c.want) || faults[0].Remedy == "" {
				t.Fatalf("%v", faults)
			}
			// it is said once
			text := strings.Join(o.Tables(0), "\n")
			if strings.Contains(text, faults[0].What) || strings.Contains(text, "not given") {
				t.Errorf("the table has it, too:\n%s", text)
			}
		})
	}
}

// What a worker was given is compared with what it sees.
func TestGPUsThatAWorkerWasGiven(t *testing.T) {
	t.Parallel()
	both := []nvdocker.GPU{card(0, nil), card(1, nil)}
	lost := func(g *nvdocker.GPU) { g.Lost = "GPU is lost" }
	nameless := nvdocker.GPU{Index: nvdocker.Unknown, Bus: "0000:09:00.0", Lost: "GPU is lost",
		Memory: nvdocker.Unknown, Used: nvdocker.Unknown, Utilization: nvdocker.Unknown,
		Temperature: nvdocker.Unknown, Errors: nvdocker.Unknown}
	split := card(1, func(g *nvdocker.GPU) {
		g.MIG, g.Instances = true, []nvdocker.Instance{{UUID: "MIG-0", Profile: "1g.10gb"}}
	})
	const hangs = "nvidia-smi does not answer"
	hung := device(0, 0, hangs)
	hung.Broken = true
	one := []task.GPU{device(0, 0, "")}
	for name, c := range map[string]struct {
		gpus   []nvdocker.GPU
		fault  bool // of the driver
		given  int
		has    []task.GPU // the worker
		want   string     // the fault; "": none
		states string
	}{
		"all":                   {both, false, 2, []task.GPU{device(0, 0, ""), device(1, 0, "")}, "", "free free"},
		"one of two":            {both, false, 1, one, "", "free excluded"},
		"none":                  {both, false, 0, nil, "", "excluded excluded"},
		"two, and sees none":    {both, false, 2, nil, "its worker sees 0 of 2 GPUs that it was given", "unseen unseen"},
		"two, and sees one":     {both, false, 2, one, "its worker sees 1 of 2 GPUs that it was given", "free unseen"},
		"a lost one, restarted": {[]nvdocker.GPU{card(0, lost)}, false, 1, nil, "GPU 0 does not answer: GPU is lost", "lost"},
		"one of two is lost, restarted": {[]nvdocker.GPU{card(0, nil), nameless}, false, 2, one,
			"GPU 0000:09:00.0 does not answer: GPU is lost", "free lost"},
		"a lost one that it was not given":  {[]nvdocker.GPU{card(0, nil), nameless}, false, 1, one, "", "free lost"},
		"the driver hangs, restarted":       {nil, true, 2, nil, hangs, ""},
		"the driver hangs":                  {nil, true, 1, []task.GPU{hung}, hangs, ""},
		"the driver hangs, and it has none": {nil, true, 0, nil, "", ""},
		"the instances of another":          {[]nvdocker.GPU{card(0, nil), split}, false, 1, one, "", "free excluded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := whole()
			o.Hosts[1].NVIDIA.GPUs = c.gpus
			if c.fault {
				o.Hosts[1].NVIDIA.Fault = &nvdocker.Problem{Cause: hangs, Remedy: "reboot"}
			}
			o.Hosts[1].Containers[0].GPUs = c.given
			o.Workers[0].GPUs = c.has
			var said []string
			for _, f := range o.Judge(nil, nil, nil) {
				said = append(said, f.What)
				if f.Host != "gpu2" || f.Remedy == "" {
					t.Errorf("%+v", f)
				}
			}
			if got := strings.Join(said, "\n"); got != c.want || o.Well != (c.want == "") {
				t.Errorf("well: %v, %q; want %q", o.Well, got, c.want)
			}
			text := strings.Join(o.Tables(0), "\n")
			if c.want != "" && strings.Contains(text, c.want) {
				t.Errorf("the tables have it, too:\n%s", text)
			}
			var states []string
			_, gpus, _ := strings.Cut(text, "\nHOST  GPU")
			gpus, _, _ = strings.Cut(gpus, "\n\n")
			for l := range strings.Lines(gpus) {
				if cells := strings.Fields(l); cells[0] == "gpu2" {
					states = append(states, cells[2])
				}
			}
			if got := strings.Join(states, " "); got != c.states {
				t.Errorf("states %q; want %q\n%s", got, c.states, text)
			}
		})
	}
}

// A GPU that was lost before its worker was started is a fault unless cluster.yml leaves it out.
func TestGPUsThatWereLostBeforeTheWorker(t *testing.T) {
	t.Parallel()
	for gpus, want := range map[string]string{
		"":     "gpu2: GPU 0000:09:00.0 does not answer: GPU is lost\n  reboot the host",
		"2":    "gpu2: GPU 0000:09:00.0 does not answer: GPU is lost\n  reboot the host",
		"0,1":  "gpu2: GPU 0000:09:00.0 does not answer: GPU is lost\n  reboot the host",
		"0":    "all is well",
		"none": "all is well",
	} {
		flags := map[string]string{"hosts": "gpu1,gpu2,gpu3", "master": "1", "workers": "2,3",
			"name": "c"}
		if gpus != "" {
			flags["gpus"] = gpus
		}
		s, err := site.ReadFrom(config.Source{File: filepath.Join(t.TempDir(), "cluster.yml"),
			Flags: flags}, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		o := whole()
		o.Hosts[1].NVIDIA.GPUs = []nvdocker.GPU{card(0, nil), card(nvdocker.Unknown,
			func(g *nvdocker.GPU) { g.UUID, g.Bus, g.Lost = "", "0000:09:00.0", "GPU is lost" })}
		o.Hosts[1].Containers[0].GPUs = 1
		o.Workers[0].GPUs = []task.GPU{device(0, 0, "")}
		s.NoteLostGPUs(o.Hosts)
		o.Judge(nil, nil, nil)
		if got := strings.Join(o.Verdict(0), "\n"); !strings.HasPrefix(got, want) ||
			o.Well != (want == "all is well") {
			t.Errorf("gpus: %q, well: %v\n%s", gpus, o.Well, got)
		}
	}
}

// Memory that no program seems to have may be that of a desktop: it is not to be reset blindly.
func TestMemoryOfDesktops(t *testing.T) {
	t.Parallel()
	o := whole()
	o.Hosts[1].NVIDIA.GPUs = []nvdocker.GPU{card(0, func(g *nvdocker.GPU) { g.Used = 6 << 30 })}
	o.Hosts[1].Containers[0].GPUs = 1
	o.Workers[0].GPUs = []task.GPU{device(0, 0, "busy: 6.0 GB in use")}
	if faults := o.Judge(nil, nil, nil); !o.Well {
		t.Errorf("%v", faults)
	}
	text := strings.Join(o.Tables(0), "\n")
	look, reset := strings.Index(text, "nvidia-smi on the host"), strings.Index(text, "--gpu-reset")
	if !strings.Contains(text, "gpu2  0    busy ") || look < 0 || look > reset ||
		!strings.Contains(text, "gpu2: GPU 0: 6.0 GB in use, by no program that computes") {
		t.Error(text)
	}
}

// The number of GPUs is there at 80 columns, also of workers that have some of them.
func TestNumberOfGPUsAt80Columns(t *testing.T) {
	t.Parallel()
	o := whole()
	o.Hosts[1].NVIDIA.GPUs = []nvdocker.GPU{card(0, nil), card(1, nil)}
	o.Hosts[1].Containers[0].GPUs = 1
	o.Workers[0].GPUs = []task.GPU{device(0, 0, "")}
	text := strings.Join(o.Tables(80), "\n")
	for _, want := range []string{" GPUS\n", " 1 of 2\n",
		"\ngpu2: its worker was given 1 of 2 GPUs: see gpus in cluster.yml\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q\n%s", want, text)
		}
	}
}

// An away worker has told of no GPUs: those of its host are as nvidia-smi tells them.
func TestGPUsOfAnAwayWorker(t *testing.T) {
	t.Parallel()
	o := whole()
	o.Hosts[1].Containers[0].GPUs = 2
	o.Workers[0] = worker("gpu2", core.WorkerAway)
	o.Workers[0].GPUs = []task.GPU{device(0, 1, ""), device(1, 0, "long ago")}
	o.Hosts[1].NVIDIA.GPUs = []nvdocker.GPU{card(0, nil), card(1, usedBy("ben"))}
	text := strings.Join(o.Tables(0), "\n")
	for _, want := range []string{"gpu2  0    free ", "gpu2  1    busy "} {
		if !strings.Contains(text, want) || strings.Contains(text, "long ago") {
			t.Errorf("it lacks %q, or has what the worker told\n%s", want, text)
		}
	}
}

// GPUs with the same trouble have one line, however many they are.
func TestGPUsWithTheSameTrouble(t *testing.T) {
	t.Parallel()
	w := worker("gpu2", core.WorkerReady)
	for i := range 10 {
		w.GPUs = append(w.GPUs, device(i, 0, "busy: ben"))
	}
	w.GPUs = append(w.GPUs, device(10, 0, "busy: eve"))
	want := []string{"gpu2: GPU-0, GPU-1, GPU-2, GPU-3, GPU-4, GPU-5, GPU-6, GPU-7 and 2 more " +
		"are not given to tasks: busy: ben", "gpu2: GPU-10 is not given to tasks: busy: eve"}
	if diff := cmp.Diff(want, site.GPUsKept(w)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What a worker makes up fills no terminal, and hides none that is broken.
func TestGPUsThatAreMadeUp(t *testing.T) {
	t.Parallel()
	w := worker("gpu2", core.WorkerReady)
	for i := range 1000 {
		w.GPUs = append(w.GPUs, device(i, 0, fmt.Sprint("why ", i, strings.Repeat("x", 1000))))
	}
	w.GPUs[999].Broken = true
	lines := site.GPUsKept(w)
	if len(lines) != 9 || !strings.HasPrefix(lines[0], "gpu2: GPU-999 is not given") ||
		!strings.HasSuffix(lines[8], " and 984 more are not given to tasks: for other reasons: "+
			"run-tasks workers show gpu2 --json") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > 400 {
			t.Errorf("%d characters: %s", utf8.RuneCountInString(l), l)
		}
	}
	if n := site.WorkerGPUs(w).Len(); n != task.MaxShownGPUs+1 {
		t.Errorf("the table has %d lines", n)
	}
}

// A worker that cannot list its GPUs says why.
func TestGPUsThatCannotBeListed(t *testing.T) {
	t.Parallel()
	o := whole()
	o.Hosts[1].NVIDIA.GPUs = []nvdocker.GPU{card(0, nil)}
	o.Hosts[1].Containers[0].GPUs = 1
	o.Workers[0].GPUFault = ptr("Failed to initialize NVML: Unknown Error")
	faults := o.Judge(nil, nil, nil)
	if len(faults) != 1 || faults[0].What != "its worker cannot list the GPUs that it was given: "+
		"Failed to initialize NVML: Unknown Error" || faults[0].Remedy == "" {
		t.Errorf("%+v", faults)
	}
	want := []string{"gpu2: its GPUs cannot be listed: Failed to initialize NVML: Unknown Error"}
	if diff := cmp.Diff(want, site.GPUsKept(o.Workers[0])); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
