package nvdocker

import (
	"strings"
	"testing"
)

// kernelLog is lines as drivers of several generations write them.
const kernelLog = `[  179.437933] NVRM: Xid (PCI:0000:01:00): 32, Channel ID 00000005 intr 00008000
May 18 19:02:39 host kernel: NVRM: Xid (PCI:0000:2b:00): 79, GPU has fallen off the bus.
[12345.678901] NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.
NVRM: Xid (PCI:00000000:3B:00.0): 119, pid=4021, name=python, Timeout after 6s of waiting for RPC response from GPU0 GSP!
NVRM: Xid (43, pid: 5678): no place
NVRM: Xid (PCI:0000:3b:00): 31, pid=99, name=python, Ch 00000008, intr 10000000. MMU Fault
`

func TestXids(t *testing.T) {
	all := Xids(kernelLog)
	if len(all) != 5 || all[1] != (Xid{"0000:2b:00", 79, "GPU has fallen off the bus."}) ||
		all[3].Bus != "0000:3b:00" || all[3].Code != 119 {
		t.Errorf("%+v", all)
	}
}

func TestHealth(t *testing.T) {
	well := GPU{Index: 2, Bus: "0000:3b:00.0", Memory: 24 << 30, Used: 100 << 20, Errors: Unknown}
	change := func(f func(g *GPU)) GPU {
		g := well
		f(&g)
		return g
	}
	for _, c := range []struct {
		name string
		gpu  GPU
		log  string
		want string
	}{
		{"well", well, "", ""},
		{"faults of programs", well, "NVRM: Xid (PCI:0000:3b:00): 31, pid=99\nNVRM: Xid " +
			"(PCI:0000:3b:00): 13, x", ""},
		{"another's fault", well, "NVRM: Xid (PCI:0000:2b:00): 79, GPU has fallen off the bus.",
			""},
		{"its processor", well, kernelLog, "GPU 2: its system processor (GSP) does not answer " +
			"(Xid 119)"},
		{"reset by its index", well, "NVRM: Xid (PCI:0000:3b:00): 95, x",
			"GPU 2: its memory has an error that reached other programs (Xid 95): reset it (sudo " +
				"nvidia-smi --gpu-reset -i 2)"},
		{"to be reset", well, "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from " +
			"0x0 (None) to 0x1 (GPU Reset Required)", "GPU 2: it has to be reset (Xid 154)"},
		{"was reset", well, "NVRM: Xid (PCI:0000:3b:00): 95, x\n" +
			"NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 " +
			"(GPU Reset Required)\nNVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed " +
			"from 0x1 (GPU Reset Required) to 0x0 (None)", ""},
		{"another was reset", well, "NVRM: Xid (PCI:0000:3b:00): 95, x\n" +
			"NVRM: Xid (PCI:0000:2b:00): 154, GPU recovery action changed from 0x1 (GPU Reset " +
			"Required) to 0x0 (None)",
			"GPU 2: its memory has an error that reached other programs (Xid 95)"},
		{"failed after its reset", well, "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action " +
			"changed from 0x1 (GPU Reset Required) to 0x0 (None)\nNVRM: Xid (PCI:0000:3b:00): 95, x", "GPU 2: its memory has an error that reached other programs (Xid 95)"},
		{"lost", change(func(g *GPU) { g.Lost, g.Index = "GPU is lost", Unknown }), "",
			"GPU 0000:3b:00.0 does not answer: GPU is lost: reboot the host"},
		{"errors", change(func(g *GPU) { g.Errors = 3 }), "",
			"GPU 2: its memory had 3 uncorrected errors (ECC)"},
		{"a desktop's memory", change(func(g *GPU) { g.Used = 6 << 30 }), "", ""},
		{"a program's memory", change(func(g *GPU) {
			g.Used, g.Processes = 6<<30, []Process{{PID: 1, Memory: Unknown}}
		}), "", ""},
		{"a split one's memory", change(func(g *GPU) { g.Used, g.MIG = 6<<30, true }), "", ""},
	} {
		var said []string
		for _, p := range Health(c.gpu, Xids(c.log)) {
			if p.Remedy == "" {
				t.Errorf("%s: no remedy for %s", c.name, p.Cause)
			}
			said = append(said, p.Error())
		}
		if text := strings.Join(said, "\n"); (text == "") != (c.want == "") ||
			!strings.HasPrefix(text, c.want) || len(said) > 1 {
			t.Errorf("%s: %q", c.name, said)
		}
	}
}

func TestFreeAndBusy(t *testing.T) {
	g := GPU{Used: 600 << 20}
	if !g.Free(Idle) || g.Busy() != "" {
		t.Error("a GPU that only a desktop uses is not free")
	}
	g.Used = 1200 << 20
	if g.Free(Idle) {
		t.Error("a GPU with 1.2 GB in use is free")
	}
	few := []Process{{PID: 411, Memory: 500 << 20}}
	if !(GPU{Used: 600 << 20, Processes: few}).Free(Idle) {
		t.Error("a program that takes little memory counts")
	}
	few = append(few, Process{PID: 412, Memory: 600 << 20})
	if (GPU{Used: Unknown, Processes: few}).Free(Idle) {
		t.Error("where the driver tells the memory of programs alone, theirs does not count")
	}
	g.Processes = []Process{{PID: 411, User: "ben", Name: "/usr/bin/python", Memory: 6 << 30},
		{PID: 412, Name: "a", Memory: Unknown}}
	if got := g.Busy(); got != "ben, python (pid 411), 6.0 GB; a (pid 412)" {
		t.Error(got)
	}
	if (GPU{Lost: "GPU is lost"}).Free(Idle) {
		t.Error("a lost GPU is free")
	}
}

// Messages as programs print them, and the words that their explanations have.
func TestExplain(t *testing.T) {
	for message, want := range map[string]string{
		"Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.133":         "reboot",
		"NVRM: API mismatch: client version 570.133.07, kernel module version 570.124.06":                   "reboot",
		`docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].`: "nvdocker-install",
		`Error response from daemon: could not select device driver "nvidia" with capabilities: [[gpu]]`:    "nvdocker-install",
		`docker: Error response from daemon: could not select device driver "cdi" with capabilities: [].`:   `"cdi": true`,
		"stderr: nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown":        "driver is not loaded",
		"nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: " +
			"cannot open shared object file": "driver is not loaded",
		"nvidia-container-cli: device error: GPU-1: unknown device": "nvidia-smi -L",
		"nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6, please " +
			"update your driver": "newer CUDA",
		"Error 803: system has unsupported display driver / cuda driver combination": "newer CUDA",
		"CUDA driver version is insufficient for CUDA runtime version":               "newer CUDA",
		"error modifying OCI spec: failed to inject CDI devices: unresolvable CDI devices " +
			"nvidia.com/gpu=all: unknown.": "nvidia-ctk cdi generate",
		"CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=0":       "nvidia-ctk cdi generate",
		"Failed to initialize NVML: Unknown Error":                                     "lost its GPUs",
		"Failed to initialize NVML: Insufficient Permissions":                          "/dev/nvidia",
		"docker: Error response from daemon: unknown or invalid runtime name: nvidia.": "runtime nvidia",
		"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure " +
			"that the latest NVIDIA driver is installed": "modprobe nvidia",
		"No devices were found": "finds no GPU",
		"Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost. Reboot the " +
			"system to recover this GPU": "fallen off the bus",
		"RuntimeError: No CUDA GPUs are available":                                "CUDA_VISIBLE_DEVICES",
		"Error 802: system not yet initialized":                                   "nvidia-fabricmanager",
		"NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.":        "libnvidia-ml.so",
		"modprobe: ERROR: could not insert 'nvidia': Key was rejected by service": "Secure Boot",
		"could not insert 'nvidia': Required key not available":                   "Secure Boot",
		"nvidia-container-cli: mount error: failed to add device rules: unable to find any " +
			"existing device filters attached to the cgroup: bpf_prog_query(BPF_CGROUP_DEVICE) " +
			"failed": "CDI",
	} {
		p := Explain(message)
		if p == nil || !strings.Contains(p.Error(), want) &&
			!strings.Contains(strings.ReplaceAll(p.Error(), "has lost", "lost"), want) {
			t.Errorf("%s\n%v", message, p)
		}
	}
	if p := Explain("ValueError: shapes do not match"); p != nil {
		t.Errorf("%v", p)
	}
}

func TestSupports(t *testing.T) {
	for _, c := range []struct {
		name   string
		docker Docker
		way    Way
		want   string
	}{
		{"it lists the devices", Docker{Version: "28.2.2", SpecDirs: []string{"/etc/cdi"},
			Discovered: []string{"nvidia.com/gpu=0"}, Runtimes: []string{"runc", "nvidia"}}, ByCDI,
			""},
		{"it lists none", Docker{Version: "28.2.2", SpecDirs: []string{"/etc/cdi"},
			Runtimes: []string{"runc", "nvidia"}, Toolkit: "1.17.8",
			Specs: []string{"/etc/cdi/nvidia.yaml"}}, ByRequest, ""},
		{"CDI with the switch", Docker{Version: "26.1.5", SpecDirs: []string{"/etc/cdi"},
			Toolkit: "1.17.8", Specs: []string{"/etc/cdi/nvidia.yaml"}}, ByCDI, ""},
		{"the switch, and no specification", Docker{Version: "26.1.5",
			SpecDirs: []string{"/etc/cdi"}, Toolkit: "1.17.8"}, ByNone,
			"there is no CDI specification"},
		{"an old engine", Docker{Version: "20.10.24+dfsg1", Runtimes: []string{"runc", "nvidia"},
			Toolkit: "1.13.5"}, ByRequest, ""},
		{"not restarted", Docker{Version: "24.0.7", Runtimes: []string{"runc"}, Toolkit: "1.17.8"},
			ByNone, "is not known to Docker"},
		{"the hook, and no runtime", Docker{Version: "26.1.5", Runtimes: []string{"runc"},
			Toolkit: "1.17.8", Hook: true}, ByRequest, ""},
		{"no toolkit", Docker{Version: "28.2.2", SpecDirs: []string{"/etc/cdi"},
			Runtimes: []string{"runc"}}, ByNone, "toolkit is not installed"},
		{"snap", Docker{Version: "28.1.1", Root: "/var/snap/docker/common/var-lib-docker",
			Runtimes: []string{"nvidia"}}, ByNone, "snap"},
	} {
		s := Supports(c.docker)
		if s.Way != c.way || (s.Problem == nil) != (c.way != ByNone) || s.Problem != nil &&
			!strings.Contains(s.Problem.Error(), c.want) {
			t.Errorf("%s: %+v %v", c.name, s.Way, s.Problem)
		}
	}
}

// Advice names only what there is: the toolkit is updated by apt, and workers have no GPUs to look
// for.
func TestAdvice(t *testing.T) {
	for message, not := range map[string]string{
		"nvidia-container-cli: mount error: x": "nvdocker-install does",
		"no CUDA-capable device is detected":   "gpus:",
		"unresolvable CDI devices":             "anew",
	} {
		if p := Explain(message); p == nil || strings.Contains(p.Remedy, not) {
			t.Errorf("%s: %v", message, p)
		}
	}
	if p := Explain("nvidia-container-cli: mount error: x"); !strings.Contains(p.Remedy,
		"apt-get install --only-upgrade nvidia-container-toolkit") {
		t.Error(p)
	}
}
