package main_test

import (
	"os/exec"
	"strings"
	"testing"
)

// busySMI is a program in place of nvidia-smi, for a host with two GPUs. /var/busy/memory holds how
// many MiB programs use of the second one; /var/busy/host/program, which only the host has, holds the
// process that uses them.
const busySMI = `#!/bin/sh
only=all
used=$(cat /var/busy/memory)
case "$*" in
--query-gpu=*)
	n=0
	for gpu in GPU-one,4 GPU-two,$used; do
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
// free. What a desktop uses does not count.
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
	sweep := p.command(t.Context(), "run-tasks", "-q", "waits")
	begin := func() *exec.Cmd {
		if err := sweep.Start(); err != nil {
			t.Fatal(err)
		}
		return sweep
	}
	begin()
	eventually(t, "a desktop's 600 MB do not count", func() bool { return running() == 2 })
	inWorker("touch /tmp/go")
	if err := sweep.Wait(); err != nil {
		t.Fatal(err)
	}
	inWorker("rm /tmp/go")

	pid := strings.TrimSpace(h.Exec(t, "su", "ben", "-c",
		"setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $!"))
	h.Exec(t, "sh", "-ec", "echo 6144 >/var/busy/memory; echo "+pid+" >/var/busy/host/program")
	const who = "ben, train (pid "
	eventually(t, "check-status names the program", func() bool {
		said := p.run("check-status")
		return strings.Contains(said.out+said.err, who+pid+"), 6.0 GB")
	})
	eventually(t, "the worker knows of it", func() bool {
		return strings.Contains(p.must("run-tasks", "workers", "show", h.Name).out, "6.0 GB in use")
	})
	sweep = p.command(t.Context(), "run-tasks", "-q", "waits")
	begin()
	eventually(t, "one task runs", func() bool { return running() == 1 })
	if said := p.must("run-tasks", "show", "waits-2/2").out; !strings.Contains(said, h.Name+
		", GPU 1: "+who+pid+"), 6.0 GB\n") {
		t.Errorf("show does not name who uses the GPU:\n%s", said)
	}
	if n := running(); n != 1 {
		t.Errorf("%d tasks run beside the program of a colleague", n)
	}

	h.Exec(t, "sh", "-ec", "rm /var/busy/host/program; echo 4 >/var/busy/memory; kill "+pid)
	eventually(t, "the GPU is taken when it is free", func() bool { return running() == 2 })
	inWorker("touch /tmp/go")
	if err := sweep.Wait(); err != nil {
		t.Fatal(err)
	}
	p.must("./infra-clean", "--volumes", "--files", "--yes")
	h.Exec(t, "rm", "-rf", "/var/busy")
	clean(t, p.lab)
}
