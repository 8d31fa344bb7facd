package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/cmd/internal/site"
	"mlframework/infra/lab"
	"mlframework/infra/plan"
	"mlframework/sweep/queue"
)

// bed is a cluster on hosts of the lab, with the commands that a person has for it. The first host
// has the master, the others have workers.
type bed struct {
	lab          *lab.Lab
	bin, project string // folders
	env          []string
}

// patience is longer than any single command takes, even on a slow machine.
const patience = 3 * time.Minute

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{lab: lab.Start(t, lab.Options{Hosts: 3}), bin: lab.Programs(t), project: t.TempDir()}
	home := t.TempDir()
	config := fmt.Sprintf("Host *\n\tUser anna\n\tIdentityFile %s\n\tIdentitiesOnly "+
		"yes\n\tUserKnownHostsFile %s\n\tStrictHostKeyChecking yes\n", b.lab.Key, b.lab.KnownHosts)
	for _, h := range b.lab.Hosts {
		config += fmt.Sprintf("Host %s\n\tHostName %s\n\tHostKeyAlias %s\n", h.Name, h.Address,
			h.Name)
	}
	write(t, filepath.Join(home, ".ssh/config"), config)
	b.write(t, "tasks.yml", "tasks:\n  hello: {command: [echo, hello]}\n"+
		"  everywhere: {command: [cat, more.txt], each: worker}\n")
	b.write(t, "more.txt", "one")
	b.env = append(os.Environ(), "HOME="+home, "SSH_AUTH_SOCK=", "XDG_CACHE_HOME="+
		filepath.Join(home, ".cache"))
	t.Cleanup(func() { // hosts keep images for the next test
		for _, h := range b.lab.Hosts {
			h.Exec(t, "sh", "-c", `docker ps -aq --filter label=`+plan.ClusterLabel+` | xargs -r docker rm -f
				docker images -q --filter label=`+plan.ClusterLabel+` | xargs -r docker rmi -f`)
		}
	})
	images := b.lab.Load(t, "training", "broker")
	b.must(t, "infrainit", "-a", b.lab.Hosts[0].Name+","+b.lab.Hosts[1].Name+","+
		b.lab.Hosts[2].Name, "-m", "1", "-w", "2,3", "--name", "status", "--slots", "2",
		"-d", ".", "--image", images[0], "--broker-image", images[1])
	return b
}

// write writes a file of the project.
func (b *bed) write(t *testing.T, name, text string) {
	t.Helper()
	write(t, filepath.Join(b.project, name), text)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bed) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(b.bin, name), args...)
	c.Dir, c.Env = b.project, b.env
	return c
}

// run returns what a command printed, and its exit code.
func (b *bed) run(t *testing.T, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	c := b.command(ctx, name, args...)
	var out, said strings.Builder
	c.Stdout, c.Stderr = &out, &said
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), said.String(), exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), said.String(), 0
}

func (b *bed) must(t *testing.T, name string, args ...string) string {
	t.Helper()
	stdout, stderr, code := b.run(t, name, args...)
	if code != 0 {
		t.Fatalf("%s %q: exit code %d\n%s%s", name, args, code, stdout, stderr)
	}
	return stdout
}

// asks runs check-status until its output is as expected: a busy host may miss the few seconds that
// it has to answer.
func (b *bed) asks(t *testing.T, is func(stdout string, code int) bool, args ...string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		stdout, stderr, code := b.run(t, "check-status", args...)
		if is(stdout, code) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("check-status %q ends with exit code %d:\n%s%s", args, code, stdout, stderr)
		}
	}
}

// look runs check-status until the overview is as expected.
func (b *bed) look(t *testing.T, is func(site.Overview, int) bool) (o site.Overview) {
	t.Helper()
	b.asks(t, func(stdout string, code int) bool {
		o = site.Overview{}
		return json.Unmarshal([]byte(stdout), &o) == nil && is(o, code)
	}, "--json")
	return o
}

func (b *bed) well(t *testing.T) site.Overview {
	t.Helper()
	return b.look(t, func(o site.Overview, code int) bool {
		return o.Well && code == 0 && len(o.Faults) == 0
	})
}

// This is one test, as it takes long to bring up a cluster.
func TestACluster(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	master, worker := b.lab.Hosts[0], b.lab.Hosts[1]
	o := b.well(t)
	if len(o.Hosts) != 3 || len(o.Workers) != 2 || o.Broker == nil || o.Master != master.Name {
		t.Errorf("%+v", o)
	}
	b.look(t, func(o site.Overview, _ int) bool { // the broker's statistics are some seconds late
		return o.Broker != nil && len(o.Broker.Queues) > 0 &&
			!slices.ContainsFunc(o.Broker.Queues, func(q queue.Depth) bool {
				return q.Unacked == nil
			})
	})
	b.asks(t, func(text string, code int) bool {
		return code == 0 && strings.Contains(text, "all is well") &&
			strings.Contains(text, worker.Name+"  worker   ready")
	})
	b.asks(t, func(log string, code int) bool {
		return code == 0 && strings.Contains(log, "worker started")
	}, "--logs", worker.Name)
	t.Log("GPUs")
	b.gpus(t)
	t.Log("the monitor")
	b.monitor(t)
	t.Log("files")
	b.files(t)
	t.Log("faults")
	b.stopped(t, worker)
	b.away(t, master, worker)
}

// smi is a program in place of nvidia-smi, for a host with two GPUs and, if $lost is set, two more,
// of which one is lost.
const smi = `#!/bin/sh
lost=%s
gpu() {
	echo "$1, GPU-$1-%s, NVIDIA RTX A6000, 00000000:0$1:00.0, 570.133.07, 49140, $2, 3, 35," \
		"Disabled, 0, [N/A]"
}
case "$*" in
--query-gpu=*)
	gpu 1 0
	gpu 2 7000
	[ -n "$lost" ] || exit 0
	gpu 3 4
	echo "Unable to determine the device handle for GPU4: 0000:04:00.0:" \
		"GPU is lost.  Reboot the system to recover this GPU"
	exit 15
	;;
--query-compute-apps=*) echo "GPU-2-%s, 1, 6990, /usr/bin/python3" ;;
-L) ;;
*) echo "| NVIDIA-SMI 570.133.07   Driver Version: 570.133.07   CUDA Version: 12.8 |" ;;
esac
`

// gpus tests what is shown of GPUs: the first host has four, of which one is lost, the second two,
// the third none.
func (b *bed) gpus(t *testing.T) {
	const place = "/usr/local/bin/nvidia-smi"
	for i, lost := range []string{"yes", ""} {
		h := b.lab.Hosts[i]
		h.Exec(t, "sh", "-c", `printf %s "$1" >`+place+` && chmod 755 `+place, "sh",
			fmt.Sprintf(smi, lost, h.Name, h.Name))
		defer h.Exec(t, "rm", place)
	}
	b.asks(t, func(text string, code int) bool {
		return code == 0 && strings.Contains(text, "GPU is lost: reboot the host") &&
			strings.Contains(text, "GPU 2 is used by root, python3 (pid 1), 6.8 GB") &&
			strings.Count(text, "NVIDIA RTX A6000") == 5
	})
	b.look(t, func(o site.Overview, code int) bool {
		first, second, third := o.Hosts[0].NVIDIA, o.Hosts[1].NVIDIA, o.Hosts[2].NVIDIA
		return len(first.GPUs) == 4 && first.GPUs[3].Lost == "GPU is lost" &&
			len(second.GPUs) == 2 && second.CUDA == "12.8" &&
			len(third.GPUs) == 0 && third.Fault == nil
	})
	slow := b.lab.Hosts[1]
	slow.Exec(t, "sh", "-c", `printf '#!/bin/sh\nexec sleep 600\n' >`+place)
	b.look(t, func(o site.Overview, code int) bool {
		f := o.Hosts[1].NVIDIA.Fault
		return code == 0 && o.Hosts[1].Docker != "" && f != nil &&
			strings.Contains(f.Cause, "does not answer")
	})
}

// monitor tests a login through the tunnel, which ends with Ctrl-C.
func (b *bed) monitor(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	c, out, link := b.tunnel(ctx, t)
	for link == "" { // the host is busy
		c, out, link = b.tunnel(ctx, t)
	}
	lines := strings.Split(strings.TrimSpace(link), "\n")
	jar, _ := cookiejar.New(nil)
	// Browsers know where names below localhost lead, and resolvers need not.
	loopback := func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, _ := net.SplitHostPort(address)
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	}
	response, err := (&http.Client{Jar: jar, Timeout: patience,
		Transport: &http.Transport{DialContext: loopback}}).Get(lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK ||
		!strings.Contains(string(page), "monitor</title>") {
		t.Errorf("%s, %v\n%s", response.Status, err, page)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	if err := c.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
}

// tunnel starts check-status --monitor, and returns what it prints up to the link; "" if it ends
// without one.
func (b *bed) tunnel(ctx context.Context, t *testing.T) (c *exec.Cmd, out io.Reader, link string) {
	t.Helper()
	c = b.command(ctx, "check-status", "--monitor")
	var said strings.Builder
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 4096)
	for !strings.HasSuffix(link, "\n") || !strings.Contains(link, "/login?") {
		n, err := out.Read(text)
		if link += string(text[:n]); err != nil {
			t.Logf("check-status --monitor: %v, %q\n%s", c.Wait(), link, said.String())
			return c, out, ""
		}
	}
	return c, out, link
}

// files tests update-files.
func (b *bed) files(t *testing.T) {
	if said := b.must(t, "update-files"); !strings.Contains(said, "nothing changed") {
		t.Errorf("at first: %s", said)
	}
	b.write(t, "more.txt", "another")
	said := b.must(t, "update-files")
	if strings.Count(said, "got 1 file, 7 bytes") != 3 ||
		!strings.Contains(said, "sweeps that you submit now run it") {
		t.Errorf("one file changed: %s", said)
	}
	for _, h := range b.lab.Hosts {
		text := h.Exec(t, "cat", "/home/anna/mlframework/status/current/more.txt")
		if text != "another" {
			t.Errorf("%s has %q", h.Name, text)
		}
	}
	if said := b.must(t, "update-files"); !strings.Contains(said, "nothing changed") {
		t.Errorf("again: %s", said)
	}
}

// stopped tests what is shown of a container that ended.
func (b *bed) stopped(t *testing.T, worker *lab.Host) {
	worker.Exec(t, "docker", "kill", "mlframework-status-worker")
	b.look(t, func(o site.Overview, code int) bool {
		return code == 1 && !o.Well && len(o.Faults) > 0 && o.Faults[0].Host == worker.Name &&
			strings.Contains(o.Faults[0].What, "exit code 137")
	})
	worker.Exec(t, "docker", "start", "mlframework-status-worker")
	b.well(t)
}

// away is about hosts that are off the network: everything else is shown, soon.
func (b *bed) away(t *testing.T, master, worker *lab.Host) {
	worker.Cut(t)
	b.write(t, "more.txt", "a third")
	type ended struct {
		stdout, stderr string
		code           int
	}
	updated := make(chan ended, 1)
	go func() { // beside check-status, as both wait for the host that is away
		defer close(updated)
		stdout, stderr, code := b.run(t, "update-files")
		updated <- ended{stdout, stderr, code}
	}()
	begun := time.Now()
	b.look(t, func(o site.Overview, code int) bool {
		return code == 1 && len(o.Hosts) == 3 && !o.Hosts[1].Reached && o.Hosts[0].Reached &&
			o.Broker != nil && o.Faults[0].Host == worker.Name
	})
	// one refresh takes 12 s; without a timeout, an unanswered connection takes minutes
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	u := <-updated
	if u.code != 4 || !strings.Contains(u.stderr, worker.Name+"     warning: it does not have "+
		"the new files, and gets no tasks that need them until infrainit -f has brought them: ") {
		t.Errorf("update-files: exit code %d\n%s%s", u.code, u.stdout, u.stderr)
	}
	const file = "/home/anna/mlframework/status/current/more.txt"
	if text := master.Exec(t, "cat", file); text != "a third" {
		t.Errorf("%s has %q", master.Name, text)
	}
	worker.Heal(t)
	if text := worker.Exec(t, "cat", file); text != "another" {
		t.Errorf("%s, which was away, has %q", worker.Name, text)
	}
	b.well(t)
	stdout, stderr, code := b.run(t, "run-tasks", "everywhere")
	brought := worker.Name + " is back, and was brought the project's files"
	if code != 0 || strings.Count(stdout, "a third") != 2 || !strings.Contains(stderr, brought) {
		t.Errorf("run-tasks everywhere: exit code %d\n%s%s", code, stdout, stderr)
	}
	master.Cut(t)
	b.look(t, func(o site.Overview, code int) bool {
		return code == 4 && len(o.Hosts) == 3 && !o.Hosts[0].Reached && o.Broker == nil &&
			len(o.Hosts[1].Containers) == 1 && o.Hosts[1].Containers[0].State == "running" &&
			len(o.Faults) == 1 && o.Faults[0].Host == master.Name
	})
	master.Heal(t)
}
