package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
)

// TestLife is a cluster from its first bring-up to its removal.
func TestLife(t *testing.T) {
	slow(t)
	p := newLaptop(t, 3)
	l := p.lab
	const hosts, root = "anna@host1,anna@host2,anna@host3", "/home/anna/ml/c"
	options := append([]string{"-a", hosts, "-r", "ml", "-d", "digits", "--name", "c", "-m", "1"},
		p.images()...)
	first := p.up(append(options, "-w", "2,3")...)
	t.Logf("in %.1fs:\n%s%s", first.took.Seconds(), first.err, first.out)
	if !t.Run("shows no secret and has no rights", func(t *testing.T) { guarded(t, p, root) }) {
		t.FailNow()
	}

	before := all(t, l)
	again := p.up("-f")
	t.Logf("again in %.1fs", again.took.Seconds())
	if d := cmp.Diff(before, all(t, l)); d != "" || !strings.Contains(again.out,
		"nothing to change") {
		t.Errorf("repeated, it changes something:\n%s\n%s", d, again.out)
	}

	client := p.master(l.Hosts[0], root)
	id := submit(t, client, l.Hosts[0], root, "24", "sleep 1")
	eventually(t, "tasks run", func() bool {
		n := counts(t, client, id)
		return n[task.Running.String()]+n[task.Succeeded.String()] > 0
	})
	p.up("-f", "-w", "1,2,3")
	after := all(t, l)
	for _, h := range []string{"host2", "host3"} {
		if d := cmp.Diff(before[h], after[h]); d != "" {
			t.Errorf("a worker more on host1 changes %s:\n%s", h, d)
		}
	}
	if !strings.HasPrefix(after["host1"], before["host1"][:strings.Index(before["host1"],
		"/mlframework-c-master")]) || !strings.Contains(after["host1"], "/mlframework-c-worker") {
		t.Errorf("host1 had\n%sand has\n%s", before["host1"], after["host1"])
	}
	p.up("-f", "-w", "2")
	if d := cmp.Diff(before["host2"], containers(t, l.Hosts[1])); d != "" ||
		containers(t, l.Hosts[2]) != "" || strings.Contains(containers(t, l.Hosts[0]), "worker") {
		t.Errorf("with one worker on host2 there is\n%v", all(t, l))
	}
	succeeded(t, client, id)

	t.Run("a host is listed no more", func(t *testing.T) {
		p.up("-f", "-w", "2,3")
		r := p.up("-f", "-a", "anna@host1,anna@host3", "-w", "2")
		if !strings.Contains(r.err, "host2     warning: it leaves the cluster; the outputs of its "+
			"tasks stay in "+root) {
			t.Errorf("nothing says what stays on host2:\n%s", r.err)
		}
		if left := containers(t, l.Hosts[1]); left != "" {
			t.Errorf("host2 still has\n%s", left)
		}
	})
	t.Run("a host leaves that is away", func(t *testing.T) {
		away := l.Hosts[2]
		before := all(t, l)
		away.Cut(t)
		r := p.up("-f", "-w", "1")
		if !strings.Contains(r.err, "host3     warning: it is off, or cannot be asked (") {
			t.Errorf("nothing says that host3 is away:\n%s", r.err)
		}
		if d := cmp.Diff([]string{"master", "worker-host1"}, users(t, l.Hosts[0], "c")); d != "" {
			t.Errorf("host3 leaves and is away, and the broker's users are (-want +got)\n%s", d)
		}
		p.must("update-files")
		p.status(1, "host3: it is to leave the cluster, and is off or cannot be asked")
		away.Heal(t)
		p.status(1, "host3: it is to leave the cluster, and is back")
		p.up("-f", "-w", "1")
		if left := containers(t, away); left != "" {
			t.Errorf("host3 still has\n%s", left)
		}
		p.status(0, "all is well")
		p.up("-f", "-w", "2")
		before["host3"] = containers(t, away)
		away.Cut(t)
		p.up("-f", "-w", "1", "--skip-bad")
		p.status(0, "all is well")
		away.Heal(t)
		p.up("-f", "-w", "2") // it is found there
		if d := cmp.Diff(before["host3"], containers(t, away)); d != "" {
			t.Error(d)
		}
		p.works("host3")
	})
	t.Run("a change that fails", func(t *testing.T) {
		before, logins := all(t, l), users(t, l.Hosts[0], "c")
		p.fails(1, []string{"get the image no/such:image"}, "-f", "-a",
			"anna@host1,anna@host3,anna@host2", "-w", "2,3", "--image", "no/such:image")
		if d := cmp.Diff(before, all(t, l)); d != "" {
			t.Errorf("it leaves something behind, or takes something away:\n%s", d)
		}
		if d := cmp.Diff(logins, users(t, l.Hosts[0], "c")); d != "" {
			t.Errorf("the broker has other users than before:\n%s", d)
		}
		p.status(0, "all is well")
		p.must("update-files")
		p.up(append(p.images(), "-f", "-a", "anna@host1,anna@host3", "-w", "2")...)
	})
	t.Run("a host joins", func(t *testing.T) {
		before := all(t, l)
		p.up(append(p.images(), "-a", "anna@host2,anna@host1", "-r", "ml", "-d", "digits", "--name",
			"c", "-w", "1")...)
		if d := cmp.Diff(before["host1"], containers(t, l.Hosts[0])); d != "" ||
			!strings.Contains(containers(t, l.Hosts[1]), "worker") {
			t.Errorf("host2, which joins, has\n%s, and host1 changes:\n%s",
				containers(t, l.Hosts[1]), d)
		}
		p.works("host2", "host3")
		p.up("-f") // the options that were saved know nothing of it
		if d := cmp.Diff(before, all(t, l)); d != "" {
			t.Error(d)
		}
	})
	t.Run("a host with a fault does not leave", func(t *testing.T) {
		before := all(t, l)
		shell(t, l.Hosts[2], "chmod 500 "+root)
		p.fails(1, []string{"host3     warning: left out: ", "hosts were skipped:\nhost3: "}, "-f",
			"--skip-bad")
		shell(t, l.Hosts[2], "chmod 700 "+root)
		if d := cmp.Diff(before, all(t, l)); d != "" {
			t.Error(d)
		}
	})
	t.Run("the master stays", func(t *testing.T) {
		before := all(t, l)
		p.fails(1, []string{"host1: the master of the cluster c is here", "infra-clean --volumes"},
			append(options, "-m", "2", "-w", "3")...)
		p.fails(1, []string{"host3: its worker belongs to a cluster c whose master is elsewhere"},
			append(p.images(), "-a", "anna@host2,anna@host3", "-r", "ml", "-d", "digits", "--name",
				"c", "-m", "1", "-w", "2")...)
		if d := cmp.Diff(before, all(t, l)); d != "" {
			t.Error(d)
		}
	})
	t.Run("somebody is at work", func(t *testing.T) {
		l.Hosts[2].Exec(t, "sh", "-c", "cd /home/anna/ml; (exec 9>>.c.lock; flock 9; echo "+
			"ben@there >.c.lock; exec sleep 300) >/dev/null 2>&1 </dev/null & until grep -q ben "+
			".c.lock; do sleep 0.1; done")
		p.fails(1, []string{"host3: somebody is at work on this cluster: ben@there",
			"--break-lock"}, "-f")
		p.up("-f", "--break-lock")
	})
	t.Run("by itself after a power cut", func(t *testing.T) {
		l.Hosts[0].PowerOff(t)
		l.Hosts[0].PowerOn(t)
		l.Hosts[2].Exec(t, "sh", "-c", "kill $(pidof dockerd)")
		eventually(t, "all containers run", func() bool {
			r := p.run("infrainit", "-f")
			return r.code == 0 && strings.Contains(r.out, "nothing to change")
		})
	})
	removed(t, p)
}

// removed has infra-clean remove a cluster: with a host that is away, with all, and once more.
func removed(t *testing.T, p *laptop) {
	t.Helper()
	away := p.lab.Hosts[2]
	away.Exec(t, "lab-host", "ready")
	away.Freeze(t)
	r := p.run("./infra-clean", "--volumes", "--files", "--yes")
	if r.code != 1 || !strings.Contains(r.out, "host3: LEFT: everything") ||
		!strings.Contains(r.out, "host1: removed: containers (3)") {
		t.Errorf("with a host away infra-clean ended with %d:\n%s%s", r.code, r.out, r.err)
	}
	away.Thaw(t)
	for range 2 {
		if r := p.must("./infra-clean", "--volumes", "--files", "--yes"); !strings.Contains(r.out,
			"cluster c: nothing is left") {
			t.Error(r.out)
		}
	}
	for _, h := range p.lab.Hosts {
		left := slices.DeleteFunc(strings.Split(remains(t, h), "\n"), func(line string) bool {
			return line == ""
		})
		// Host2 had left the cluster: its files stay, as nothing says any more that they are there.
		left = slices.DeleteFunc(left, func(line string) bool {
			return h.Name == "host2" && (strings.HasPrefix(line, "/home/anna/ml") ||
				strings.HasPrefix(line, "/home/anna/.cache"))
		})
		if len(left) > 0 {
			t.Errorf("%s has\n%s", h.Name, strings.Join(left, "\n"))
		}
		if files := ofRoot(t, h); files != "" {
			t.Errorf("on %s these belong to root:\n%s", h.Name, files)
		}
	}
	if r := p.run("./infra-clean", "--everything"); r.code != 2 {
		t.Errorf("an option that is none ends with %d", r.code)
	}
}
