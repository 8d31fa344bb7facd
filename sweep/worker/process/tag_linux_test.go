package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"mlframework/sweep/worker/process"
)

func init() { helpers["another's tag"] = anothersTag }

// TestNobodyGuessesATag has a daemon, whose calls nobody filters, take the number before its
// own, to be of the program that was started before and to outlive its own.
func TestNobodyGuessesATag(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip("NOT TESTED: there is no prlimit")
	}
	alone(t, "another's tag")
}

func anothersTag() int {
	k, err := process.WithoutCgroups()
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started, ended := make(chan int, 1), make(chan process.Exit, 1)
	go func() {
		ended <- k.Run(ctx, process.Spec{Argv: []string{"sleep", "60"}, Env: os.Environ(),
			Marks: []string{"TASK_ID=other"}, Started: func(pid int) { started <- pid }})
	}()
	other := <-started
	var out bytes.Buffer
	e := k.Run(ctx, process.Spec{Argv: []string{"sh", "-c", `
		tag=unlimited # until it has one, a moment after its start
		while [ $tag = unlimited ]; do tag=$(prlimit --locks --raw --noheadings -o SOFT); done
		setsid sh -c 'prlimit --pid $$ --locks=$0: && { sleep 60 & }' $((tag - 1))`},
		Stdout: &out, Stderr: &out, Env: append(os.Environ(), "TASK_ID=it"),
		Marks: []string{"TASK_ID=it"}})
	left := k.AllChildren()
	cancel()
	if of := <-ended; e.Code != 0 || e.Left != 1 || of.Left != 0 ||
		!slices.Equal(left, []int{other}) {
		return fail(fmt.Errorf("%+v\n%s\nleft are %v beside %d, which ended with %+v", e, &out,
			left, other, of))
	}
	return closed(k)
}
