package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mlframework/sweep/worker/process"
)

func init() {
	helpers["limits"], helpers["old kernel"], helpers["close"] = limits, oldKernel, closing
	helpers["abandoned"] = abandoned
	helpers["left at once"] = leftAtOnce
}

func TestOneKeeper(t *testing.T) {
	t.Parallel()
	if _, err := process.NewKeeper(nil); err == nil {
		t.Error("a second keeper in one process")
	}
}

// A program that is being started is taken for no adopted process, even where programs share their
// marks.
func TestStartsAreNotAdopted(t *testing.T) {
	s, _ := shell(t, "(exec true) & exit 3")
	s.Stdout, s.Stderr = nil, nil
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 250 {
				if e := keeper.Run(t.Context(), s); e.Code != 3 || e.Err != nil {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	work.Wait()
}

// What the cheap look at the end of every program rests on: the main thread gets the adopted ones.
func TestAdoptedComeToTheMainThread(t *testing.T) {
	t.Parallel()
	s, _ := python(t, "daemon(stay)\nnoted(1)\nprint('ready', flush=True)\nstay()")
	ctx, cancel := context.WithCancel(t.Context())
	s.Stdout = writerFunc(func(b []byte) (int, error) {
		text, _ := os.ReadFile(s.Dir + "/pids")
		pid, err := strconv.Atoi(strings.Fields(string(text))[0])
		if main, all := keeper.MainThreadChildren(), keeper.AllChildren(); err != nil ||
			!slices.Contains(main, pid) || !slices.Contains(all, pid) {
			t.Errorf("adopted %d (%v) is not in %v", pid, err, main)
		}
		cancel()
		return len(b), nil
	})
	keeper.Run(ctx, s)
}

// Exit codes are not stolen by the reaping of adopted processes, neither from Run nor from os/exec,
// and nothing is left.
func TestManyProgramsThatLeaveZombies(t *testing.T) {
	t.Parallel()
	const slots, each = 8, 40
	zombies := `(sh -c 'exit 0' & sh -c 'exit 0' & exec true) & exit `
	before := descriptors(t)
	var work sync.WaitGroup
	for slot := range slots {
		work.Go(func() {
			for i := range each {
				want := (slot*each + i) % 256
				if i%4 == 3 {
					cmd := exec.Command("sh", "-c", zombies+strconv.Itoa(want))
					_ = cmd.Run() // the code says it
					if got := cmd.ProcessState.ExitCode(); got != want {
						t.Errorf("os/exec: exit code %d, want %d", got, want)
					}
					continue
				}
				s, _ := shell(t, zombies+strconv.Itoa(want))
				if e := keeper.Run(t.Context(), s); e.Code != want || e.Err != nil ||
					len(e.Unkillable) > 0 {
					t.Errorf("exit code %d, want %d: %+v", e.Code, want, e)
				}
			}
		})
	}
	work.Wait()
	within(t, soon, "descriptors flat", func() bool { return descriptors(t) <= before+40 })
	within(t, soon, "no goroutine of a run", func() bool {
		buf := make([]byte, 1<<20)
		return strings.Count(string(buf[:runtime.Stack(buf, true)]), "awaitDeath") == 0
	})
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// alone runs a helper with a Keeper of its own.
func alone(t *testing.T, helper string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*soon)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Dir = append(os.Environ(), "HELPER="+helper), t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

func TestNoDescriptorsIsTheHosts(t *testing.T) { t.Parallel(); alone(t, "limits") }
func TestOldKernel(t *testing.T)               { t.Parallel(); alone(t, "old kernel") }
func TestClose(t *testing.T)                   { t.Parallel(); alone(t, "close") }

// What a program left without a trace, and was not known to be its before it was over, is ended,
// and nothing else.
func TestAbandoned(t *testing.T) { t.Parallel(); alone(t, "abandoned") }

// After KillAll nobody is told of the end of a program that was killed by it, nor where what it
// started dies later.
func TestLeftAtOnce(t *testing.T) { t.Parallel(); alone(t, "left at once") }

func leftAtOnce() int {
	k, err := process.Hasty()
	if err != nil {
		return fail(err)
	}
	running, told := make(chan struct{}), make(chan process.Exit, 1)
	go func() {
		told <- k.Run(context.Background(), process.Spec{Argv: []string{"sh", "-c",
			"for i in $(seq 40); do sleep 60 & done; echo ready; wait"}, Env: os.Environ(),
			Stdout: writerFunc(func(b []byte) (int, error) { close(running); return len(b), nil }),
			Ended:  func(e process.Exit) { told <- e }})
	}()
	<-running
	k.KillAll()
	select {
	case e := <-told:
		return fail(fmt.Errorf("told: %+v", e))
	case <-time.After(100 * time.Millisecond): // it was told at once
		return 0
	}
}

func abandoned() int {
	k, err := process.WithoutCgroups()
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	over := k.Fork() // what is left may be that program until it is over
	e := k.Run(ctx, process.Spec{Argv: []string{"sh", "-c",
		"env -i prlimit --locks=unlimited setsid sh -c 'sleep 60 & exec sleep 60' & sleep 0.2"},
		Env: os.Environ()})
	left := k.AllChildren()
	if e.Cause != process.Exited || e.Left != 0 || len(left) != 1 {
		return fail(fmt.Errorf("%+v, left %v", e, left))
	}
	started, held := make(chan int, 1), make(chan process.Exit, 1)
	go func() {
		held <- k.Run(ctx, process.Spec{Argv: []string{"sleep", "60"}, Env: os.Environ(),
			Started: func(pid int) { started <- pid }})
	}()
	pid := <-started
	over()
	for end := time.Now().Add(soon); !slices.Equal(k.AllChildren(),
		[]int{pid}); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return fail(fmt.Errorf("left: %v beside %d", k.AllChildren(), pid))
		}
	}
	cancel()
	if e := <-held; e.Cause != process.Stopped {
		return fail(fmt.Errorf("what runs ended, too: %+v", e))
	}
	return closed(k)
}

func limits() int {
	k, err := process.NewKeeper(nil)
	if err != nil {
		return fail(err)
	}
	spec := process.Spec{Argv: []string{"true"}, Stdout: os.Stdout, Stderr: os.Stderr}
	open := 3
	for {
		fd, err := syscall.Dup(0)
		if err != nil {
			return fail(err)
		}
		if syscall.Close(fd); fd > 2 {
			open = fd
			break
		}
	}
	for n := open; n < open+64; n++ {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE,
			&syscall.Rlimit{Cur: uint64(n), Max: 1024}); err != nil {
			return fail(err)
		}
		e := k.Run(context.Background(), spec)
		if e.Cause == process.Exited {
			return closed(k)
		}
		if e.Cause != process.BadHost || !errors.Is(e.Err, syscall.EMFILE) ||
			!strings.Contains(e.Err.Error(), "descriptors") {
			return fail(fmt.Errorf("with %d descriptors: %v %v", n, e.Cause, e.Err))
		}
	}
	return fail(errors.New("never enough descriptors: some leak"))
}

func oldKernel() int {
	k, err := process.OldKernel()
	if err != nil {
		return fail(err)
	}
	var work sync.WaitGroup
	wrong := make(chan process.Exit, 100)
	for i := range 20 {
		work.Go(func() {
			e := k.Run(context.Background(), process.Spec{
				Argv: []string{"sh", "-c", "setsid sleep 60 & exit " +
					strconv.Itoa(i)}, Grace: time.Second,
				Env: append(os.Environ(), "TASK_ID="+strconv.Itoa(i)), Marks: []string{"TASK_ID=" +
					strconv.Itoa(i)},
			})
			if e.Code != i || len(e.Unkillable) > 0 {
				wrong <- e
			}
		})
	}
	work.Wait()
	if len(wrong) > 0 {
		return fail(fmt.Errorf("%+v", <-wrong))
	}
	if left := k.AllChildren(); len(left) > 0 {
		return fail(fmt.Errorf("left %v", left))
	}
	return closed(k)
}

func closing() int {
	k, err := process.NewKeeper(nil)
	if err != nil {
		return fail(err)
	}
	started, done := make(chan int, 1), make(chan process.Exit, 1)
	go func() {
		done <- k.Run(context.Background(), process.Spec{
			Argv: []string{"sh", "-c",
				"trap '' TERM; setsid sleep 60 & sleep 60; sleep 60"},
			Env: os.Environ(), Grace: time.Hour,
			Started: func(pid int) { started <- pid },
		})
	}()
	<-started
	if code := closed(k); code != 0 {
		return code
	}
	if e := <-done; e.Cause != process.Stopped || !errors.Is(e.Err, process.ErrClosed) {
		return fail(fmt.Errorf("%+v", e))
	}
	if e := k.Run(context.Background(),
		process.Spec{Argv: []string{"true"}}); e.Cause != process.BadHost ||
		!errors.Is(e.Err, process.ErrClosed) {
		return fail(fmt.Errorf("after Close: %+v", e))
	}
	if k, err = process.NewKeeper(nil); err != nil {
		return fail(err)
	}
	return closed(k)
}

func closed(k *process.Keeper) int {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	if err := k.Close(ctx); err != nil {
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	fmt.Println(err)
	return 1
}
