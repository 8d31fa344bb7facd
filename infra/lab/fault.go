package lab

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// Cut takes the host off the network, as a partition does: connections stay open, and nothing comes
// through.
func (h *Host) Cut(t testing.TB) {
	t.Helper()
	h.must(t, "network", "disconnect", h.network, h.container)
}

// Heal ends Cut.
func (h *Host) Heal(t testing.TB) {
	t.Helper()
	h.must(t, h.connect()...)
}

func (h *Host) connect() []string {
	return []string{"network", "connect", "--ip", h.Address, "--alias", h.Name, h.network,
		h.container}
}

// Freeze stops every process of the host, those of its containers too, as a host that swaps does:
// connections are taken, and nobody answers.
func (h *Host) Freeze(t testing.TB) {
	t.Helper()
	h.must(t, "pause", h.container)
}

// Thaw ends Freeze.
func (h *Host) Thaw(t testing.TB) {
	t.Helper()
	h.must(t, "unpause", h.container)
}

// PowerOff ends every process of the host at once. Its disk stays as it is; /run and /tmp are lost.
func (h *Host) PowerOff(t testing.TB) {
	t.Helper()
	h.must(t, "kill", h.container)
}

// PowerOn boots the host after PowerOff and waits until sshd and Docker answer.
func (h *Host) PowerOn(t testing.TB) {
	t.Helper()
	h.must(t, "start", h.container)
	if err := h.ready(); err != nil {
		t.Fatal(err)
	}
}

// Loss drops each packet that comes to the host with a probability from 0 to below 1; 0 ends it.
func (h *Host) Loss(t testing.TB, probability float64) {
	t.Helper()
	h.alone(t)
	h.Exec(t, "iptables", "-F", "INPUT")
	if probability > 0 {
		h.Exec(t, "iptables", "-A", "INPUT", "!", "-i", "lo", "-m", "statistic", "--mode", "random",
			"--probability", strconv.FormatFloat(probability, 'f', -1, 64), "-j", "DROP")
	}
}

// must does something to the host that others would notice.
func (h *Host) must(t testing.TB, args ...string) {
	t.Helper()
	h.alone(t)
	if _, err := docker(args...); err != nil {
		t.Fatal(err)
	}
}

// restore ends whatever fault the host has.
func (h *Host) restore() error {
	state, err := h.inspect("{{.State.Status}} {{range $name, $net := " +
		".NetworkSettings.Networks}}{{$name}} {{end}}")
	if err != nil {
		return err
	}
	var steps [][]string
	status, networks, _ := strings.Cut(state, " ")
	if status == "paused" {
		steps = append(steps, []string{"unpause", h.container})
	}
	if !strings.Contains(networks, h.network) {
		steps = append(steps, h.connect())
	}
	if status != "paused" && status != "running" {
		steps = append(steps, []string{"start", h.container})
	}
	for _, step := range steps {
		if _, err := docker(step...); err != nil {
			return fmt.Errorf("restore %s: %w", h.Name, err)
		}
	}
	return h.ready()
}
