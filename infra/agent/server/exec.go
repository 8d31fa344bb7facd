package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"mlframework/infra/agent"
)

// grace is how long processes may take to end once they were told to, before they are killed; and
// how long, in all, output is waited for that a program's children may write after its end.
const grace = 2 * time.Second

// exec runs a program as long as the request lasts. It answers with the program's output, as it
// comes, and with how it ended in a trailer.
func (s *server) exec(w http.ResponseWriter, r *http.Request) {
	var q agent.Exec
	if err := agent.ReadBody(r, maxBody, &q); err != nil {
		fail(w, err)
		return
	}
	if len(q.Argv) == 0 {
		fail(w, errors.New("there is no program to run"))
		return
	}
	p, err := startProgram(q.Argv)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Trailer", agent.ExitTrailer)
	exit, err := p.run(r.Context(), flushed{w, http.NewResponseController(w)})
	var text []byte
	if err == nil {
		text, err = json.Marshal(exit)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // so that what was sent is not taken for the whole output
	}
	w.Header().Set(agent.ExitTrailer, base64.StdEncoding.EncodeToString(text))
}

// program is a running program, the leader of a process group of its own.
type program struct {
	*exec.Cmd
	stdout, stderr *os.File // where its output is read
	exited         chan struct{}
}

// startProgram starts a program. run has to follow.
func startProgram(argv []string) (*program, error) {
	p := &program{Cmd: exec.Command(argv[0], argv[1:]...), exited: make(chan struct{})}
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that all that it starts can be ended
	var writers []*os.File
	defer func() {
		for _, f := range writers {
			f.Close()
		}
	}()
	for _, end := range []struct {
		read  **os.File
		write *io.Writer
	}{{&p.stdout, &p.Stdout}, {&p.stderr, &p.Stderr}} {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeOutput()
			return nil, err
		}
		*end.read, *end.write, writers = r, w, append(writers, w)
	}
	if err := p.Start(); err != nil {
		p.closeOutput()
		return nil, err
	}
	return p, nil
}

func (p *program) closeOutput() {
	p.stdout.Close()
	p.stderr.Close()
}

// run forwards the program's output until the program has ended. When ctx ends, or writing to the
// client fails, its process group gets SIGTERM, and SIGKILL after the grace.
func (p *program) run(ctx context.Context, to io.Writer) (agent.Exit, error) {
	defer p.closeOutput()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{}) // the program, and its output
	var all sync.WaitGroup
	all.Go(func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		p.signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(grace):
		}
		p.signal(syscall.SIGKILL)
	})
	var failed error // of waiting
	var output sync.WaitGroup
	output.Go(func() {
		if failed = waitExit(p.Process.Pid); failed != nil {
			cancel()
		}
		close(p.exited)
		now := time.Now() // wakes who reads
		_ = p.stdout.SetReadDeadline(now)
		_ = p.stderr.SetReadDeadline(now)
	})
	var said tail
	output.Go(func() { _ = p.forward(&said, p.stderr) })
	err := p.forward(to, p.stdout)
	if err != nil {
		cancel()
	}
	output.Wait()
	close(ended)
	all.Wait()
	// Only now may another process get its number, by which the group is signalled.
	exit, notWaited := exitOf(p.Wait())
	exit.Stderr = said
	return exit, errors.Join(err, failed, notWaited)
}

// signal signals the process group. Those that left it are on their own.
func (p *program) signal(s syscall.Signal) {
	_ = syscall.Kill(-p.Process.Pid, s) // it fails when no process is left
}

// forward copies output to its end. Once the program has exited that may be far off, as its
// children may have the pipe, too: then what is in the pipe is copied, and what comes within the
// grace. The time that writing takes does not count.
func (p *program) forward(to io.Writer, from *os.File) error {
	buffer := make([]byte, 64<<10)
	for left := grace; ; {
		exited, begun := false, time.Now()
		select {
		case <-p.exited:
			exited = true
			_ = from.SetReadDeadline(begun.Add(left))
		default:
		}
		n, err := from.Read(buffer)
		if exited {
			left -= time.Since(begun)
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), exited && errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
	}
}

// exitOf returns how a program ended. Any other error than its own is returned as it is.
func exitOf(err error) (e agent.Exit, failed error) {
	exit, is := errors.AsType[*exec.ExitError](err)
	if !is {
		return e, err
	}
	e.Code = exit.ExitCode()
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		e.Signal = s.Signal().String()
	}
	return e, nil
}

// tail keeps the end of what is written.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p[max(0, len(p)-agent.MaxStderr):]...)
	*t = append((*t)[:0], (*t)[max(0, len(*t)-agent.MaxStderr):]...)
	return len(p), nil
}
