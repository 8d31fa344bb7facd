package infra_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mlframework/config"
	"mlframework/infra"
	"mlframework/infra/plan"
)

// smi is a program in place of nvidia-smi, for a host with two GPUs.
const smi = `#!/bin/sh
case "$*" in
--query-gpu=*)
	echo "0, GPU-b, NVIDIA L4, 00000000:03:00.0, 570.133.07, 23034, 4, 0, 41, Enabled, 0, [N/A]"
	echo "1, GPU-a, NVIDIA L4, 00000000:04:00.0, 570.133.07, 23034, 4, 0, 41, Enabled, 0, [N/A]"
	;;
--query-compute-apps=* | -L) ;;
*) echo "| NVIDIA-SMI 570.133.07   Driver Version: 570.133.07   CUDA Version: 12.8 |" ;;
esac
`

// gpuHosts are hosts of which the second has two GPUs, which its worker is to get.
func gpuHosts(t *testing.T) (*fakeHosts, infra.Request) {
	t.Helper()
	if _, err := os.Stat("/proc/driver/nvidia"); err == nil {
		t.Skip("NOT TESTED: this machine has GPUs of its own")
	}
	f := newHosts(t, "gpu1", "gpu2")
	bin := filepath.Join(f.hosts["gpu2"].home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte(smi), 0o700); err != nil {
		t.Fatal(err)
	}
	r := f.request("gpu1", "gpu2")
	r.Hosts[1].Work.GPUs, r.Hosts[1].Work.Slots = config.GPUs{}, 2
	return f, r
}

// worker returns what the engine of the second host was told of its worker.
func (f *fakeHosts) worker() (devices string, env []string) {
	f.t.Helper()
	c := f.hosts["gpu2"].engine.containers["mlframework-c-worker"]
	if c == nil {
		f.t.Fatal("there is no worker")
	}
	text, err := json.Marshal(c.Host["DeviceRequests"])
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text), c.Env
}

// A worker's container gets the GPUs that were found, as its engine hands them out, and stays when
// nothing has changed.
func TestWorkersGetGPUs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		info map[string]any
		want string
		void bool
	}{
		"by request": {map[string]any{"Runtimes": map[string]any{"nvidia": map[string]any{}}},
			`[{"Capabilities":[["gpu","compute","utility"]],"Count":0,` +
				`"DeviceIDs":["GPU-a","GPU-b"],"Driver":"nvidia","Options":null}]`, false},
		"by CDI": {map[string]any{"ServerVersion": "28.2.2", "CDISpecDirs": []string{"/etc/cdi"},
			"DiscoveredDevices": []any{
				map[string]string{"Source": "cdi", "ID": "nvidia.com/gpu=GPU-a"},
				map[string]string{"Source": "cdi", "ID": "nvidia.com/gpu=0"}}},
			`[{"Capabilities":null,"Count":0,"DeviceIDs":["nvidia.com/gpu=GPU-a",` +
				`"nvidia.com/gpu=0"],"Driver":"cdi","Options":null}]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, r := gpuHosts(t)
			f.hosts["gpu2"].engine.info = c.info
			if _, err := f.up(r); err != nil {
				t.Fatal(err)
			}
			devices, env := f.worker()
			if devices != c.want || c.void != slices.Contains(env, "NVIDIA_VISIBLE_DEVICES=void") {
				t.Errorf("it asks for\n%s and has %v, not\n%s", devices, env, c.want)
			}
			result, err := f.up(r)
			if err != nil || result.Plan.Changes {
				t.Errorf("again: %v: %+v", err, result.Plan.Steps)
			}
		})
	}
}

// A host whose engine cannot hand out its GPUs is refused before anything is changed; without GPUs
// it is a host like others.
func TestGPUsWithoutAToolkit(t *testing.T) {
	t.Parallel()
	f, r := gpuHosts(t)
	_, err := f.up(r)
	var problems plan.Problems
	const want = "Docker cannot pass 2 GPUs (NVIDIA L4) to containers: the NVIDIA container " +
		"toolkit is not installed"
	if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Host != "gpu2" ||
		problems[0].What != want || !strings.HasPrefix(problems[0].Remedy, "run nvdocker-install") {
		t.Errorf("%v", err)
	}
	if n := f.hosts["gpu1"].engine.changed() + f.hosts["gpu2"].engine.changed(); n > 0 {
		t.Errorf("%d changes", n)
	}
	r.Hosts[1].Work.GPUs.None = true
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	if devices, env := f.worker(); devices != "null" ||
		!slices.Contains(env, "NVIDIA_VISIBLE_DEVICES=void") {
		t.Errorf("it asks for %s and has %v", devices, env)
	}
}

// What an engine says that cannot hand out GPUs after all is explained.
func TestAWorkerThatDoesNotStartWithItsGPUs(t *testing.T) {
	t.Parallel()
	f, r := gpuHosts(t)
	e := f.hosts["gpu2"].engine
	e.info = map[string]any{"Runtimes": map[string]any{"nvidia": map[string]any{}}}
	e.refuses["mlframework-c-worker"] = `could not select device driver "nvidia" with ` +
		`capabilities: [[gpu compute utility]]`
	_, err := f.up(r)
	if err == nil || !strings.Contains(err.Error(),
		"Docker found no NVIDIA container toolkit when it started: run nvdocker-install") {
		t.Errorf("%v", err)
	}
}
