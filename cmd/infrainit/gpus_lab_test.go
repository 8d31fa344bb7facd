package main_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"mlframework/sweep/task"
)

// TestTwoClustersOnGPUs is two people whose clusters have the same GPUs of one host: no GPU is ever
// given to tasks of both, although none of them uses any memory.
func TestTwoClustersOnGPUs(t *testing.T) {
	slow(t)
	p := newLaptop(t, 1)
	ben, h := p.somebodyElse(nobody), p.lab.Hosts[0]
	program(t, h, "nvidia-smi", gpuSMI)
	passGPUs(t, h)
	h.Exec(t, "sh", "-ec", "mkdir -p /var/held; chmod 1777 /var/held")
	for user, at := range map[string]*laptop{"anna": p, "ben": ben} {
		at.has("digits/tasks.yml", `volumes: [/var/held:/held]
tasks:
  holds:
    command: [sh, -c, 'mkdir /held/$GPU_UUIDS && until test -e /held/go; do sleep 0.1; done; rmdir /held/$GPU_UUIDS']
    parameters: parameters.yml
    gpus: 1
`)
		at.up(append(at.images(), "-a", user+"@"+h.Name, "-d", "digits", "--name", user+"s", "-m",
			"1", "-w", "1", "--slots", "2")...)
	}
	running := make([]*exec.Cmd, 2)
	begin := func(n int, at *laptop) {
		running[n] = at.command(t.Context(), "run-tasks", "-q", "holds")
		if err := running[n].Start(); err != nil {
			t.Fatal(err)
		}
	}
	begin(0, p)
	eventually(t, "tasks of anna have both GPUs", func() bool {
		return h.Exec(t, "ls", "/var/held") == "GPU-one\nGPU-two\n"
	})
	begin(1, ben)
	eventually(t, "ben's worker says who has them", func() bool {
		return strings.Contains(ben.must("run-tasks", "workers", "show", h.Name).out,
			"busy: worker "+h.Name+" of cluster annas of anna (in a container, ")
	})
	h.Exec(t, "touch", "/var/held/go")
	for n, at := range []*laptop{p, ben} {
		if err := running[n].Wait(); err != nil {
			t.Errorf("%v\n%s", err, at.must("run-tasks", "results", "holds-1").out)
		}
	}
	if held := h.Exec(t, "sh", "-c", "cd /dev/shm; ls -l mlframework-gpu-*"); strings.Count(held,
		"-rw-rw-rw-") != 2 {
		t.Errorf("the locks are\n%s", held)
	}
	for _, at := range []*laptop{ben, p} {
		at.must("./infra-clean", "--volumes", "--files", "--yes")
	}
	h.Exec(t, "rm", "-rf", "/var/held")
	clean(t, p.lab)
}

// upWithGPUs brings a cluster up with the options of infrainit, whose last host has two GPUs: not
// before its Docker can hand them out.
func (p *laptop) upWithGPUs(t *testing.T, options ...string) {
	t.Helper()
	h := p.lab.Hosts[len(p.lab.Hosts)-1]
	program(t, h, "nvidia-smi", gpuSMI)
	p.fails(1, []string{h.Name + ": Docker cannot pass 2 GPUs (NVIDIA RTX A6000) to containers: " +
		"the NVIDIA container toolkit is not installed\n    run nvdocker-install for this host; " +
		"or set gpus: none for " + h.Name + " under overrides in cluster.yml (--cpu: for all " +
		"hosts)",
		"nothing was changed"}, options...)
	clean(t, p.lab)
	passGPUs(t, h)
	said := p.up(options...).err
	if !strings.Contains(said, ", 2 GPUs\n") || strings.Count(said, "GPU") != 1 {
		t.Errorf("one worker has two GPUs, and it says\n%s", said)
	}
	if listed := h.Exec(t, "docker", "exec", "mlframework-root-digits-worker", "nvidia-smi",
		"--query-gpu="); !strings.Contains(listed, "0, GPU-one, ") ||
		!strings.Contains(listed, "1, GPU-two, ") {
		t.Errorf("in the worker's container there is\n%s", listed)
	}
	if again := p.up("-f"); !strings.Contains(again.out, "nothing to change") {
		t.Errorf("repeated, it changes something:\n%s", again.err)
	}
}

// onGPUs is a tasks.yml whose tasks wait until two of them have run, and say which GPUs they see. It
// asks of containers what placed does.
const onGPUs = `image: %s
volumes: [/usr/share:/data/set:ro]
container: {shm: 32m}
tasks:
  uses_gpu:
    command: [sh, -c, 'echo "sees $GPU_UUIDS"; >/tmp/uses-gpu-$$; until test $(ls /tmp/uses-gpu-* | wc -l) -ge 2; do sleep 0.1; done']
    parameters: parameters.yml
    gpus: 1
    timeout: 1m
  uses_none:
    command: [sh, -c, 'echo "sees <${{CUDA_VISIBLE_DEVICES-all}}>"']
    each: worker
`

// sweepsGPUs has tasks run on the GPUs of the last host, one on each: those that ask for one see it
// alone, and others none. What no host has is refused.
func (p *laptop) sweepsGPUs(t *testing.T, image string) {
	t.Helper()
	h := p.lab.Hosts[len(p.lab.Hosts)-1]
	p.has("digits/tasks.yml", fmt.Sprintf(onGPUs, image))
	p.has("digits/parameters.yml", "n: [0, 4)\n")
	id := strings.TrimSpace(p.must("run-tasks", "-q", "uses_gpu").out)
	used := map[string]int{}
	for i, r := range p.rows(id) {
		log := p.must("run-tasks", "logs", fmt.Sprintf("%s/%d", id, i)).out
		if r.State != "succeeded" || r.Host != h.Name || len(r.GPUs) != 1 ||
			!strings.Contains(log, "sees "+strings.Join(task.UUIDs(r.GPUs), ",")+"\n") {
			t.Errorf("%+v, whose program said %q", r, log)
		}
		for _, uuid := range task.UUIDs(r.GPUs) {
			used[uuid]++
		}
	}
	if used["GPU-one"]+used["GPU-two"] != 4 || len(used) != 2 {
		t.Errorf("four tasks ran on %v", used)
	}
	if table := p.must("run-tasks", "results", id).out; !strings.Contains(table, "GPU-one") ||
		!strings.Contains(table, "gpus") {
		t.Errorf("the results are\n%s", table)
	}
	if out := p.must("run-tasks", "uses_none").out; !strings.Contains(out, h.Name+":") ||
		strings.Count(out, "sees <>\n") != 2 {
		t.Errorf("tasks without GPUs say\n%s", out)
	}
	if r := p.run("run-tasks", "uses_gpu", "--gpus", "3"); r.code == 0 ||
		!strings.Contains(r.err, h.Name) || !strings.Contains(r.err, "2 x NVIDIA RTX A6000") {
		t.Errorf("with three GPUs it ends with %d:\n%s%s", r.code, r.err, r.out)
	}
}
