package main_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestHostsGoDuringASweep has hosts go while a sweep runs, each in another way, and come back: what
// is wrong is said, who is back takes work again by itself, and every task ends well, with the
// files that the sweep began with.
func TestHostsGoDuringASweep(t *testing.T) {
	slow(t)
	p := newLaptop(t, 3)
	second, third := p.lab.Hosts[1], p.lab.Hosts[2]
	p.up(append(p.images(), "-a", "anna@host1,anna@host2", "-d", "digits", "--name", "c", "-m", "1",
		"-w", "2", "--slots", "2")...)
	const tasks = 400
	p.has("digits/parameters.yml", fmt.Sprintf("n: [0, %d)\n", tasks))
	sweep := p.command(t.Context(), "run-tasks", "-q", "work")
	var said bytes.Buffer
	sweep.Stderr = &said
	if err := sweep.Start(); err != nil {
		t.Fatal(err)
	}
	busy := func(host string) bool {
		r := p.run("check-status")
		return r.code == 0 && regexp.MustCompile(`(?m)^`+host+
			` +worker +ready +\S+ +2 +[12]\b`).MatchString(r.out)
	}
	wrong := func(host string, says string) {
		t.Helper()
		begun := time.Now()
		eventually(t, host+": "+says, func() bool {
			r := p.run("check-status")
			return r.code == 1 && strings.Contains(r.out, host) && strings.Contains(r.out+r.err,
				says)
		})
		t.Logf("%s: check-status says so %.1f s later", host, time.Since(begun).Seconds())
	}
	back := func(host string) {
		t.Helper()
		begun := time.Now()
		eventually(t, host+" runs tasks", func() bool { return busy(host) })
		t.Logf("%s runs tasks again %.1f s later", host, time.Since(begun).Seconds())
	}
	back("host2")

	second.Cut(t)
	wrong("host2", "did not answer")
	second.Heal(t)
	back("host2")

	// Files that change now are for sweeps from now on.
	p.has("digits/version", "two\n")
	p.must("update-files")
	p.has("digits/parameters.yml", "n: [0, 2)\n")
	later := strings.TrimSpace(p.must("run-tasks", "-q", "--priority", "1", "work").out)

	// A host more takes tasks of the sweep that is older than it, and than the files that are
	// brought there.
	p.up("-f", "-a", p.hosts("anna"), "-w", "2,3")
	back("host3")

	third.PowerOff(t)
	wrong("host3", "host3")
	third.PowerOn(t)
	back("host3")

	second.Exec(t, "sh", "-c", "kill $(pidof dockerd)")
	wrong("host2", "host2")
	back("host2")

	if err := sweep.Wait(); err != nil {
		t.Fatalf("the sweep ended with %v:\n%s", err, said.String())
	}
	again := 0
	rows := p.rows("work-1")
	for _, r := range rows {
		again += r.Attempts - 1
		if r.State != "succeeded" {
			t.Errorf("%+v", r)
		}
	}
	if !slices.ContainsFunc(rows, func(r row) bool { return r.Host == "host3" }) {
		t.Error("host3, which came later, ran none")
	}
	if len(rows) != tasks {
		t.Errorf("there are %d tasks", len(rows))
	}
	t.Logf("%d attempts were lost with their hosts", again)
	p.fetched("work-1", tasks, "one\n")
	p.fetched(later, 2, "two\n")
	p.must("./infra-clean", "--volumes", "--files", "--yes")
	clean(t, p.lab)
}
