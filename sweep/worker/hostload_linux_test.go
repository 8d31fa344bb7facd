package worker_test

import (
	"runtime"
	"testing"
	"testing/fstest"

	"mlframework/sweep/worker"
)

func TestCPUShare(t *testing.T) {
	t.Parallel()
	const rest = "\ncpu0 1 2 3 4\nintr 5\n"
	for _, c := range []struct {
		name, before, now string
		want              float64
	}{
		{"a quarter", "cpu  100 0 100 1000 0 0 0 0 0 0", "cpu  200 0 150 1400 50 0 0 0 0 0",
			150.0 / 600},
		{"guests are users already", "cpu  0 0 0 100 0 0 0 0 0 0", "cpu  100 0 0 200 0 0 0 0 100 0",
			0.5},
		{"stolen and interrupts", "cpu  0 0 0 100 0 0 0 0", "cpu  0 10 0 160 0 10 10 10", 0.4},
		{"all", "cpu  1 0 0 100 0 0 0 0", "cpu  101 0 0 100 0 0 0 0", 1},
		{"nothing happened", "cpu  1 0 0 100 0 0 0 0", "cpu  1 0 0 100 0 0 0 0", 0},
		{"the first look", "", "cpu  1 0 0 100 0 0 0 0", 0},
		{"it went back", "cpu  9 0 0 100 0 0 0 0", "cpu  1 0 0 200 0 0 0 0", 0},
		{"not that file", "cpu  9 0 0 100 0 0 0 0", "cpus 1 0 0 200 0 0 0 0", 0},
		{"too short", "cpu  9 0 0 100 0 0 0 0", "cpu  1 0", 0},
	} {
		if got := worker.CPUShare([]byte(c.before+rest), []byte(c.now+rest)); got != c.want {
			t.Errorf("%s: %v; want %v", c.name, got, c.want)
		}
	}
}

func TestMemoryIsThatOfTheClosestLimit(t *testing.T) {
	t.Parallel()
	const info = "MemTotal:       24684096 kB\nMemFree:        21560532 kB\n" +
		"MemAvailable:   24109740 kB\nBuffers:          332016 kB\n"
	const total, free = 24684096 << 10, 24109740 << 10
	const g = 1 << 30
	for _, c := range []struct {
		name        string
		files       map[string]string
		total, free int64
	}{
		{"no groups", map[string]string{}, total, free},
		{"v2 without limit", map[string]string{"proc/self/cgroup": "0::/user\n",
			"sys/fs/cgroup/user/memory.max": "max\n", "sys/fs/cgroup/user/memory.current": "5\n"},
			total, free},
		{"v2 in a container", map[string]string{"proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max":     "2147483648\n",
			"sys/fs/cgroup/memory.current": "1610612736\n",
			"sys/fs/cgroup/memory.stat": "anon 1\nfile 7\ninactive_file " +
				"536870912\nactive_file 3\n"}, 2 * g, g},
		{"v2, a limit above", map[string]string{"proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max":       "1073741824",
			"sys/fs/cgroup/a/memory.current":   "1073741824",
			"sys/fs/cgroup/a/b/memory.max":     "2147483648",
			"sys/fs/cgroup/a/b/memory.current": "0"},
			g, 0},
		{"over its limit", map[string]string{"proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "1073741824", "sys/fs/cgroup/memory.current": "2147483648"},
			g, 0},
		{"more than the host", map[string]string{"proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "1099511627776", "sys/fs/cgroup/memory.current": "0"},
			total, free},
		{"v1", map[string]string{"proc/self/cgroup": "9:name=systemd:/\n4:memory:/x/y\n0::/\n",
			"sys/fs/cgroup/memory/x/y/memory.limit_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/x/y/memory.usage_in_bytes": "536870912\n",
			"sys/fs/cgroup/memory/x/y/memory.stat":           "total_inactive_file 268435456\n"}, g,
			3 * g / 4},
		{"v1 without limit", map[string]string{"proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "536870912\n"}, total, free},
		{"v1 in a container, by the host's path",
			map[string]string{"proc/self/cgroup": "4:memory:/docker/1234\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
				"sys/fs/cgroup/memory/memory.usage_in_bytes": "0\n"}, g, g},
	} {
		root := fstest.MapFS{"proc/meminfo": {Data: []byte(info)}}
		for name, text := range c.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if total, free := worker.Memory(root); total != c.total || free != c.free {
			t.Errorf("%s: %d of %d; want %d of %d", c.name, free, total, c.free, c.total)
		}
	}
}

func TestHeartbeatsHaveTheLoad(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil) // its folder of outputs is not there yet
	l := (<-s.queue.Heartbeats(t.Context())).Load
	if l == nil || l.Cores != runtime.NumCPU() || l.CPU < 0 || l.CPU > 1 || l.MemoryTotal < 1<<26 ||
		l.MemoryFree <= 0 || l.MemoryFree > l.MemoryTotal ||
		l.DiskTotal < 1<<20 || l.DiskFree < 0 || l.DiskFree > l.DiskTotal {
		t.Errorf("%+v", l)
	}
}
