package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/sweep/worker/process"
)

func init() { helpers["out of memory"] = outOfMemory }

// The helper runs in a control group with 200 MB, where this test may make one.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	group := limitedGroup(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*soon)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `echo $$ > "$1/cgroup.procs" && exec "$2"`, "sh",
		group, os.Args[0])
	cmd.Env = append(os.Environ(), "HELPER=out of memory")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

func limitedGroup(t *testing.T) string {
	t.Helper()
	own, _ := os.ReadFile("/proc/self/cgroup") // empty: no groups
	for _, events := range process.OOMFiles(string(own)) {
		dir := filepath.Join(filepath.Dir(events), fmt.Sprintf("process-test-%d", os.Getpid()))
		limit := map[string]string{"memory.events": "memory.max",
			"memory.oom_control": "memory.limit_in_bytes"}[filepath.Base(events)]
		if limit == "" || os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			within(t, soon, "the group is empty", func() bool { return os.Remove(dir) == nil })
		})
		if err := os.WriteFile(filepath.Join(dir, limit), []byte("200000000"), 0o644); err == nil {
			return dir
		}
	}
	t.Skip("NOT TESTED: a program that the kernel ends for want of memory; " +
		"it needs the right to make a memory control group")
	return ""
}

func outOfMemory() int {
	k, err := process.NewKeeper(nil)
	if err != nil {
		return fail(err)
	}
	said := &strings.Builder{}
	for _, c := range []struct {
		script string
		want   process.Cause
	}{
		{"kill -9 $$", process.Signalled},
		{"exec python3 -S -c 'x = bytearray(400000000)'", process.OutOfMemory},
		{"kill -9 $$", process.Signalled}, // the one before is used up
		{"python3 -S -c 'x = bytearray(400000000)'; exit $?", process.OutOfMemory},
	} {
		e := k.Run(context.Background(), process.Spec{Argv: []string{"bash", "-c", c.script},
			Env: os.Environ(), Stdout: said, Stderr: said})
		if e.Cause != c.want {
			return fail(fmt.Errorf("%s: %+v, want %v, printed %s", c.script, e, c.want, said))
		}
	}
	return closed(k)
}

// A program and what it started early are both the kernel's first choice.
func TestPreferredForOOM(t *testing.T) {
	t.Parallel()
	const script = `
		sh -c 'until [ "$(cat /proc/$$/oom_score_adj)" = 500 ]; do sleep 0.01; done' &
		child=$!
		until [ "$(cat /proc/$$/oom_score_adj)" = 500 ]; do sleep 0.01; done
		wait $child`
	exit := keeper.Run(t.Context(), process.Spec{Argv: []string{"sh", "-c", script},
		Env: os.Environ(), Timeout: soon})
	if exit.Cause != process.Exited || exit.Code != 0 {
		t.Errorf("%+v, want the program to see that it is preferred", exit)
	}
}
