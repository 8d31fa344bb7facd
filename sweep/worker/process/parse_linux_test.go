package process_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/worker/process"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	// Recorded; the name is one that a program gave itself: "a) R 1 (b".
	line := "4711 (a) R 1 (b) S 4242 4711 4700 34816 4711 4194304 121 0 0 0 3 1 0 0 20 0 1 0 " +
		"302082 2703360 400 18446744073709551615\n"
	pid, parent, group, session, born := process.Numbers([]byte(line))
	if got := [...]uint64{uint64(pid), uint64(parent), uint64(group), uint64(session),
		born}; got != [...]uint64{4711, 4242, 4711, 4700, 302082} {
		t.Errorf("got %v", got)
	}
	for _, bad := range []string{"", "1", "1 (x", "1 (x)", "1 (x) S 1 2",
		") 1 ( S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"} {
		if _, ok := process.ParseStat([]byte(bad)); ok {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestParseOOMKills(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		want       uint64
		ok         bool
	}{
		{"v2", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n", 2, true},
		{"v1", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n", 7, true},
		{"v1 before Linux 4.13", "oom_kill_disable 0\nunder_oom 0\n", 0, false},
		{"vmstat", "nr_free_pages 1\noom_kill 1\nnuma_pte_updates 0\n", 1, true},
		{"empty", "", 0, false},
		{"damaged", "oom_kill many\n", 0, false},
	} {
		if n, ok := process.ParseOOMKills([]byte(c.file)); n != c.want || ok != c.ok {
			t.Errorf("%s: got %d, %v", c.name, n, ok)
		}
	}
}

func TestOOMFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, cgroup string
		want         []string
	}{
		{"v2", "0::/user.slice/a.scope\n",
			[]string{"/sys/fs/cgroup/user.slice/a.scope/memory.events",
				"/sys/fs/cgroup/memory.events", "/proc/vmstat"}},
		{"container", "0::/\n", []string{"/sys/fs/cgroup/memory.events",
			"/sys/fs/cgroup/memory.events", "/proc/vmstat"}},
		{"both", "4:memory:/docker/1\n0::/\n", []string{
			"/sys/fs/cgroup/memory/docker/1/memory.oom_control",
			"/sys/fs/cgroup/memory/memory.oom_control",
			"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory.events", "/proc/vmstat",
		}},
		{"nothing", "", []string{"/proc/vmstat"}},
	} {
		if diff := cmp.Diff(c.want, process.OOMFiles(c.cgroup)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
