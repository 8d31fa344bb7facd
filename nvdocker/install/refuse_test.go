package install_test

import (
	"strings"
	"testing"

	"mlframework/nvdocker"
	"mlframework/nvdocker/install"
)

// TestRefusals has why a host gets no plan, and what to do instead.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*install.Facts)
		driver bool
		cause  string
		remedy string
	}{
		"mac": {func(f *install.Facts) { f.OS = "Darwin" }, false, "it runs Darwin",
			"a host with Linux"},
		"no GPU": {func(f *install.Facts) {
			f.Cards, f.GPU, f.Driver = nil, nvdocker.Report{}, false
		}, false, "no NVIDIA GPU on its PCI bus", "leave it out"},
		"fedora": {func(f *install.Facts) {
			f.ID, f.Version, f.System = "fedora", "42", "Fedora Linux 42"
		}, false, "Fedora Linux 42", "by hand: https://"},
		"old ubuntu": {func(f *install.Facts) { f.Version = "20.04" }, false,
			"knows no packages", "by hand"},
		"riscv": {func(f *install.Facts) { f.Arch = "riscv64" }, false, "riscv64",
			"x86_64 or aarch64"},
		"no sudo": {func(f *install.Facts) { f.Root = false }, false,
			"anna is not root there, and sudo asks for a password", "root@HOST"},
		"no docker": {func(f *install.Facts) { f.Client, f.Docker = "", nvdocker.Docker{} },
			false, "it has no Docker", "docs.docker.com"},
		"no client": {func(f *install.Facts) {
			f.Client, f.Daemon, f.Docker = "", "/usr/sbin/dockerd", nvdocker.Docker{}
		}, false, "not the command docker",
			"docker-cli"},
		"docker is down": {func(f *install.Facts) {
			f.Docker, f.DockerError = nvdocker.Docker{}, "Cannot connect"
		}, false, "does not answer: Cannot connect", "systemctl start docker"},
		"no docker for the user": {func(f *install.Facts) {
			f.Root, f.Docker, f.DockerError = false, nvdocker.Docker{},
				"permission denied while trying to connect"
		}, false, "may not use Docker", "root@HOST"},
		"snap": {func(f *install.Facts) { f.Docker.Root = "/var/snap/docker/common" }, false,
			"the snap", "snap remove docker"},
		"rootless": {func(f *install.Facts) { f.Docker.Rootless = true }, false, "rootless",
			"by hand"},
		"config": {func(f *install.Facts) { f.Config = []byte("{ // mine\n}") }, false,
			"daemon.json cannot be read: invalid character", "nothing was changed"},
		"features": {func(f *install.Facts) { f.Config = []byte(`{"features": []}`) }, false,
			"daemon.json cannot be read", "repair it"},
		"array": {func(f *install.Facts) { f.Config = []byte(`null`) }, false,
			"it holds no object", "repair it"},
		"no driver": {func(f *install.Facts) {
			f.Driver, f.GPU = false, nvdocker.Report{Fault: &nvdocker.Problem{Cause: "none"}}
		}, false,
			"there is no driver for its NVIDIA GPU (0000:3b:00.0", "--driver installs"},
		"sick driver": {func(f *install.Facts) {
			f.GPU = nvdocker.Report{Fault: &nvdocker.Problem{Cause: "it hangs", Remedy: "reboot"}}
		}, true, "it hangs", "reboot"},
		"secure boot": {func(f *install.Facts) {
			f.Driver, f.GPU, f.SecureBoot = false, nvdocker.Report{}, true
		}, true, "Secure Boot is on", "mokutil --import"},
		"driver without non-free": {func(f *install.Facts) {
			f.Driver, f.GPU = false, nvdocker.Report{}
		}, true,
			"its apt has no package nvidia-driver", "non-free-firmware"},
	} {
		f := host("debian", "12", "27.5.1")
		c.change(&f)
		plan, problem := install.Make(f, install.Options{Driver: c.driver})
		if problem == nil || len(plan.Steps) > 0 || !strings.Contains(problem.Cause, c.cause) ||
			!strings.Contains(problem.Remedy, c.remedy) {
			t.Errorf("%s: %+v, %v", name, plan, problem)
		}
	}
}

// TestSecureBoot refuses a driver whose module is built on the host, and no other: Ubuntu has
// modules that are signed.
func TestSecureBoot(t *testing.T) {
	t.Parallel()
	f := bare("ubuntu", "24.04")
	f.SecureBoot = true
	plan, problem := install.Make(f, install.Options{Driver: true})
	if problem != nil || len(plan.Steps) != 1 || plan.Steps[0].ID != "driver" {
		t.Errorf("Ubuntu: %+v, %v", plan, problem)
	}
}
