package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/infra/lab"
)

// smi stands in for the program of NVIDIA's driver, on a host and in containers that see its GPU.
const smi = `#!/bin/sh
case "$*" in
*--query-gpu=*) echo "0, GPU-67a571b1-79ee-1016-8ea3-c1fff3f1c1d2, NVIDIA L4, 00000000:3B:00.0, 570.133.07, 23034, 4, 0, 41, Enabled, 0, [N/A]" ;;
-L) echo "GPU 0: NVIDIA L4 (UUID: GPU-67a571b1-79ee-1016-8ea3-c1fff3f1c1d2)" ;;
*--query-compute-apps=*) ;;
*) echo "| NVIDIA-SMI 570.133.07   Driver Version: 570.133.07   CUDA Version: 12.8 |" ;;
esac
`

// equip gives the hosts a driver, and what a host has that a lab's lacks: a service that restarts
// Docker. Both go with the test, and so does what it has installed.
func equip(t *testing.T, l *lab.Lab) {
	t.Helper()
	t.Cleanup(func() {
		l.Each(t, func(_ int, h *lab.Host) {
			uninstall(t, h)
			h.Exec(t, "sh", "-ec", `rm -r /usr/bin/nvidia-smi /etc/docker/daemon.json.test
				docker ps -aq | xargs -r docker rm -f >/dev/null
				docker image rm -f tiny >/dev/null
				service docker restart
				mv /etc/init.d/docker.test /etc/init.d/docker
				lab-host ready`)
		})
	})
	l.Each(t, func(_ int, h *lab.Host) {
		h.Exec(t, "sh", "-ec", `cp -p /etc/docker/daemon.json /etc/docker/daemon.json.test
		mv /etc/init.d/docker /etc/init.d/docker.test
		cat >/etc/init.d/docker <<'END'
#!/bin/sh
pid=$(cat /run/docker.pid)
kill "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
END
		chmod 755 /etc/init.d/docker
		cat >/usr/bin/nvidia-smi <<'END'
`+smi+`END
		chmod 755 /usr/bin/nvidia-smi
		tar -C / -ch $(ldd /bin/sh | grep -o '/[^ ]*') bin/sh 2>/dev/null | docker import - tiny >/dev/null`)
	})
}

// uninstall takes away what the command has installed and written, and leaves Docker running.
func uninstall(t *testing.T, h *lab.Host) {
	t.Helper()
	h.Exec(t, "sh", "-ec", `dpkg --purge nvidia-container-toolkit >/dev/null 2>&1
		apt-get clean
		rm -rf /etc/cdi /etc/apt/sources.list.d/nvidia* /usr/share/keyrings/nvidia* /var/lib/apt/lists/*_stable_deb_* /srv/mirror
		cp -p /etc/docker/daemon.json.test /etc/docker/daemon.json`)
}

// laptop is where the command runs.
type laptop struct {
	t     *testing.T
	home  string
	stdin *os.File // nil: none
}

// ended is how a command ended.
type ended struct {
	code     int
	out, err string
}

func (p laptop) command(ctx context.Context, arguments ...string) (c *exec.Cmd, wait func() ended) {
	c = exec.CommandContext(ctx, "nvdocker-install", arguments...)
	c.Dir = p.home
	c.Env = append(os.Environ(), "HOME="+p.home, "SSH_AUTH_SOCK=")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true} // no terminal
	if p.stdin != nil {
		c.Stdin = p.stdin
	}
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	return c, func() ended {
		err := c.Wait()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			p.t.Fatal(err)
		}
		p.t.Logf("nvdocker-install %s: exit code %d\n%s%s", strings.Join(arguments, " "),
			c.ProcessState.ExitCode(), out.String(), said.String())
		return ended{c.ProcessState.ExitCode(), out.String(), said.String()}
	}
}

// run runs the command to its end, and checks its exit code and what it says.
func (p laptop) run(code int, says []string, arguments ...string) ended {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer stop()
	_, wait := p.command(ctx, arguments...)
	r := wait()
	for _, text := range says {
		if !strings.Contains(r.out+r.err, text) {
			p.t.Errorf("nvdocker-install %s does not say %q", strings.Join(arguments, " "), text)
		}
	}
	if r.code != code {
		p.t.Fatalf("exit code %d, not %d", r.code, code)
	}
	return r
}

// TestLab installs on two hosts at once, for a user with sudo and for root: it is refused,
// interrupted, left before the restart of Docker, finished, and then has nothing to do.
func TestLab(t *testing.T) {
	l := lab.Start(t, lab.Options{Hosts: 2})
	one, two := l.Hosts[0], l.Hosts[1]
	r := newRepository(t, one.Address[:strings.LastIndex(one.Address, ".")]+".1")
	config, err := os.ReadFile(l.SSHConfig)
	if err != nil {
		t.Fatal(err)
	}
	p := laptop{t: t, home: t.TempDir()}
	if err := os.MkdirAll(filepath.Join(p.home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, ".ssh", "config"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	hosts := []string{"carl@" + one.Name, "root@" + two.Name}
	source := append([]string{"--source", r.url, "--source-key", r.key}, hosts...)

	p.run(1, []string{"2 of 2 hosts are not ready", hosts[0] + ", " + hosts[1] +
		": it has no NVIDIA GPU on its PCI bus", "leave it out"}, hosts...)
	equip(t, l)
	for _, h := range l.Hosts {
		h.Exec(t, "docker", "run", "-dit", "--name", "web", "--stop-signal", "KILL", "tiny", "sh")
	}
	p.run(1, []string{"anna is not root there, and sudo asks for a password"},
		append([]string{"anna@" + one.Name}, source[:4]...)...)

	before := state(t, one) + state(t, two)
	p.run(0, []string{hosts[0] + ": Debian GNU/Linux 13", "4. describe the GPUs for CDI",
		"restart Docker, which stops web"},
		append(source, "--dry-run")...)
	if after := state(t, one) + state(t, two); after != before {
		t.Errorf("--dry-run has changed\n%sto\n%s", before, after)
	}

	p.run(1, []string{"is not signed by the key that was given for it", "took that back"},
		"--source", r.url, "--source-key", r.otherKey, hosts[1])
	if left := two.Exec(t, "sh", "-c",
		"ls /etc/apt/sources.list.d /usr/share/keyrings | grep nvidia || true"); left != "" {
		t.Errorf("of a source that cannot be read it leaves %s", left)
	}

	r.copyTo(t, two, "/srv/mirror")
	p.run(1, []string{"trust the key of file:///srv/mirror", "Docker was not restarted"},
		"--source", "file:///srv/mirror", hosts[1])
	if got := two.Exec(t, "nvidia-ctk", "--version"); !strings.Contains(got, "1.17.8") {
		t.Errorf("from a mirror in a folder comes %s", got)
	}
	uninstall(t, two)

	h := r.hold(two.Address)
	c, wait := p.command(t.Context(), source...)
	select {
	case <-h.asked:
	case <-time.After(time.Minute):
		t.Error("nobody asks for the package")
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	interrupted := wait()
	close(h.release)
	if interrupted.code != 130 {
		t.Fatalf("interrupted it ends with %d", interrupted.code)
	}

	p.run(1, []string{hosts[0] + ": Docker was not restarted, which would stop web",
		"run nvdocker-install --yes " + hosts[0],
		"check that a container sees the GPU", hosts[1] + ": Docker was not"}, source...)
	if got := one.Exec(t, "docker", "ps", "--format", "{{.Names}}"); got != "web\n" {
		t.Errorf("nobody agreed, and there run %q", got)
	}
	asked := p
	asked.stdin = terminal(t, "no\n")
	asked.run(1, []string{"Restarting Docker stops these containers:", hosts[0] + ": web",
		hosts[1] + ": web", "2 of 2 hosts"}, source...)
	asked.stdin = terminal(t, "y\n")
	asked.run(0, []string{"Restarting Docker stops these containers:", hosts[0] + "  ready",
		"toolkit 1.17.8"}, hosts[0])
	p.run(0, []string{"restart Docker, which stops web", "nothing to do"},
		append(source, "--yes")...)

	requests := r.requests()
	before = state(t, one) + state(t, two)
	var all struct {
		Hosts []struct {
			State, Toolkit string
			Done, Left     []any
		}
	}
	last := p.run(0, []string{"nothing to do"}, append(source, "--json")...)
	if err := json.Unmarshal([]byte(last.out), &all); err != nil {
		t.Fatal(err)
	}
	for i := range hosts {
		if h := all.Hosts[i]; h.State != "ready" || len(h.Done)+len(h.Left) > 0 ||
			h.Toolkit != "1.17.8" {
			t.Errorf("%s: %+v", hosts[i], h)
		}
	}
	if after := state(t, one) + state(t, two); after != before || r.requests() != requests {
		t.Errorf("all is there, and it changed\n%sto\n%s", before, after)
	}
	text := one.Exec(t, "cat", "/etc/docker/daemon.json")
	if !strings.Contains(text, "198.18.0.0/15") || !strings.Contains(text, `"cdi": true`) {
		t.Errorf("daemon.json is\n%s", text)
	}
}

// state is what a host has that the command may change, and when Docker was started.
func state(t *testing.T, h *lab.Host) string {
	t.Helper()
	return h.Exec(t, "sh", "-c", `cat /etc/docker/daemon.json
		ls -l --time-style=full-iso /etc/apt/sources.list.d /usr/share/keyrings /etc/cdi /run/docker.pid /var/lib/dpkg/status 2>&1
		docker ps -a --format '{{.ID}} {{.Names}} {{.State}}'
		docker images -q`)
}
