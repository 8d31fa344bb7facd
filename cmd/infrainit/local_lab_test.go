package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mlframework/infra/lab"
)

// TestThisMachine has master or worker on the machine that runs the tests, in its own Docker.
// Docker lets nothing from the network of the lab into another of the same Docker; containers of
// the cluster that are to speak with hosts are put into both.
func TestThisMachine(t *testing.T) {
	slow(t)
	p := newLaptop(t, 2)
	l := p.lab
	name := fmt.Sprintf("local-%d", os.Getpid())
	options := append(p.images(), "-a", p.hosts("anna"), "-d", "digits", "--name", name)
	lab.Image(t, "training")
	t.Cleanup(func() { // what a failure left
		_ = exec.Command(filepath.Join(p.work, "infra-clean"), "--volumes", "--yes").Run()
	})

	t.Run("a worker", func(t *testing.T) {
		joined := joins(t, l, "mlframework-"+name+"-worker", "")
		r := p.up(append(options, "-m", "1", "-w", "local,1,2")...)
		joined()
		if !strings.Contains(r.out, "local ") {
			t.Error(r.out)
		}
		p.works("local", l.Hosts[0].Name, l.Hosts[1].Name)
		p.fails(1, []string{l.Hosts[0].Name + ": the master of the cluster " + name + " is here"},
			append(options, "-m", "local", "-w", "2")...)
		p.up("-f", "-w", "2")
		if left := here(t, name); left != "" {
			t.Errorf("the worker has left, and here is\n%s", left)
		}
		p.must("./infra-clean", "--volumes", "--files", "--yes")
		clean(t, l)
	})
	t.Run("the master", func(t *testing.T) {
		taken, err := net.Listen("tcp", ":5671")
		if err != nil {
			t.Skipf("NOT TESTED: port 5671 of this machine is taken: %v", err)
		}
		_ = taken.Close()
		at := l.Hosts[0].Address[:strings.LastIndex(l.Hosts[0].Address, ".")] + ".200"
		joined := joins(t, l, "mlframework-"+name+"-broker", at)
		p.up(append(options, "-m", "local", "-w", "local,1,2", "--broker-port", "5671",
			"--master-address", at)...)
		joined()
		p.works("local", l.Hosts[0].Name, l.Hosts[1].Name)
		if r := p.up("-f"); !strings.Contains(r.out, "nothing to change") {
			t.Errorf("repeated, it changes something:\n%s", r.err)
		}
		p.up("-f", "-w", "1,2") // the master alone is here
		p.works(l.Hosts[0].Name, l.Hosts[1].Name)
		p.fails(1, []string{"local: the master of the cluster " + name + " is here"},
			append(options, "-m", "1", "-w", "2")...)
		p.must("./infra-clean", "--volumes", "--files", "--yes")
		clean(t, l)
		if left := here(t, name); left != "" {
			t.Errorf("here is\n%s", left)
		}
		if files, _ := filepath.Glob(filepath.Join(p.home, "mlframework*")); len(files) > 0 {
			t.Errorf("the home has %v", files)
		}
	})
}

// here is what this machine's Docker has of a cluster.
func here(t *testing.T, name string) string {
	t.Helper()
	var all []string
	for _, list := range [][]string{{"ps", "-a"}, {"network", "ls"}, {"volume", "ls"}, {"images"}} {
		out, err := exec.Command("docker", append(list, "-q", "--filter",
			"label=mlframework.cluster="+name)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > 0 {
			all = append(all, list[0]+": "+strings.TrimSpace(string(out)))
		}
	}
	return strings.Join(all, "\n")
}

// joins puts a container into the lab's network as soon as it is there, at an address unless that
// is "". What it gives waits for that.
func joins(t *testing.T, l *lab.Lab, container, address string) (joined func()) {
	t.Helper()
	args := []string{"network", "connect"}
	if address != "" {
		args = append(args, "--ip", address)
	}
	args = append(args, l.Network, container)
	ended := make(chan string, 1)
	go func() {
		var said []byte
		var err error
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(
			50 * time.Millisecond) {
			if said, err = exec.Command("docker", args...).CombinedOutput(); err == nil {
				ended <- ""
				return
			}
		}
		ended <- string(said)
	}()
	return func() {
		t.Helper()
		if said := <-ended; said != "" {
			t.Errorf("%s did not come into the network of the lab: %s", container, said)
		}
	}
}
