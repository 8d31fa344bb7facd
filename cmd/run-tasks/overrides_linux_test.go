package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A sweep by overrides goes on with its own points after everything was killed, and is extended by
// what is new: each point runs once.
func TestOverridesAfterKill(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", "")
	f.write("p/parameters.yml", "x: [1, 2, 3, 4, 5, 6]\ny: [1, 2]\n")
	f.write("p/work.sh", `trap '' TERM
echo "$@" >> `+f.path("begun")+`
test -e `+f.path("go")+` -o "$TASK_INDEX" = 0 || sleep 100
echo "$@" >> `+f.path("ended")+"\n")
	points := func(of string) []string {
		all := f.lines(of)
		slices.Sort(all)
		return all
	}

	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work", "x=7,8", "--repeat", "seed=1,2",
		"--limit", "5")
	eventually(t, deadline, "three tasks have begun", func() bool {
		return len(f.lines("begun")) == 3
	})
	f.known(2)
	f.killRunner()
	c.wait()
	f.write("go", "")
	f.write("p/parameters.yml", "x: 1\n") // what it was submitted with counts
	if stdout, stderr, code := f.run("resume", "--slots", "2"); code != 0 {
		t.Fatalf("resume: exit code %d: %s%s", code, stdout, stderr)
	}
	want := []string{"--x=7 --y=1 --seed=1", "--x=7 --y=1 --seed=2", "--x=7 --y=2 --seed=1",
		"--x=7 --y=2 --seed=2", "--x=8 --y=1 --seed=1"}
	if diff := cmp.Diff(want, points("ended")); diff != "" {
		t.Errorf("resumed (-want +got)\n%s", diff)
	}

	f.write("p/parameters.yml", "x: [1, 2, 3, 4, 5, 6]\ny: [1, 2]\n")
	for _, args := range []string{"extend --limit 0", "extend",
		"--local -d p --missing work x=8,7 --repeat seed=2,1"} {
		if stdout, stderr, code := f.run(strings.Fields(args)...); code != 0 {
			t.Fatalf("%s: exit code %d: %s%s", args, code, stdout, stderr)
		}
	}
	want = append(want, "--x=8 --y=1 --seed=2", "--x=8 --y=2 --seed=1", "--x=8 --y=2 --seed=2")
	if diff := cmp.Diff(want, points("ended")); diff != "" {
		t.Errorf("extended (-want +got)\n%s", diff)
	}
}

// What is wrong with the options of a sweep is told all at once, whether it is a number or not.
func TestWrongNumbersAreToldTogether(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "", "")
	f.write("p/parameters.yml", "x: [1, 2, 3]\n")
	for _, c := range []struct {
		options, want string
	}{
		{"--sample -3 --limit x --sample-seed a",
			"run-tasks: --limit x: it is not a whole number; write one, such as 20\n" +
				"run-tasks: --sample -3: it must be at least 1; write a greater number\n" +
				"run-tasks: --sample-seed a: it is not a whole number; write one, such as 20\n"},
		{"--limit 0x2",
			"run-tasks: --limit 0x2: it is not a whole number; write one, such as 20\n"},
		{"--limit x --sample-seed 09",
			"run-tasks: --limit x: it is not a whole number; write one, such as 20\n"},
		{"--sample-seed 99999999999999999999", "run-tasks: --sample-seed 99999999999999999999: it is " +
			"out of range; write one, such as 20\n"},
	} {
		args := append([]string{"--local", "-d", "p", "work"}, strings.Fields(c.options)...)
		if _, stderr, code := f.run(args...); code != 2 || !strings.HasSuffix(stderr, c.want) {
			t.Errorf("%s: exit code %d, %s", c.options, code, stderr)
		}
	}
}
