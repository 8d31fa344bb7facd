package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
)

// Printer reports what happens on hosts: a line for each step that has ended and, on a terminal, a
// status line at the bottom. It is safe for concurrent use.
type Printer struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	width    int
	status   bool                 // the last line is the status line
	hosts    int                  // width of the widest name
	said     map[string]time.Time // last status of each host; not on a terminal
	waiting  *time.Timer          // of the last Wait; nil after Clear
	hints    cli.Hints
	Quiet    bool // print warnings only; set it before use
}

// NewPrinter returns a printer that writes to a file.
func NewPrinter(f *os.File) *Printer {
	p := &Printer{out: f, terminal: term.IsTerminal(int(f.Fd())), width: 80, hosts: 8,
		said: map[string]time.Time{}}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		p.width = w
	}
	return p
}

// Did reports that a step has ended.
func (p *Printer) Did(host, what string, took time.Duration) {
	if p.Quiet {
		return
	}
	p.print(host, fmt.Sprintf("%5.1fs  %s", took.Seconds(), cli.Visible(what)))
}

// Warn prints a warning; host is "" for the whole cluster.
func (p *Printer) Warn(host, what string) {
	p.print(host, "warning: "+cli.VisibleLines(p.hints.Complete(what)))
}

func (p *Printer) print(host, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	p.hosts = max(p.hosts, len(host))
	fmt.Fprintf(p.out, "%-*s  %s\n", p.hosts, cli.Visible(host), text)
}

// saysEvery limits how often the status of a host is printed where it cannot be overwritten.
const saysEvery = 10 * time.Second

// Says reports what a step is doing: in the status line of a terminal, else in a line now and then.
func (p *Printer) Says(host, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		p.show(host, what)
		return
	}
	if !p.Quiet {
		if now := time.Now(); now.Sub(p.said[host]) >= saysEvery {
			p.said[host] = now
			fmt.Fprintf(p.out, "%-*s  %s\n", p.hosts, cli.Visible(host), cli.Visible(what))
		}
	}
}

// show puts a text into the status line of a terminal. The caller holds mu.
func (p *Printer) show(host, what string) {
	if p.Quiet {
		return
	}
	p.wipe()
	line := []rune(fmt.Sprintf("%-*s  %s", p.hosts, cli.Visible(host), cli.Visible(what)))
	fmt.Fprint(p.out, string(line[:min(len(line), p.width-1)]))
	p.status = true
}

// waitTime is how long what this program waits for is not worth a word.
const waitTime = 1500 * time.Millisecond

// Wait has the status line of a terminal say what this program waits for, unless Clear is called
// within a moment.
func (p *Printer) Wait(host, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.terminal {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(waitTime, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.waiting == timer {
			p.show(host, what)
		}
	})
	p.waiting = timer
}

// Clear removes the status line, and ends Wait.
func (p *Printer) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = nil
	p.wipe()
}

// wipe removes the status line. The caller holds mu.
func (p *Printer) wipe() {
	if p.status {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.status = false
	}
}

// asker returns a function that asks for passphrases on the terminal; nil if there is none.
func (s *Site) asker() func(context.Context, string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	_ = tty.Close()
	return func(ctx context.Context, prompt string) (string, error) {
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err != nil {
			return "", err
		}
		defer tty.Close()
		state, err := term.GetState(int(tty.Fd()))
		if err != nil {
			return "", err
		}
		stop := context.AfterFunc(ctx, func() {
			_ = term.Restore(int(tty.Fd()), state)
			_ = tty.Close()
		})
		defer stop()
		s.Printer.Clear()
		fmt.Fprint(s.stderr, cli.VisibleLines(strings.TrimSpace(prompt))+" ")
		secret, err := term.ReadPassword(int(tty.Fd()))
		fmt.Fprintln(s.stderr)
		if ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), err)
		}
		return string(secret), err
	}
}
