package lab_test

import (
	"net"
	"testing"
	"time"

	"mlframework/infra/lab"
)

// answers tells whether the host's sshd says something within a time.
func answers(h *lab.Host, within time.Duration) bool {
	conn, err := net.DialTimeout("tcp", h.At(22), within)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(within))
	_, err = conn.Read(make([]byte, 1))
	return err == nil
}

const (
	soon = 500 * time.Millisecond // in which a host that cannot answer does not
	late = 30 * time.Second       // in which one that can does
)

func TestHostsAreCutOffFrozenAndHealed(t *testing.T) {
	t.Parallel()
	h := lab.Start(t, lab.Options{}).Hosts[0]
	for _, fault := range []struct {
		name       string
		begin, end func(testing.TB)
	}{
		{"cut", h.Cut, h.Heal},
		{"frozen", h.Freeze, h.Thaw},
		{"off", h.PowerOff, h.PowerOn},
	} {
		fault.begin(t)
		if answers(h, soon) {
			t.Errorf("%s answers while it is %s", h.Name, fault.name)
		}
		fault.end(t)
		if !answers(h, late) {
			t.Errorf("%s does not answer after it was %s", h.Name, fault.name)
		}
	}
}

func TestAPowerCutLeavesTheDiskAndStartsContainersAgain(t *testing.T) {
	t.Parallel()
	l := lab.Start(t, lab.Options{})
	h := l.Hosts[0]
	image := l.Load(t, "training")[0]
	h.Exec(t, "sh", "-c", "echo kept > /home/anna/file; touch /run/lost")
	h.Exec(t, "docker", "run", "-d", "--restart", "always", "--name", "again", image, "sleep",
		"infinity")
	h.PowerOff(t)
	h.PowerOn(t)
	if got := h.Exec(t, "sh", "-c",
		"cat /home/anna/file; ls /run/lost 2>/dev/null || true"); got != "kept\n" {
		t.Errorf("after a power cut: %q", got)
	}
	h.Exec(t, "timeout", "30", "sh", "-c",
		`until docker inspect -f "{{.State.Running}}" again | grep true; do sleep 0.1; done`)
}

func TestContainersOfAFrozenHostAreFrozenToo(t *testing.T) {
	t.Parallel()
	l := lab.Start(t, lab.Options{})
	h := l.Hosts[0]
	image := l.Load(t, "training")[0]
	h.Exec(t, "docker", "run", "-d", "--network", "host", "--name", "echo", image, "python3", "-c", `
import socket
listener = socket.create_server(("", 7007))
while True:
    c, _ = listener.accept()
    c.sendall(c.recv(1))
    c.close()
`)
	h.Exec(t, "timeout", "30", "sh", "-c", "until ss -ltn | grep -q 7007; do sleep 0.1; done")
	h.Freeze(t)
	conn, err := net.DialTimeout("tcp", h.At(7007), late) // the kernel takes it
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write([]byte{1})
	conn.SetReadDeadline(time.Now().Add(soon))
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a container of a frozen host answers")
	}
	h.Thaw(t)
	conn.SetReadDeadline(time.Now().Add(late))
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Errorf("a container does not go on with its host: %v", err)
	}
}

func TestHostsLosePackets(t *testing.T) {
	t.Parallel()
	h := lab.Start(t, lab.Options{}).Hosts[0]
	h.Loss(t, 0.999999)
	if answers(h, soon) {
		t.Error("the host answers though it loses what comes")
	}
	h.Loss(t, 0.1)
	if !answers(h, late) {
		t.Error("the host does not answer though it loses a packet in ten")
	}
	h.Loss(t, 0)
	if got := h.Exec(t, "iptables", "-S", "INPUT"); got != "-P INPUT ACCEPT\n" {
		t.Errorf("rules without loss: %s", got)
	}
}

func TestHostsShareAHome(t *testing.T) {
	t.Parallel()
	l := lab.Start(t, lab.Options{Hosts: 2})
	one, two := l.Hosts[0], l.Hosts[1]
	l.ShareHome(t)
	one.Exec(t, "sh", "-c", "echo hello > /home/anna/from")
	if got, err := ssh(t, l, "anna", two.Name, "cat from"); err != nil || got != "hello" {
		t.Errorf("the other host reads %q, %v", got, err)
	}
	two.PowerOff(t)
	two.PowerOn(t)
	if got, err := ssh(t, l, "anna", two.Name, "cat from"); err != nil || got != "hello" {
		t.Errorf("after a power cut the other host reads %q, %v", got, err)
	}
}
