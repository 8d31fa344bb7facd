package display

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Bar is the display on a terminal: a progress bar, and what failed scrolling above it. The output
// of a single task scrolls there, too, and of several if it is verbose.
type Bar struct {
	terminal *os.File
	line     *statusLine
	colours  bool
	verbose  bool
	brief    bool          // lines of output begin with the task's number
	end      chan struct{} // closed to end drawing
	ended    chan struct{}

	mu      sync.Mutex
	now     progress
	began   time.Time
	before  int64 // tasks that had ended when it began
	started bool
}

// redraw is how often the bar is drawn anew.
const redraw = 150 * time.Millisecond

func newBar(stdout *os.File, l Options) *Bar {
	b := &Bar{terminal: stdout, line: &statusLine{to: stdout}, began: time.Now(),
		colours: os.Getenv("NO_COLOR") == "", verbose: l.Verbose, brief: l.OneMachine,
		end: make(chan struct{}), ended: make(chan struct{})}
	go b.run()
	return b
}

// run draws until the end: times pass while nothing happens.
func (b *Bar) run() {
	defer close(b.ended)
	ticks := time.NewTicker(redraw)
	defer ticks.Stop()
	for {
		b.draw()
		select {
		case <-ticks.C:
		case <-b.end:
			b.line.close()
			return
		}
	}
}

func (b *Bar) draw() {
	width, _, err := term.GetSize(int(b.terminal.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.started {
		return
	}
	done, _ := Tally(b.now.sweep)
	b.now.rate = float64(done-b.before) / time.Since(b.began).Seconds()
	// The last column is left free: a full line may wrap.
	_, _ = io.WriteString(b.line, b.now.line(width-1, b.colours))
}

func (b *Bar) Update(u api.Update) error {
	var text bytes.Buffer
	for _, l := range u.Lines {
		if u.Sweep.Total > 1 && !b.verbose {
			break
		}
		fmt.Fprintln(&text, b.paint(l)+" "+lineBody(l))
	}
	for _, r := range u.Rows {
		if r.State == task.Succeeded.String() {
			continue
		}
		if end := endText(r); end != "" {
			if state, err := task.ParseState(r.State); b.colours && err == nil && state.Failure() {
				end = red(end)
			}
			fmt.Fprintln(&text, end)
		}
	}
	if text.Len() > 0 {
		if _, err := b.Notes().Write(text.Bytes()); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.started {
		b.before, _ = Tally(u.Sweep)
		b.started = true
	}
	b.now.sweep = u.Sweep
	if u.Best != nil {
		b.now.best = u.Best
	}
	for _, r := range u.Rows {
		if r.State == task.Running.String() && len(r.Metrics) > 0 {
			b.now.newest = newestText(r, b.now.best)
		}
	}
	return nil
}

func (b *Bar) Notes() io.Writer { return aboveWriter{b.line} }

func (b *Bar) Close() {
	close(b.end)
	<-b.ended
}

// newestText is the value of a running task that was told last: of the objective, else of its first
// metric.
func newestText(r table.Row, best *api.Best) string {
	m := r.Metrics[0]
	for _, other := range r.Metrics {
		if best != nil && other.Name == best.Metric {
			m = other
		}
	}
	return fmt.Sprintf("%s=%s (#%d)", cli.Visible(shorter(m.Name)), human.Number(m.Value), r.Index)
}

// paint returns what a line of output begins with, in the colour of its task.
func (b *Bar) paint(l task.Line) string {
	tag := lineTag(l)
	if b.brief {
		tag = fmt.Sprintf("%d %s", l.Index, lineMark(l))
	}
	if !b.colours {
		return tag
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%d/%d", l.Sweep, l.Index, l.Slot)
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", 32+h.Sum32()%5, tag) // red is for failures
}
