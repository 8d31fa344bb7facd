package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mlframework/nvdocker"
)

// supported are the releases of distributions whose packages and names are known here.
var supported = []string{"ubuntu 22.04", "ubuntu 24.04", "debian 12", "debian 13"}

// architectures are those that NVIDIA has packages of the toolkit for, as uname names them.
var architectures = []string{"x86_64", "aarch64"}

// guide is where a person finds what this package does not do.
const guide = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html"

// hardware is why a host is not one to install anything on.
func (m *maker) hardware() *nvdocker.Problem {
	f := m.f
	switch {
	case f.OS != "Linux":
		return &nvdocker.Problem{Cause: "it runs " + f.OS +
			", and containers reach NVIDIA GPUs on Linux only", Remedy: "name a host with Linux"}
	case len(f.Cards) == 0 && len(f.GPU.GPUs) == 0 && f.GPU.Fault == nil:
		return &nvdocker.Problem{Cause: "it has no NVIDIA GPU on its PCI bus",
			Remedy: "leave it out; if it has a card, look at its seat and power (lspci -d " +
				"10de:), and at the passthrough of a virtual machine"}
	case len(f.GPU.GPUs) == 0 && f.Driver && f.GPU.Fault != nil:
		return f.GPU.Fault // a driver is never replaced
	case len(f.GPU.GPUs) == 0 && f.Driver:
		return &nvdocker.Problem{Cause: "its NVIDIA driver lists no GPU",
			Remedy: "look at dmesg | grep NVRM there"}
	}
	return nil
}

// distribution is why nothing can be installed on a host.
func (m *maker) distribution() *nvdocker.Problem {
	f := m.f
	switch {
	case !slices.Contains(supported, f.ID+" "+f.Version):
		return &nvdocker.Problem{Cause: fmt.Sprintf("it runs %s, for which this program knows "+
			"no packages (it knows Ubuntu 22.04 and 24.04, Debian 12 and 13)",
			cmp.Or(f.System, "an unknown distribution")),
			Remedy: "install the NVIDIA container toolkit by hand: " + guide}
	case !slices.Contains(architectures, f.Arch):
		return &nvdocker.Problem{Cause: "NVIDIA has no container toolkit for its processor, " +
			f.Arch, Remedy: "name a host with x86_64 or aarch64"}
	}
	return nil
}

// may is why the planned steps must not or cannot be done.
func (m *maker) may() *nvdocker.Problem {
	if problem := m.distribution(); problem != nil {
		return problem
	}
	if !m.f.Root {
		return &nvdocker.Problem{Cause: m.f.User +
			" is not root there, and sudo asks for a password",
			Remedy: "log in as root (root@HOST), or let an administrator allow it: echo '" +
				m.f.User +
				" ALL=(ALL) NOPASSWD: ALL' | sudo tee /etc/sudoers.d/" + m.f.User}
	}
	return nil
}

// docker is why a host's Docker cannot be told of GPUs. It reads daemon.json.
func (m *maker) docker() (problem *nvdocker.Problem) {
	f := m.f
	switch {
	case f.Docker.Snap() || strings.HasPrefix(f.Client, "/snap/"):
		return nvdocker.Supports(nvdocker.Docker{Root: "/var/snap/"}).Problem
	case f.Client == "" && f.Daemon != "":
		return &nvdocker.Problem{Cause: "it has dockerd, and not the command docker",
			Remedy: "install that: sudo apt-get install docker-cli"}
	case f.Client == "":
		return &nvdocker.Problem{Cause: "it has no Docker",
			Remedy: "install it first: https://docs.docker.com/engine/install/"}
	case f.Docker.Version == "" && !f.Root && strings.Contains(f.DockerError, "permission denied"):
		return &nvdocker.Problem{Cause: f.User +
			" may not use Docker there, and sudo asks for a password",
			Remedy: "log in as root (root@HOST)"}
	case f.Docker.Version == "":
		return &nvdocker.Problem{Cause: "its Docker does not answer: " + cmp.Or(f.DockerError,
			"no reason given"), Remedy: "start it: sudo systemctl start docker"}
	case f.Docker.Rootless:
		return &nvdocker.Problem{Cause: "its Docker runs without root (rootless), and has a " +
			"configuration in the user's home",
			Remedy: "set it up by hand, as " + guide + " has it under rootless mode"}
	}
	var err error
	if m.config, err = readConfig(f.Config); err != nil {
		return &nvdocker.Problem{Cause: configFile + " cannot be read: " + err.Error(),
			Remedy: "repair it (dockerd --validate --config-file=" + configFile +
				" checks it); nothing was changed"}
	}
	return nil
}

// driver plans the driver of a host that has none. What comes after it needs the driver in the
// kernel.
func (m *maker) driver() (Plan, *nvdocker.Problem) {
	f := m.f
	if !m.o.Driver {
		return Plan{}, &nvdocker.Problem{Cause: "there is no driver for its NVIDIA GPU (" +
			strings.Join(f.Cards, ", ") + ")",
			Remedy: "--driver installs that of the distribution"}
	}
	if f.SecureBoot && f.ID == "debian" { // Ubuntu has modules that are signed
		return Plan{},
			&nvdocker.Problem{Cause: "Secure Boot is on, and keeps a module of the driver that " +
				"is built on the host from being loaded",
				Remedy: "turn Secure Boot off in the firmware, or install the driver at the host " +
					"and enrol its key: mokutil --import, then reboot"}
	}
	if problem := m.may(); problem != nil {
		return Plan{}, problem
	}
	script := quiet + aptGet("update") + "\n" + aptGet("install -y ubuntu-drivers-common") +
		"\nubuntu-drivers install"
	if f.ID == "debian" {
		if !slices.Contains(f.Candidates, "nvidia-driver") {
			return Plan{}, &nvdocker.Problem{Cause: "its apt has no package nvidia-driver",
				Remedy: "add contrib, non-free and non-free-firmware to the components of its " +
					"Debian source in /etc/apt, run apt-get update, and try again"}
		}
		script = quiet + aptGet("install -y linux-headers-$(uname -r) nvidia-driver nvidia-smi")
	}
	if f.Unfinished {
		m.add(Step{ID: "dpkg", Title: "finish what dpkg was interrupted in",
			Script: quiet + "dpkg --configure -a"})
	}
	m.add(Step{ID: "driver", Title: "install the NVIDIA driver of " + f.System, Script: script})
	m.plan.Left = "reboot the host, so that it loads the driver, and run nvdocker-install again " +
		"for the rest"
	return m.plan, nil
}
