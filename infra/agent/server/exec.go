package server

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"syscall"
	"time"

	"mlframework/infra/agent"
)

// grace is how long a program that was told to end may take, before it is killed.
const grace = 2 * time.Second

// exec runs a program as long as the request lasts. It answers with what that prints, as it comes,
// and with how it ended in a trailer.
func (s *server) exec(w http.ResponseWriter, r *http.Request) {
	var q agent.Exec
	if err := decode(r, &q); err != nil {
		fail(w, err)
		return
	}
	if len(q.Argv) == 0 {
		fail(w, errors.New("there is no program to run"))
		return
	}
	var said tail
	c := exec.CommandContext(r.Context(), q.Argv[0], q.Argv[1:]...)
	c.Stdout, c.Stderr = flushed{w, http.NewResponseController(w)}, &said
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that all that it starts can be ended
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = grace
	w.Header().Set("Trailer", agent.ExitTrailer)
	if err := c.Start(); err != nil {
		fail(w, err)
		return
	}
	exit, failed := exitOf(c.Wait())
	if failed != nil {
		panic(http.ErrAbortHandler) // as nobody takes what it prints
	}
	exit.Stderr = said
	text, err := json.Marshal(exit)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set(agent.ExitTrailer, base64.StdEncoding.EncodeToString(text))
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
