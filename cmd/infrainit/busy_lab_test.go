package main_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"mlframework/infra/lab"
)

// busySMI is a program in place of nvidia-smi, for a host with two GPUs. /var/busy/memory holds how
// many MiB programs use of the second one, or why that does not answer; /var/busy/host/program,
// which only the host has, holds the process that uses them.
const busySMI = `#!/bin/sh
only=all
used=$(cat /var/busy/memory)
case "$*" in
--query-gpu=*)
	n=0
	for gpu in GPU-one,4 "GPU-two,$used"; do
		uuid=${gpu%,*}
		case ",$only," in
		*,all,* | *,"$uuid",*)
			echo "$n, $uuid, NVIDIA RTX A6000, 00000000:0$((n + 1)):00.0, 570.133.07, 49140, ${gpu#*,}, 0, 35, Disabled, 0, [N/A]"
			n=$((n + 1))
			;;
		esac
	done
	;;
--query-compute-apps=*)
	pid=$(cat /var/busy/host/program 2>/dev/null) &&
		echo "GPU-two, $pid, $used, /usr/bin/train"
	;;
-L) ;;
*) echo "| NVIDIA-SMI 570.133.07   Driver Version: 570.133.07   CUDA Version: 12.8 |" ;;
esac
`

// TestABusyGPU is a GPU that a program of a colleague uses: it gets no tasks while that lasts,
// check-status and show name the user, the process and its memory, and it gets tasks when it is
// free. What a desktop uses does not count. With gpu-busy mine tasks share it with that program.
func TestABusyGPU(t *testing.T) {
	slow(t)
	p := newLaptop(t, 1)
	h := p.lab.Hosts[0]
	h.Exec(t, "sh", "-ec", "mkdir -p /var/busy/host; echo 600 >/var/busy/memory")
	program(t, h, "nvidia-smi", busySMI)
	passGPUs(t, h)
	p.has("digits/tasks.yml", `volumes: ["/var/busy/memory:/var/busy/memory:ro"]
tasks:
  waits:
    command: [sh, -c, 'until test -e /tmp/go; do sleep 0.1; done']
    parameters: parameters.yml
    gpus: 1
`)
	p.has("digits/parameters.yml", "n: [0, 3)\n")
	p.up(append(p.images(), "-a", "anna@"+h.Name, "-d", "digits", "--name", "c", "-m", "1", "-w",
		"1")...)
	inWorker := func(script string) {
		h.Exec(t, "docker", "exec", "mlframework-c-worker", "sh", "-c", script)
	}
	running := func() int {
		return strings.Count(p.run("run-tasks", "results", "--where", "state=running", "--csv").out,
			",running,")
	}
	var sweep *exec.Cmd
	begin := func() {
		t.Helper()
		sweep = p.command(t.Context(), "run-tasks", "-q", "waits")
		if err := sweep.Start(); err != nil {
			t.Fatal(err)
		}
	}
	end := func() {
		t.Helper()
		inWorker("touch /tmp/go")
		if err := sweep.Wait(); err != nil {
			t.Fatal(err)
		}
		inWorker("rm /tmp/go")
	}
	var pid string
	use := func() {
		t.Helper()
		pid = strings.TrimSpace(h.Exec(t, "su", "ben", "-c",
			"setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $!"))
		h.Exec(t, "sh", "-ec", "echo 6144 >/var/busy/memory; echo "+pid+" >/var/busy/host/program")
	}
	free := func() {
		t.Helper()
		h.Exec(t, "sh", "-ec", "rm /var/busy/host/program; echo 4 >/var/busy/memory; kill "+pid)
	}
	begin()
	eventually(t, "a desktop's 600 MB do not count", func() bool { return running() == 2 })
	end()

	use()
	const who = "ben, train (pid "
	eventually(t, "check-status names the program", func() bool {
		said := p.run("check-status")
		return strings.Contains(said.out+said.err, who+pid+"), 6.0 GB")
	})
	eventually(t, "the worker knows of it", func() bool {
		return strings.Contains(p.must("run-tasks", "workers", "show", h.Name).out, "6.0 GB in use")
	})
	begin()
	eventually(t, "one task runs", func() bool { return running() == 1 })
	if said := p.must("run-tasks", "show", "waits-2/2").out; !strings.Contains(said, h.Name+
		", GPU 1: "+who+pid+"), 6.0 GB\n") {
		t.Errorf("show does not name who uses the GPU:\n%s", said)
	}
	if n := running(); n != 1 {
		t.Errorf("%d tasks run beside the program of a colleague", n)
	}
	free()
	eventually(t, "the GPU is taken when it is free", func() bool { return running() == 2 })
	end()

	use()
	p.up("-f", "--gpu-busy", "mine")
	begin()
	eventually(t, "tasks share the GPU with the program of a colleague", func() bool {
		return running() == 2
	})
	said := p.run("check-status")
	t.Logf("with gpu-busy mine, check-status says\n%s", said.out)
	if !strings.Contains(said.out+said.err, "6.0 GB") {
		t.Error("it does not say that 6 GB of the GPU are in use")
	}
	end()
	if table := p.must("run-tasks", "results").out; !strings.Contains(table, "GPU-two") {
		t.Errorf("no task had the GPU that is shared:\n%s", table)
	}
	free()
	p.must("./infra-clean", "--volumes", "--files", "--yes")
	h.Exec(t, "rm", "-rf", "/var/busy")
	clean(t, p.lab)
}

// TestAFailedGPU is a GPU that fails below a task: it is out with its reason, the task runs on
// another host, uncharged, and tasks get the GPU again when it has answered for a minute.
func TestAFailedGPU(t *testing.T) {
	slow(t)
	p := newLaptop(t, 2)
	h, other := p.lab.Hosts[0], p.lab.Hosts[1]
	for _, one := range p.lab.Hosts { // the volume is of all workers
		one.Exec(t, "sh", "-ec", "mkdir -p /var/busy; echo 4 >/var/busy/memory")
	}
	program(t, h, "nvidia-smi", busySMI)
	program(t, other, "nvidia-smi", smiOf("GPU-three,NVIDIA RTX A6000,49140"))
	p.lab.Each(t, func(_ int, one *lab.Host) { passGPUs(t, one) })
	p.has("digits/tasks.yml", `volumes: ["/var/busy/memory:/var/busy/memory:ro"]
tasks:
  waits:
    command:
      - sh
      - -c
      - |
        until test -e /tmp/go; do
          if test $GPU_UUIDS = GPU-two && grep -q lost /var/busy/memory; then exit 1; fi
          sleep 0.1
        done
    parameters: parameters.yml
    gpus: 1
`)
	p.has("digits/parameters.yml", "n: [0, 3)\n")
	p.up(append(p.images(), "-a", p.hosts("anna"), "-d", "digits", "--name", "c", "-m", "1", "-w",
		"1,2")...)
	running := func() (on map[string]string) {
		on = map[string]string{}
		for _, r := range p.readRows(p.run("run-tasks", "results", "--where", "state=running",
			"--json").out) {
			for _, g := range r.GPUs {
				on[g.UUID] = r.ID
			}
		}
		return on
	}
	goes := func(h *lab.Host, what string) {
		h.Exec(t, "docker", "exec", "mlframework-c-worker", "sh", "-c", what+" /tmp/go")
	}
	sweep := p.command(t.Context(), "run-tasks", "-q", "waits")
	if err := sweep.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a task on each GPU", func() bool { return len(running()) == 3 })
	of := running()["GPU-two"]

	h.Exec(t, "sh", "-c", "echo '[GPU is lost]' >/var/busy/memory")
	const why = "GPU 1 does not answer: GPU is lost"
	for _, c := range [][]string{{"check-status"}, {"run-tasks", "workers", "show", h.Name}} {
		eventually(t, c[0]+" says why it is out", func() bool {
			return strings.Contains(p.run(c...).out, why)
		})
		t.Logf("%s\n%s", c[0], p.run(c...).out)
	}
	goes(other, "touch")
	eventually(t, "the task ran on the other host", func() bool {
		for _, r := range p.rows("waits-1") {
			if r.ID == of && r.State == "succeeded" {
				return r.Host == other.Name
			}
		}
		return false
	})
	shown := p.must("run-tasks", "show", of).out
	if t.Log(shown); !strings.Contains(shown, "lost: infra: its GPU failed: "+why) {
		t.Error("its first attempt was not lost with the GPU")
	}
	h.Exec(t, "sh", "-c", "echo 4 >/var/busy/memory")
	answers := time.Now()
	goes(h, "touch")
	if err := sweep.Wait(); err != nil {
		t.Fatal(err)
	}
	goes(h, "rm")
	goes(other, "rm")

	sweep = p.command(t.Context(), "run-tasks", "-q", "waits")
	if err := sweep.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "tasks get the GPU again", func() bool { return running()["GPU-two"] != "" })
	took := time.Since(answers)
	t.Logf("tasks got the GPU again %.0f s after it answered", took.Seconds())
	if took < 50*time.Second { // the look that found it lost may be some seconds older
		t.Error("it had not answered for a minute")
	}
	for _, one := range p.lab.Hosts {
		goes(one, "touch")
	}
	if err := sweep.Wait(); err != nil {
		t.Fatal(err)
	}
	p.must("./infra-clean", "--volumes", "--files", "--yes")
	for _, one := range p.lab.Hosts {
		one.Exec(t, "rm", "-rf", "/var/busy")
	}
	clean(t, p.lab)
}
