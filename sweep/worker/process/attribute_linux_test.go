package process_test

import (
	"testing"

	"mlframework/sweep/worker/process"
)

// TestAttribute decides about one adopted process, pid 900 that was born at 500, beside programs.
func TestAttribute(t *testing.T) {
	t.Parallel()
	a := process.Program{Pid: 10, Start: 100, Tag: 1001, Cgroup: "/own/k/1",
		Marks: []string{"TASK_ID=s/1", "ATTEMPT=1"}}
	b := process.Program{Pid: 20, Start: 200, Tag: 1002, Cgroup: "/own/k/2",
		Marks: []string{"TASK_ID=s/2", "ATTEMPT=1"}}
	late := process.Program{Pid: 30, Start: 600, Tag: 1003}
	starting := process.Program{Start: 400, Tag: 1004, Cgroup: "/own/k/4",
		Marks: []string{"TASK_ID=s/4", "ATTEMPT=1"}}
	queued := process.Program{Tag: 1005, Cgroup: "/own/k/5"}
	for _, c := range []struct {
		name     string
		stray    process.Adopted
		programs []process.Program
		want     string
	}{
		{"cgroup", process.Adopted{Cgroup: "/own/k/2"}, []process.Program{a, b}, "of 20"},
		{"a cgroup below", process.Adopted{Cgroup: "/own/k/2/inner"}, []process.Program{a, b},
			"of 20"},
		{"a cgroup whose name begins so", process.Adopted{Cgroup: "/own/k/22"},
			[]process.Program{a, b}, "shared"},
		{"cgroup against all other evidence", process.Adopted{Cgroup: "/own/k/2", Tag: 1001,
			Session: 10, Environ: a.Marks}, []process.Program{a, b}, "of 20"},
		{"tag", process.Adopted{Tag: 1002}, []process.Program{a, b}, "of 20"},
		{"tag of one that is being started", process.Adopted{Tag: 1004},
			[]process.Program{a, starting}, "undecided"},
		{"a tag of another keeper", process.Adopted{Tag: 1000}, []process.Program{a, b}, "shared"},
		{"session", process.Adopted{Session: 20}, []process.Program{a, b}, "of 20"},
		{"a session that is its own, of a pid that was used before",
			process.Adopted{Session: 900}, []process.Program{a, {Pid: 900, Start: 100}}, "shared"},
		{"marks", process.Adopted{Environ: []string{"X=1", "ATTEMPT=1", "TASK_ID=s/2"}},
			[]process.Program{a, b}, "of 20"},
		{"marks in part", process.Adopted{Environ: []string{"TASK_ID=s/3", "ATTEMPT=1"}},
			[]process.Program{a, b}, "shared"},
		{"no marks", process.Adopted{}, []process.Program{{Pid: 10, Start: 1}, {Pid: 20, Start: 2}},
			"shared"},
		{"it may be the program that is being started", process.Adopted{Session: 900,
			Environ: a.Marks}, []process.Program{a, starting}, "undecided"},
		{"marks of one that is being started", process.Adopted{Environ: starting.Marks},
			[]process.Program{a, starting}, "shared"},
		{"nothing, and one program", process.Adopted{}, []process.Program{a}, "of 10"},
		{"nothing, and one that is older", process.Adopted{}, []process.Program{a, late, queued},
			"of 10"},
		{"nothing, and none is older", process.Adopted{}, []process.Program{late, queued},
			"leave alone"},
		{"nothing, and no program", process.Adopted{}, nil, "leave alone"},
		{"of one that has ended, and none is older", process.Adopted{Ours: true},
			[]process.Program{late, queued}, "abandoned"},
		{"nothing, and one is being started", process.Adopted{}, []process.Program{starting},
			"shared"},
	} {
		c.stray.Pid, c.stray.Born = 900, 500
		if c.stray.Session == 0 {
			c.stray.Session = 800
		}
		if got := process.Attribute(c.stray, c.programs...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
