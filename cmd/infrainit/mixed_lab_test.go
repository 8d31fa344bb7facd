package main_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"mlframework/infra/lab"
)

// mixedTasks is a tasks.yml whose tasks print what they see of GPUs.
const mixedTasks = `tasks:
  one: &sees
    command: [sh, -c, 'echo "sees $GPU_UUIDS as $CUDA_VISIBLE_DEVICES"; sleep 2']
    parameters: parameters.yml
    gpus: 1
  large: {<<: *sees, gpus: {memory: 12g}}
  together: {<<: *sees, gpus: {memory: 3g, share: true}}
  named: {<<: *sees, gpus: {name: L4}}
  labelled: {<<: *sees, on: {disk: fast}}
`

// sharers are how many tasks with 3 GB each GPU has room for.
var sharers = map[string]int{"GPU-small0": 2, "GPU-small1": 2, "GPU-small2": 2, "GPU-small3": 2,
	"GPU-l4": 7, "GPU-a5000": 8}

// TestGPUsOfMixedHosts is a cluster of a host with four GPUs of 8 GB, one with two GPUs of 24 GB of
// two kinds, and one without GPUs. Tasks use all GPUs that meet their need, and never more of one
// than there is.
func TestGPUsOfMixedHosts(t *testing.T) {
	slow(t)
	p := newLaptop(t, 3)
	small, large := p.lab.Hosts[0], p.lab.Hosts[1]
	var four []string
	for n := range 4 {
		four = append(four, fmt.Sprintf("GPU-small%d,NVIDIA GeForce RTX 3070,8192", n))
	}
	program(t, small, "nvidia-smi", smiOf(four...))
	program(t, large, "nvidia-smi", smiOf("GPU-l4,NVIDIA L4,23034",
		"GPU-a5000,NVIDIA RTX A5000,24564"))
	p.has("digits/tasks.yml", mixedTasks)
	p.has("digits/parameters.yml", "n: [0, 40)\n")
	p.sweepsOn(small)
	passGPUs(t, small)
	passGPUs(t, large)
	p.has("cluster.yml", fmt.Sprintf("overrides:\n  %s: {labels: {disk: fast}}\n", large.Name))
	p.up(append(p.images(), "-a", p.hosts("anna"), "-r", "ml", "-d", "digits", "--name", "mixed",
		"-m", "3", "-w", "1,2,3")...)
	for _, c := range []struct {
		args    []string
		sharers int // tasks that a GPU has at a time; 0: it depends on the GPU
		most    int // tasks at a time
		hosts   []string
	}{
		{[]string{"one"}, 1, 6, []string{small.Name, large.Name}},
		{[]string{"one", "--gpus", "2"}, 1, 3, []string{small.Name, large.Name}},
		{[]string{"one", "--gpus", "0.5"}, 2, 12, []string{small.Name, large.Name}},
		{[]string{"one", "--gpus", "all"}, 1, 2, []string{small.Name, large.Name}},
		{[]string{"large"}, 1, 2, []string{large.Name}},
		// Two on each small GPU, seven and eight on the large ones.
		{[]string{"together"}, 0, 23, []string{small.Name, large.Name}},
		{[]string{"named"}, 1, 1, []string{large.Name}},
		{[]string{"labelled"}, 1, 2, []string{large.Name}},
	} {
		id := strings.TrimSpace(p.must(append([]string{"run-tasks", "-q"}, c.args...)...).out)
		rows := p.rows(id)
		var hosts []string
		for _, r := range rows {
			hosts = append(hosts, r.Host)
			p.saw(r, p.must("run-tasks", "logs", r.ID).out)
		}
		slices.Sort(hosts)
		if hosts = slices.Compact(hosts); !slices.Equal(hosts, slices.Sorted(slices.Values(c.hosts))) {
			t.Errorf("%v: ran on %v, want %v", c.args, hosts, c.hosts)
		}
		most, onGPU := atATime(rows)
		t.Logf("%v: %d tasks, %d at a time; on each GPU %v", c.args, len(rows), most, onGPU)
		if most != c.most {
			t.Errorf("%v: %d tasks at a time, want %d", c.args, most, c.most)
		}
		for uuid, n := range onGPU {
			if want := cmp.Or(c.sharers, sharers[uuid]); n > want {
				t.Errorf("%v: %d tasks had %s at a time, want %d", c.args, n, uuid, want)
			}
		}
	}
	p.must("./infra-clean", "--volumes", "--files", "--yes")
	clean(t, p.lab)
}

// sweepsOn sweeps on a host with the GPUs GPU-small0 to GPU-small3 with --local: over ssh, without
// a cluster and before its Docker can pass GPUs.
func (p *laptop) sweepsOn(h *lab.Host) {
	p.t.Helper()
	p.must("/bin/sh", "-ec", `tar -c digits -C "$1" run-tasks | ssh "$2" tar -x`, "sh", p.path,
		"anna@"+h.Name)
	on := func(script string) string {
		p.t.Helper()
		return p.must(p.home+"/bin/ssh", "anna@"+h.Name, "cd digits; "+script).out
	}
	for _, c := range []struct {
		visible string
		want    []string // the GPUs that tasks have
	}{
		{"", []string{"GPU-small0", "GPU-small1", "GPU-small2", "GPU-small3"}},
		{"CUDA_VISIBLE_DEVICES=1,3", []string{"GPU-small1", "GPU-small3"}},
		{"CUDA_VISIBLE_DEVICES=GPU-small2,GPU-small0", []string{"GPU-small0", "GPU-small2"}},
	} {
		id := strings.TrimSpace(on(c.visible + " ../run-tasks --local -q one"))
		rows := p.readRows(on("../run-tasks --local results --json " + id))
		logs := strings.SplitAfter(on("cd outputs/"+id+`
			for n in $(seq 0 39); do cat $n/stdout.log; done`), "\n")
		for i, r := range rows {
			p.saw(r, logs[i])
		}
		most, onGPU := atATime(rows)
		p.t.Logf("--local %s: %d tasks, %d at a time; on each GPU %v", c.visible, len(rows), most,
			onGPU)
		if used := slices.Sorted(maps.Keys(onGPU)); len(rows) != 40 || most != len(c.want) ||
			!slices.Equal(used, c.want) || slices.Max(slices.Collect(maps.Values(onGPU))) != 1 {
			p.t.Errorf("--local %s: %d tasks, %d at a time; on each GPU %v", c.visible, len(rows),
				most, onGPU)
		}
	}
	h.Exec(p.t, "rm", "-r", "/home/anna/digits", "/home/anna/run-tasks")
}

// saw checks that a task of mixedTasks succeeded with its first attempt and saw its own GPUs alone.
func (p *laptop) saw(r row, log string) {
	p.t.Helper()
	var uuids, numbers []string
	for _, g := range r.GPUs {
		uuids, numbers = append(uuids, g.UUID), append(numbers, g.Index)
	}
	want := fmt.Sprintf("sees %s as %s\n", strings.Join(uuids, ","), strings.Join(numbers, ","))
	if r.State != "succeeded" || log != want || r.Attempts != 1 {
		p.t.Errorf("%+v printed %q, want %q", r, log, want)
	}
}

// atATime returns how many tasks ran at a time at most, all together and on each GPU.
func atATime(rows []row) (most int, onGPU map[string]int) {
	onGPU = map[string]int{}
	for _, r := range rows { // the number is the highest when one of them begins
		beside, on := 0, map[string]int{}
		for _, other := range rows {
			ended := other.Started.Add(time.Duration(other.Duration * float64(time.Second)))
			if other.Started.After(r.Started) || !ended.After(r.Started.Add(clockStep)) {
				continue
			}
			beside++
			for _, g := range other.GPUs {
				on[g.UUID]++
			}
		}
		most = max(most, beside)
		for uuid, n := range on {
			onGPU[uuid] = max(onGPU[uuid], n)
		}
	}
	return most, onGPU
}

// clockStep is the precision of starts and durations.
const clockStep = 2 * time.Millisecond
