package install_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/nvdocker"
	"mlframework/nvdocker/install"
)

// TestParse reads what a host printed.
func TestParse(t *testing.T) {
	t.Parallel()
	text := `root yes
user anna
os Linux
arch x86_64
id ubuntu
version 24.04
system Ubuntu 24.04.1 LTS
card 0000:3b:00.0
smi yes
secureboot yes
docker /usr/bin/docker
info {"ServerVersion":"28.2.2","DockerRootDir":"/var/lib/docker","Runtimes":{"runc":{},"nvidia":{}},"CDISpecDirs":["/etc/cdi"],"DiscoveredDevices":[{"Source":"cdi","ID":"nvidia.com/gpu=0"}],"SecurityOptions":["name=seccomp,profile=builtin","name=rootless"],"LiveRestoreEnabled":true}
runs 1a web
config yes
daemon {
daemon   "mtu": 1400 }
sum 0f
toolkit 1.17.8
package ii 
unfinished yes
candidate nvidia-container-toolkit 1.17.8-1
candidate nvidia-driver (none)
source /etc/apt/sources.list.d/a.list
key ab
list deb x
lacks ca-certificates
spec /var/run/cdi/nvidia.yaml 
spec /etc/cdi/nvidia.yaml 570.133.07
done yes
`
	got, err := install.Parse([]byte(text), nvdocker.Report{Driver: "570.133.07"})
	want := install.Facts{User: "anna", Root: true, OS: "Linux", Arch: "x86_64", ID: "ubuntu",
		Version: "24.04", System: "Ubuntu 24.04.1 LTS",
		Cards: []string{"0000:3b:00.0"}, Driver: true, GPU: nvdocker.Report{Driver: "570.133.07"},
		SecureBoot: true, Client: "/usr/bin/docker",
		Docker: nvdocker.Docker{Version: "28.2.2", Runtimes: []string{"nvidia", "runc"},
			SpecDirs: []string{"/etc/cdi"}, Discovered: []string{"nvidia.com/gpu=0"},
			Rootless: true, Root: "/var/lib/docker", Toolkit: "1.17.8",
			Specs: []string{"/etc/cdi/nvidia.yaml", "/var/run/cdi/nvidia.yaml"}},
		Containers: []install.Container{{ID: "1a", Name: "web"}}, LiveRestore: true,
		Config: []byte("{\n  \"mtu\": 1400 }\n"), ConfigSum: "0f",
		Package: "ii", Unfinished: true, Candidates: []string{"nvidia-container-toolkit"},
		Sources: []string{"/etc/apt/sources.list.d/a.list"},
		Source:  "deb x\n", KeySum: "ab", Lacks: []string{"ca-certificates"},
		SpecDrivers: map[string]string{"/etc/cdi/nvidia.yaml": "570.133.07",
			"/var/run/cdi/nvidia.yaml": ""}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := install.Parse([]byte(strings.TrimSuffix(text, "done yes\n")),
		nvdocker.Report{}); err == nil {
		t.Error("half an output is taken for a whole one")
	}
}

// TestOldDocker has a command that ends well without an engine.
func TestOldDocker(t *testing.T) {
	t.Parallel()
	f, err := install.Parse([]byte(`docker /usr/bin/docker
info {"ServerErrors":["Cannot connect to the Docker daemon"]}
done yes
`), nvdocker.Report{})
	if err != nil || f.Docker.Version != "" ||
		f.DockerError != "Cannot connect to the Docker daemon" {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestScript asks this machine.
func TestScript(t *testing.T) {
	t.Parallel()
	program, arguments := install.Script(install.Options{})
	command := exec.CommandContext(t.Context(), "sh", append([]string{"-c", program, "sh"},
		arguments...)...)
	var complaints strings.Builder
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		t.Fatal(err, complaints.String())
	}
	f, err := install.Parse(output, nvdocker.Report{})
	if err != nil || f.User == "" || f.Arch == "" || runtime.GOOS == "linux" && f.OS != "Linux" ||
		complaints.Len() > 0 {
		t.Errorf("%+v, %v\n%s", f, err, complaints.String())
	}
}

// TestScriptFindsSpecs tells specifications of GPUs from those of other devices of NVIDIA's.
func TestScriptFindsSpecs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": "kind: nvidia.com/gpu\nx: libcuda.so.550.54.15\n",
		"b.json": `{"kind":"nvidia.com/gpu"}`,
		"c.yaml": "kind: management.nvidia.com/gpu\nx: libcuda.so.550.54.15\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program, arguments := install.Script(install.Options{})
	program = strings.NewReplacer("/etc/cdi", folder, "/var/run/cdi",
		folder+"/none").Replace(program)
	output, err := exec.CommandContext(t.Context(), "sh", append([]string{"-c", program, "sh"},
		arguments...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	f, err := install.Parse(output, nvdocker.Report{})
	want := map[string]string{folder + "/a.yaml": "550.54.15", folder + "/b.json": ""}
	if diff := cmp.Diff(want, f.SpecDrivers); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
