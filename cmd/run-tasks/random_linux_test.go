package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/internal/invariants"
	"mlframework/internal/processtest"
	"mlframework/sweep/store"
)

// storm is a folder with two terminals and a sweep in the background, to which everything happens.
type storm struct {
	folder
	random *rand.Rand
	calls  map[string]*call // in terminals, by definition; nil: it has ended
	seen   invariants.Evidence
	kinds  map[string]int // of faults, how many
}

// listedSweep is a sweep as `ls --json` shows it.
type listedSweep struct {
	ID, Definition, State string
	Total                 int64
	Counts                map[string]int64
}

const background = "back"

var stormSweeps = []string{"one", "two", background}

// Terminals, the runner, and parts of it end at random moments: every task ends once. With
// FAULTS=long the moments are others in each run; FAULTS_SEED repeats those of one.
func TestRandomEnds(t *testing.T) {
	t.Parallel()
	seed, moments := uint64(1), 20
	if os.Getenv("FAULTS") == "long" {
		seed, moments = rand.Uint64(), 200
	}
	if n, err := strconv.ParseUint(os.Getenv("FAULTS_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("FAULTS_SEED=%d", seed)
	x := &storm{folder: newFolder(t, "grace: 1s", ""), random: rand.New(rand.NewPCG(seed, 0)),
		calls: map[string]*call{}, kinds: map[string]int{}}
	x.seen.Confirmed = map[string]int64{}
	x.write("p/work.sh", "STARTS="+x.path("starts")+"\n"+invariants.Note+
		"\ntest $((TASK_INDEX % 5)) = 0 && trap '' TERM\nsleep 0.$((TASK_INDEX % 4))\n")
	x.write("p/parameters.yml", "x: [1, 2, 3, 4]\ny: [1, 2, 3, 4, 5, 6, 7, 8]\n")
	const one = "  %s: {command: [sh, work.sh], parameters: parameters.yml, grace: 1s, " +
		"retry: {lost: 100}}\n" // one task may run in many runners that are killed
	text := "tasks:\n"
	for _, name := range stormSweeps {
		text += fmt.Sprintf(one, name)
	}
	x.write("p/tasks.yml", text)
	for range moments {
		x.goOn()
		time.Sleep(time.Duration(x.random.IntN(300)) * time.Millisecond) // the moment
		x.next()
		if t.Failed() {
			return
		}
	}
	x.finish()
	t.Logf("%v", x.kinds)
}

// goOn has every sweep run that does not: it is begun, or resumed. Some are left as they are.
func (x *storm) goOn() {
	x.t.Helper()
	for _, name := range stormSweeps {
		if c := x.calls[name]; c != nil && c.over() {
			x.calls[name] = nil
		}
		if x.calls[name] == nil && x.random.IntN(4) > 0 {
			x.begin(name)
		}
	}
}

// begin resumes the newest sweep of a definition, or begins one if all have ended.
func (x *storm) begin(name string) {
	x.t.Helper()
	args := []string{"--local", "-d", "p", "--slots", "3", name}
	for _, s := range x.list() {
		if s.Definition != name || s.State == "finished" {
			continue
		}
		if args = []string{"resume", s.ID}; s.State != "paused" {
			return
		}
	}
	if name != background {
		x.calls[name] = x.start(nil, append(args, "--no-output")...)
	} else if _, stderr, code := x.run(append(args, "--detach")...); code != 0 {
		x.t.Errorf("%v: exit code %d: %s", args, code, stderr)
	}
}

// list lists the sweeps, and holds that nothing that was listed before is missing, and that none is
// shown as running while there is no runner.
func (x *storm) list() (all []listedSweep) {
	x.t.Helper()
	if _, err := os.Stat(x.path(".mlframework/store.db")); err != nil {
		return nil
	}
	runs := len(x.runners()) > 0
	stdout, stderr, code := x.run("ls", "--json")
	if code != 0 {
		x.t.Errorf("ls: exit code %d: %s", code, stderr)
	}
	kept := map[string]bool{}
	for line := range strings.Lines(stdout) {
		var s listedSweep
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			x.t.Fatal(err)
		}
		runs = runs || len(x.runners()) > 0
		if (s.State == "running" || s.Counts["running"]+s.Counts["claimed"] > 0) && !runs {
			x.t.Errorf("no runner, and it is shown as running: %s", line)
		}
		kept[s.ID], x.seen.Confirmed[s.ID] = true, s.Total
		all = append(all, s)
	}
	for id := range x.seen.Confirmed {
		if !kept[id] {
			x.t.Errorf("%s is lost", id)
		}
	}
	return all
}

// next ends something, and waits for what follows.
func (x *storm) next() {
	x.t.Helper()
	fault := invariants.Fault{From: time.Now()}
	name := stormSweeps[x.random.IntN(2)]
	c := x.calls[name]
	guard, executor := x.pair()
	switch n := x.random.IntN(6); {
	case n < 3 && c == nil, n >= 3 && executor == 0:
		return
	case n == 0:
		fault.What = "Ctrl-C"
		_ = syscall.Kill(-c.pid(), syscall.SIGINT)
	case n == 1:
		fault.What = "Ctrl-C twice"
		_ = syscall.Kill(-c.pid(), syscall.SIGINT)
		_ = syscall.Kill(-c.pid(), syscall.SIGTERM)
	case n == 2:
		fault.What = "client killed"
		processtest.Kill(x.t, c.pid())
	case n == 3:
		fault.What = "guard killed"
		processtest.Kill(x.t, guard)
	case n == 4:
		fault.What = "executor killed"
		processtest.Kill(x.t, executor)
	case n == 5:
		fault.What = "both killed"
		processtest.Kill(x.t, guard, executor)
	}
	if strings.HasSuffix(fault.What, "killed") && fault.What != "client killed" {
		for _, c := range x.calls {
			if c != nil {
				c.wait()
			}
		}
		eventually(x.t, deadline, "the runner has ended", func() bool {
			return !slices.ContainsFunc(x.runners(), func(p processtest.Process) bool {
				return p.PID == guard || p.PID == executor
			})
		})
		if fault.What != "both killed" { // else no process is left to end the attempts
			x.dead(10 * time.Second)
		}
	} else {
		c.wait()
		eventually(x.t, deadline, "its attempts have ended", func() bool {
			return !slices.ContainsFunc(processtest.Running(), func(p processtest.Process) bool {
				return strings.HasPrefix(p.Environ["OUTPUT_DIR"], x.path("outputs")) &&
					strings.HasPrefix(p.Environ["SWEEP_ID"], name+"-")
			})
		})
	}
	fault.To = time.Now()
	x.kinds[fault.What]++
	x.seen.Faults = append(x.seen.Faults, fault)
	x.list()
}

// pair returns the processes of the runner; 0 where there is none.
func (x *storm) pair() (guard, executor int) {
	all := x.runners()
	for _, p := range all {
		if slices.ContainsFunc(all, func(g processtest.Process) bool { return g.PID == p.Parent }) {
			return p.Parent, p.PID
		}
	}
	return 0, 0
}

// finish has everything run to its end, and holds the store to what is promised.
func (x *storm) finish() {
	x.t.Helper()
	for _, c := range x.calls {
		if c != nil {
			c.waitFor(2 * deadline)
		}
	}
	for _, s := range x.list() {
		if s.State == "paused" {
			if _, stderr, code := x.run("resume", s.ID); code != 0 {
				x.t.Errorf("resume %s: exit code %d: %s", s.ID, code, stderr)
			}
		} else if _, stderr, code := x.run("wait", s.ID); code != 0 {
			x.t.Errorf("wait %s: exit code %d: %s", s.ID, code, stderr)
		}
	}
	x.over()
	x.dead(0)
	for _, s := range x.list() {
		if s.State != "finished" || s.Counts["succeeded"] != s.Total {
			x.t.Errorf("%s is %s: %v", s.ID, s.State, s.Counts)
		}
	}
	file, err := os.Open(x.path("starts"))
	if err != nil {
		x.t.Fatal(err)
	}
	defer file.Close()
	if x.seen.Starts, err = invariants.ReadStarts(file); err != nil {
		x.t.Fatal(err)
	}
	r, err := store.OpenReader(x.t.Context(), x.path(".mlframework"))
	if err != nil {
		x.t.Fatal(err)
	}
	defer r.Close()
	found, err := invariants.Check(x.t.Context(), r, x.seen)
	if err != nil {
		x.t.Fatal(err)
	}
	if err := invariants.Error(found); err != nil {
		x.t.Error(err)
	}
	x.t.Logf("%d sweeps, %d starts, %d faults", len(x.seen.Confirmed), len(x.seen.Starts),
		len(x.seen.Faults))
}
