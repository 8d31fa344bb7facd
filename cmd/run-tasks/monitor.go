package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/api"
	"mlframework/sweep/monitor"
)

func monitorCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "monitor", Action: monitorAction(c),
		Usage: "show sweeps, tasks and workers in a browser",
		Flags: append(append(locationFlags(), runnerFlags()...),
			cli.Switch("no-open", "only print the link; do not open a browser"),
			cli.Switch("viewer", "allow reading only")),
		Description: `Serves web pages on 127.0.0.1 until you press Ctrl-C. Opens them in your browser
and prints a one-time login link. Sweeps keep running after the monitor stops.

On a remote machine, forward the port over SSH from your own machine and open
the link there: ssh -L 5555:127.0.0.1:5555 HOST.

EXAMPLES:
   # show the sweeps in this folder, or on the cluster in cluster.yml
   run-tasks monitor
   run-tasks monitor --no-open`}
}

// pages are the web pages of a master for a browser on this machine.
type pages struct {
	master *api.Client
	state  string // the folder of their tokens
	name   string // of the host in their address
	of     string // whose they are, for people
	open   bool   // in a browser
	user   string // who opens them
	role   monitor.Role
}

// monitorAction makes the action of `run-tasks monitor`.
func monitorAction(c *command) cliv2.ActionFunc {
	return func(ctx *cliv2.Context) error {
		if ctx.NArg() > 0 {
			return stray(ctx.Args().First())
		}
		o, err := readRunOptions(ctx)
		if err != nil {
			return err
		}
		work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
		defer stop()
		p := pages{open: !ctx.Bool("no-open") && hasBrowser(), role: monitor.Operator}
		if ctx.Bool("viewer") {
			p.role = monitor.Viewer
		}
		if u, err := user.Current(); err == nil {
			p.user = u.Username
		}
		if o.at == project.Here {
			return p.serveFolder(work, c, o.runner)
		}
		m, err := c.dial(ctx)
		if err != nil {
			return err
		}
		defer m.close()
		return p.serveMaster(work, m, &c.terminal)
	}
}

// serveMaster serves the pages of a master.
func (p pages) serveMaster(ctx context.Context, m *remote, t *terminal) (err error) {
	if _, err := m.Health(ctx); err != nil {
		return err
	}
	if p.state, err = os.MkdirTemp("", "run-tasks-monitor-"); err != nil {
		return err
	}
	defer os.RemoveAll(p.state)
	p.master, p.name, p.of = m.Client, "master", "the master"
	if m.cluster != nil {
		p.name, p.of = m.cluster.Name(), "cluster "+m.cluster.Name()
	}
	return p.serve(ctx, t)
}

// serveFolder serves the pages of this folder. Its runner, which they ask, does not end before
// them.
func (p pages) serveFolder(work context.Context, c *command, options []string) error {
	folder := filepath.Dir(local.StoreFolder())
	if !hasProject(folder) && !local.HasStore(folder) {
		return noSweep()
	}
	attached, err := c.attach(work, options)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(work)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		keepRunner(ctx, c, attached, options)
	}()
	defer func() { stop(); <-kept }()
	dir, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	p.master, p.state = c.runnerClient(), filepath.Join(local.StoreFolder(), "monitor")
	p.master.Environ = withValues(os.Environ()) // of tasks that run again
	p.name, p.of = hostName(filepath.Base(dir)), dir
	return p.serve(work, &c.terminal)
}

// keepRunner keeps this process attached to a runner until ctx ends.
func keepRunner(ctx context.Context, c *command, attached *localFolder, options []string) {
	for {
		attached.attached.Failure(ctx) // the command that runs a sweep has printed it
		_ = attached.close()           // it was only read
		if ctx.Err() != nil {
			return
		}
		c.messages.Note("the process that ran the tasks has ended; starting it again")
		var err error
		for attached, err = c.attach(ctx, options); err != nil; attached, err = c.attach(ctx, options) {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return
			}
		}
	}
}

var notInHost = regexp.MustCompile(`[^a-z0-9]+`)

// hostName makes a name for a host below localhost of the name of a folder.
func hostName(folder string) string {
	name := strings.Trim(notInHost.ReplaceAllString(strings.ToLower(folder), "-"), "-")
	if name == "" || len(name) > 63 {
		return "run-tasks"
	}
	return name
}

// serve serves pages until ctx ends.
func (p pages) serve(ctx context.Context, t *terminal) error {
	m, err := monitor.New(monitor.Options{Master: p.master, State: p.state, Cluster: p.name,
		LinkCommand: "run-tasks monitor", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	listeners, err := cli.ListenLoopback(ctx)
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("listen for a browser: %w", err)}
	}
	defer cli.CloseAll(listeners)
	address := listeners[0].Addr().String()
	at, fallback := cli.Pages(p.name, address)
	link, err := monitor.Link(p.state, at, p.role, p.user, time.Now())
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	fmt.Fprintf(t.stdout, "the monitor of %s is at %s until you press Ctrl-C. This link logs in; it "+
		"works once, for five minutes:\n%s\n", cli.Visible(p.of), at, link)
	switch {
	case p.open:
		end, err := openBrowser(link)
		if err != nil {
			t.messages.Note("no browser was opened: " + err.Error())
			break
		}
		defer end()
	case os.Getenv("SSH_CONNECTION") != "":
		_, port, _ := net.SplitHostPort(address)
		host, _ := os.Hostname()
		fmt.Fprintf(t.stdout, "first, on your own machine: ssh -L %s:127.0.0.1:%[1]s %s\n", port, host)
	}
	fmt.Fprintf(t.stdout, "if your browser cannot find this name, open this instead:\n%s\n",
		fallback+strings.TrimPrefix(link, at))
	return m.Run(ctx, listeners...)
}

// hasBrowser reports whether a browser that is started here can be seen by who called this program.
func hasBrowser() bool {
	switch {
	case os.Getenv("SSH_CONNECTION") != "":
		return false
	case runtime.GOOS == "darwin":
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// openBrowser opens a link in the user's browser. Other users see the command lines of processes:
// the browser is given a file that only its user may read, which leads to the link. The returned
// function removes the file.
func openBrowser(link string) (end func(), err error) {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	dir, err := os.MkdirTemp("", "run-tasks-monitor-")
	if err != nil {
		return nil, err
	}
	end = func() { _ = os.RemoveAll(dir) }
	file := filepath.Join(dir, "monitor.html")
	page := `<!doctype html><meta http-equiv="refresh" content="0; url=` + html.EscapeString(link) + `">`
	if err = os.WriteFile(file, []byte(page), 0o600); err == nil {
		cmd := exec.Command(opener, file)
		if err = cmd.Start(); err == nil {
			go func() { _ = cmd.Wait() }() // whether it found a browser, the user sees
			return end, nil
		}
	}
	if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("there is no %s", opener)
	}
	end()
	return nil, err
}
