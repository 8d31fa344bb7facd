package nvdocker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fake puts a program nvidia-smi in front of PATH.
func fake(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script),
		0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestDetect(t *testing.T) {
	fake(t, `case "$*" in
--query-gpu=*) echo "0, GPU-3291dfa4-fcc4-0110-615b-c894a0d7c689, NVIDIA L4, 00000000:70:00.0, 550.54.15, 23034, 6000, 5, 41, Enabled, 0, [N/A]" ;;
-L) echo "GPU 0: NVIDIA L4 (UUID: GPU-3291dfa4-fcc4-0110-615b-c894a0d7c689)" ;;
--query-compute-apps=*) echo "GPU-3291dfa4-fcc4-0110-615b-c894a0d7c689, $PPID, 512, /opt/a, b" ;;
*) echo "| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |" ;;
esac`)
	r, err := Detect(t.Context(), 0)
	if err != nil || r.Fault != nil || r.CUDA != "12.4" || r.Driver != "550.54.15" ||
		len(r.GPUs) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if g := r.GPUs[0]; len(g.Processes) != 1 || g.Processes[0].Name != "/opt/a, b" ||
		g.Processes[0].Memory != 512<<20 || g.Free(Idle) {
		t.Errorf("%+v", g)
	}
}

// A driver of before 2020 does not know the field of split GPUs, and answers nothing when it is
// asked for it.
func TestDetectAsksOldDriversAgain(t *testing.T) {
	fake(t, `case "$*" in
*mig.mode*) echo 'Field "mig.mode.current" is not a valid field to query.'; exit 2 ;;
--query-gpu=*) echo "0, GPU-1, Tesla K80, 0000:05:00.0, 384.59, 11439, 0, 0, 40, Enabled, 0" ;;
esac`)
	r, err := Detect(t.Context(), 0)
	if err != nil || r.Fault != nil || len(r.GPUs) != 1 || r.GPUs[0].Name != "Tesla K80" {
		t.Fatalf("%+v, %v", r, err)
	}
}

// A driver that does not answer costs its limit, also where nothing ends nvidia-smi.
func TestDetectLeavesADriverThatHangs(t *testing.T) {
	for name, script := range map[string]string{
		"it can be ended":     "exec sleep 60",
		"it ignores SIGTERM":  "trap '' TERM; sleep 60",
		"it hangs further on": `case "$*" in --query-gpu=*) echo "0, GPU-1, L4, 0000:05:00.0, 550.1, 1, 0, 0, 40, Enabled, 0, [N/A]" ;; *) exec sleep 60 ;; esac`,
		"it cannot be ended":  "", // by a timeout that does not end anything
	} {
		t.Run(name, func(t *testing.T) {
			fake(t, script)
			if script == "" {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "timeout"),
					[]byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
					t.Fatal(err)
				}
				t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			}
			begin := time.Now()
			r, err := Detect(t.Context(), time.Second)
			if err != nil || (r.Fault == nil) != (name == "it hangs further on") {
				t.Errorf("%+v, %v", r, err)
			}
			// far below what the program takes
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// In a container that has some of its host's GPUs the others are not there, and not lost.
func TestGPUsOfOthersAreNotLost(t *testing.T) {
	const answer = `case "$*" in
--query-gpu=*) echo "0, GPU-1, NVIDIA L4, 00000000:01:00.0, 570.133.07, 23034, 4, 0, 41, Enabled, 0, [N/A]" ;;
esac`
	for name, c := range map[string]struct {
		devices, want string
	}{
		"the host":           {"nvidiactl nvidia0 nvidia1", "GPU-1 GPU-2 (lost)"},
		"a container":        {"nvidiactl nvidia0", "GPU-1"},
		"devices in no /dev": {"", "GPU-1 GPU-2 (lost)"}, // as with WSL
	} {
		t.Run(name, func(t *testing.T) {
			fake(t, answer)
			root := t.TempDir()
			for i, bus := range []string{"0000:01:00.0", "0000:02:00.0"} {
				dir := filepath.Join(root, "gpus", bus)
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf("Model: \t\t NVIDIA L4\nGPU UUID: \t GPU-%d\n"+
					"Device Minor: \t %d\n", i+1, i)
				if err := os.WriteFile(filepath.Join(dir, "information"), []byte(text),
					0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, device := range strings.Fields(c.devices) {
				if err := os.WriteFile(filepath.Join(root, device), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			program, arguments := Script(0)
			program = strings.NewReplacer("/proc/driver/nvidia/", root+"/", "/dev/nvidia",
				root+"/nvidia").Replace(program)
			out, err := exec.Command("sh", append([]string{"-c", program, "sh"},
				arguments...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, g := range Parse(out).GPUs {
				text := g.UUID
				if g.Lost != "" {
					text += " (lost)"
				}
				got = append(got, text)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}

func TestDetectEnds(t *testing.T) {
	fake(t, "exec sleep 60")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Detect(ctx, time.Minute); err != context.Canceled {
		t.Fatal(err)
	}
}

// The script runs in the shells that hosts have.
func TestScriptInShells(t *testing.T) {
	program, arguments := Script(1500 * time.Millisecond)
	if len(arguments) != 1 || arguments[0] != "2" {
		t.Errorf("%q", arguments)
	}
	fake(t, "echo No devices were found; exit 6")
	for _, shell := range [][]string{{"dash"}, {"bash"}, {"busybox", "sh"}} {
		if _, err := exec.LookPath(shell[0]); err != nil {
			t.Logf("%s is not here", shell[0])
			continue
		}
		out, err := exec.Command(shell[0], append(append(shell[1:], "-c", program, "sh"),
			arguments...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "gpu= 6\n") ||
			!strings.HasSuffix(string(out), "done yes\n") {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
}

// TestRealGPUs runs where there are some: what is detected agrees with what nvidia-smi prints by
// itself.
func TestRealGPUs(t *testing.T) {
	if out, err := exec.Command("nvidia-smi", "-L").CombinedOutput(); err != nil {
		t.Skipf("no GPU answers here: nvidia-smi -L: %v: %s", err, out)
	}
	r, err := Detect(t.Context(), 0)
	if err != nil || r.Fault != nil || len(r.GPUs) == 0 || r.Driver == "" || r.CUDA == "" {
		t.Fatalf("%+v, %v", r, err)
	}
	xml, err := exec.Command("nvidia-smi", "-q", "-x").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range r.GPUs {
		for _, want := range []string{"<uuid>" + g.UUID + "</uuid>", "<product_name>" + g.Name +
			"</product_name>"} {
			if !strings.Contains(string(xml), want) {
				t.Errorf("nvidia-smi -q -x has no %s", want)
			}
		}
		if g.Memory <= 0 || g.Used < 0 {
			t.Errorf("%+v", g)
		}
		t.Logf("%+v", g)
	}
}
