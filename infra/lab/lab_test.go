package lab_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"mlframework/infra/lab"
)

// ssh runs a command on a host by the command ssh, as a person would: by the lab's configuration,
// at the host's name or at an address.
func ssh(t *testing.T, l *lab.Lab, user, at string, command ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("NOT TESTED: ssh is missing (Debian, Ubuntu: apt-get install openssh-client)")
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	args := []string{"-F", l.SSHConfig, "-o", "BatchMode=yes", "-o", "ConnectTimeout=30", "-l",
		user}
	if host, port, err := net.SplitHostPort(at); err == nil {
		args, at = append(args, "-p", port), host
	}
	out, err := exec.CommandContext(ctx, "ssh", append(append(args, at),
		command...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func TestHostsAreMachines(t *testing.T) {
	t.Parallel()
	l := lab.Start(t, lab.Options{Hosts: 2, Shared: true})
	for _, h := range l.Hosts {
		for _, tt := range []struct {
			name, user, command, want string
		}{
			{"their own name", "anna", "hostname", h.Name},
			{"a Docker of their own", "anna", "docker info -f '{{.Name}}'", h.Name},
			{"a Docker for ben", "ben", "docker info -f '{{.Name}}'", h.Name},
			{"no root for anna", "anna", "sudo -n id -u 2>/dev/null || echo no", "no"},
			{"no Docker for carl", "carl", "docker ps >/dev/null 2>&1 || echo no", "no"},
			{"root for carl", "carl", "sudo -n id -u", "0"},
			{"root by key", "root", "id -u", "0"},
			{"the others by name", "anna", "getent hosts " + l.Hosts[0].Name + " " +
				l.Hosts[1].Name + " | wc -l", "2"},
		} {
			if got, _ := ssh(t, l, tt.user, h.Name, tt.command); got != tt.want {
				t.Errorf("%s has %s: got %q, want %q", h.Name, tt.name, got, tt.want)
			}
		}
	}
	internal, err := exec.CommandContext(t.Context(), "docker", "network", "inspect", "-f",
		"{{.Internal}}", l.Network).CombinedOutput()
	if err != nil || strings.TrimSpace(string(internal)) != "true" {
		t.Errorf("the network leads out of the lab: %s, %v", internal, err)
	}
}

func TestContainersRunFromImagesThatWereLoaded(t *testing.T) {
	t.Parallel()
	l := lab.Start(t, lab.Options{})
	l.Hosts[0].DropImages(t)
	image := l.Load(t, "training")[0]
	got, err := ssh(t, l, "anna", l.Hosts[0].Name,
		"docker run --rm --network none -m 256m --user 1001 "+image+" python3 -c 'import numpy; "+
			"print(numpy.arange(4).sum())'")
	if err != nil || got != "6" {
		t.Errorf("got %q, %v; want 6", got, err)
	}
	if again := l.Load(t, image)[0]; again != image {
		t.Errorf("loaded by its name %s it is %s", image, again)
	}
}

func TestHostsPushToTheRegistryAndPullFromIt(t *testing.T) {
	t.Parallel()
	l := lab.Start(t, lab.Options{Hosts: 2})
	if l.Registry == "" {
		t.Skip("NOT TESTED: this lab has no registry (scripts/lab up NAME --registry)")
	}
	image := l.Registry + "/small"
	l.Hosts[0].Exec(t, "sh", "-c", "tar -c -C / etc/hostname | docker import - "+image+
		" && docker push "+image)
	l.Hosts[1].Exec(t, "docker", "pull", image)
}

func TestHostsAreEmptyAfterATest(t *testing.T) {
	t.Parallel()
	var before string
	t.Run("one", func(t *testing.T) {
		l := lab.Start(t, lab.Options{})
		h := l.Hosts[0]
		before = h.Exec(t, "cat", "/etc/ssh/ssh_host_ed25519_key.pub")
		h.Exec(t, "docker", "volume", "create", "left")
		h.Exec(t, "docker", "network", "create", "left")
		h.Exec(t, "touch", "/home/anna/left", "/home/anna/.left")
		h.ChangeHostKeys(t)
		h.Loss(t, 0.5)
		h.Cut(t)
		h.Freeze(t)
	})
	l := lab.Start(t, lab.Options{Hosts: 3})
	found := false
	for _, h := range l.Hosts {
		if got := h.Exec(t, "sh", "-c", "ls -A /home/anna; docker volume ls -q; docker network "+
			"ls -q -f name=left; iptables -S INPUT"); strings.Contains(got, "left") ||
			strings.Contains(got, "DROP") {
			t.Errorf("%s was not made empty: %s", h.Name, got)
		}
		found = found || h.Exec(t, "cat", "/etc/ssh/ssh_host_ed25519_key.pub") == before
		if got, err := ssh(t, l, "anna", h.Name, "echo here"); err != nil {
			t.Errorf("%s does not answer: %s", h.Name, got)
		}
	}
	if !found {
		t.Error("the host did not get its keys back")
	}
}

func TestLabsLiveBesideEachOtherAndLeaveNothing(t *testing.T) {
	l := lab.Start(t, lab.Options{Shared: true})
	name := l.Name + "-two"
	script := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "../../scripts/lab", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("scripts/lab %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	script("up", name, "--hosts", "1")
	defer exec.Command("../../scripts/lab", "down", name).Run()
	if again := script("up", name, "--hosts", "1"); !strings.Contains(again, "host1") {
		t.Errorf("up again: %s", again)
	}
	t.Setenv("MLFRAMEWORK_LAB", name)
	other := lab.Start(t, lab.Options{Shared: true})
	if other.Hosts[0].Address == l.Hosts[0].Address || other.Network == l.Network {
		t.Errorf("two labs have the address %s", l.Hosts[0].Address)
	}
	script("down", name)
	for _, kind := range [][]string{{"ps", "-a"}, {"volume", "ls"}, {"network", "ls"}} {
		out, err := exec.CommandContext(t.Context(), "docker", append(kind, "-q", "--filter",
			"label=mlframework-lab="+name)...).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("docker %v after down: %s, %v", kind, out, err)
		}
	}
	if _, err := os.Stat(other.Key); !os.IsNotExist(err) {
		t.Errorf("the key is there after down: %v", err)
	}
}
