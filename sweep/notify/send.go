package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// Sender sends messages. The zero value is ready.
type Sender struct {
	Timeout time.Duration // of one try; 0: a minute
	Pause   time.Duration // before the second try; 0: a second
}

// Send sends a message, and once more if that fails. A command runs in a folder. The error says why
// the second try failed; it has no part of a URL but its host.
func (s Sender) Send(ctx context.Context, to task.Notify, folder string, m Message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	body = append(body, '\n')
	if s.try(ctx, to, folder, body) == nil {
		return nil
	}
	select {
	case <-time.After(cmp.Or(s.Pause, time.Second)):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return s.try(ctx, to, folder, body)
}

func (s Sender) try(ctx context.Context, to task.Notify, folder string, body []byte) error {
	timeout := cmp.Or(s.Timeout, time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it took longer than %s",
		human.Duration(timeout.Seconds())))
	defer cancel()
	send := post
	if len(to.Command) > 0 {
		send = run
	}
	err := send(ctx, to, folder, body)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func post(ctx context.Context, to task.Notify, _ string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "mlframework")
	answer, err := client.Do(r)
	if whole, ok := errors.AsType[*url.Error](err); ok { // it has the URL
		return whole.Err
	} else if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %s", to.Target(), answer.Status)
	}
	return nil
}

// client keeps no connections: messages are rare.
var client = &http.Client{Transport: func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableKeepAlives = true
	return t
}()}

// maxSaid bounds what is kept of what a command says went wrong, in bytes.
const maxSaid = 200

// run runs a command. What it prints is of interest only where it fails. It is ended with the
// processes that it started.
func run(ctx context.Context, to task.Notify, folder string, body []byte) error {
	c := exec.CommandContext(ctx, to.Command[0], to.Command[1:]...)
	said := &tail{}
	c.Dir, c.Stdin, c.Stderr = folder, bytes.NewReader(body), said
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second // a process that left the group may hold its output open
	err := c.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(said.text)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Errorf("%w: %s", err, human.Visible(last))
	}
	return err
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxSaid):]
	return len(p), nil
}
