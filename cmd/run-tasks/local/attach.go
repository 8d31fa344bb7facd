package local

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/worker/process"
)

// Waiting for a runner that has the store and cannot be asked: one that begins, or ends.
const (
	storeLook = 50 * time.Millisecond
	storeTell = time.Second     // until the user is told
	storeTime = 5 * time.Second // until one that has the store and does not answer is given up
)

// mostStarts bounds how often a runner is started that is gone before a client is attached.
const mostStarts = 5

// Attached is a client that is attached to the runner of the current folder. Leave it at the end.
type Attached struct{ *api.Attachment }

// Attach attaches a client, made by [Dial] after [Prepare], to the runner of the folder, and starts
// one, with options of the command [RunnerCommand], if there is none. What the runner logs from now
// on is passed to print, from another goroutine.
func Attach(ctx context.Context, client *api.Client, options []string,
	print func(text string)) (*Attached, error) {
	a, err := attach(ctx, client, options, print)
	if err != nil {
		return nil, err
	}
	return &Attached{a}, nil
}

func attach(ctx context.Context, client *api.Client, options []string,
	print func(text string)) (*api.Attachment, error) {
	told, begun, starts := false, time.Now(), 0
	for giveUp := begun.Add(storeTime); ; {
		a, err := tryAttach(ctx, client, print)
		ends := isEnding(err)
		switch {
		case err == nil:
			return a, nil
		case !ends && !isAbsent(err):
			return nil, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case starts == mostStarts:
			return nil, err
		}
		var inUse *storeInUse
		if ends { // another would not get the store
			inUse = &storeInUse{Holder: cmp.Or(Holder(), "the runner of this folder")}
			giveUp = time.Now().Add(storeTime)
		} else if err = startRunner(ctx, options); err == nil {
			starts++
			continue
		} else if !errors.As(err, &inUse) || time.Now().After(giveUp) {
			return nil, err
		}
		if !told && time.Since(begun) > storeTell {
			told = true
			print("note: waiting for the end of " + inUse.Holder + "\n")
		}
		select {
		case <-time.After(storeLook):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryAttach asks for the runner's health first: a frozen one is noticed.
func tryAttach(ctx context.Context, client *api.Client,
	print func(text string)) (*api.Attachment, error) {
	if _, err := client.Health(ctx); err != nil {
		return nil, err
	}
	return client.Attach(ctx, print)
}

// isAbsent reports whether an error says that no runner answers.
func isAbsent(err error) bool {
	_, unreachable := errors.AsType[*api.Unreachable](err)
	return unreachable && !errors.Is(err, api.ErrSilent)
}

// isEnding reports whether a runner refuses clients because it ends.
func isEnding(err error) bool {
	e, refused := errors.AsType[*api.Error](err)
	return refused && e.Status == http.StatusServiceUnavailable
}

// endTime is how long is waited for a runner that ends.
const endTime = 10 * time.Second

// Leave detaches the client, and leaves its sweeps as they are. If the runner ends with that, Leave
// waits for it, unless it lingers, as processes that tasks left behind have their grace. Leave
// reports whether the runner is still there in the end.
func (a *Attached) Leave() (ending bool) {
	defer a.Close()
	if ended, err := a.Attachment.Leave(); err == nil && !ended {
		return false
	}
	ctx, stop := context.WithTimeout(context.Background(), endTime)
	defer stop()
	if a.AwaitEnd(ctx) == api.Lingers {
		return true
	}
	return !awaitEnd()
}

// awaitEnd waits for the end of the runner, a little, and reports whether it has ended.
func awaitEnd() bool {
	for end := time.Now().Add(endTime); runs(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// failureTime is how long a runner that refused a request may take to say that it ends.
const failureTime = time.Second

// AwaitFailure waits for the end of a runner that has refused a request, or cut the connection. It
// returns the error with which the runner ended; nil if it said nothing, as when it was killed, or
// does not end.
func (a *Attached) AwaitFailure() error {
	ctx, stop := context.WithTimeout(context.Background(), failureTime)
	defer stop()
	why := a.Failure(ctx)
	if why == "" {
		return nil
	}
	awaitEnd()
	return printed(why, cli.Machine)
}

// RunnerCommand is the command of run-tasks that becomes the runner: see Run.
const RunnerCommand = "runner"

// readiness is what a runner says when it is ready, or cannot be, in a line of JSON on its standard
// output.
type readiness struct {
	Error string `json:"error,omitempty"` // as it is printed
	Code  int    `json:"code,omitempty"`  // the exit code
	InUse string `json:"inUse,omitempty"` // who has the store
}

// storeInUse is that another process has the store.
type storeInUse struct {
	Holder string
	err    error
}

func (e *storeInUse) Error() string { return e.err.Error() }
func (e *storeInUse) Unwrap() error { return e.err }

func (r readiness) err() error {
	if r.Error == "" {
		return nil
	}
	err := printed(r.Error, r.Code)
	if r.InUse != "" {
		err = &storeInUse{r.InUse, err}
	}
	return err
}

// program is the name that printed errors begin with.
const program = "run-tasks"

// printed returns the error that was printed as a text.
func printed(text string, code int) error {
	text = strings.TrimPrefix(strings.TrimSpace(text), program+": ")
	cause, remedy, _ := strings.Cut(text, "\n  ")
	return &cli.Error{Code: code, Err: errors.New(cause), Remedy: remedy}
}

// startRunner starts a runner, and returns when it is ready.
func startRunner(ctx context.Context, options []string) error {
	log, err := openLog()
	if err != nil {
		return storeError(err)
	}
	defer log.Close()
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	if err := syscall.Flock(int(log.Fd()), syscall.LOCK_SH); err != nil { // see runs
		return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("lock %s: %w", LogFile(), err)}
	}
	err = process.StartDetached(root, append([]string{RunnerCommand}, options...), in, log)
	_ = in.Close() // it has its own
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	defer context.AfterFunc(ctx, func() { _ = out.Close() })()
	line, err := bufio.NewReader(out).ReadString('\n')
	var said readiness
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		err = json.Unmarshal([]byte(line), &said)
	}
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("the process that runs the tasks "+
			"ended at its start: %s", strings.TrimSpace(line)), Remedy: "see " + LogFile()}
	}
	return said.err()
}
