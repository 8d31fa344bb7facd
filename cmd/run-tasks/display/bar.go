package display

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Bar is the display on a terminal: a progress bar, and the output of tasks scrolling above it.
type Bar struct {
	terminal *os.File
	bar      *pb.ProgressBar
	line     *statusLine
	colours  bool
	end      chan struct{} // closed to end drawing
	ended    chan struct{}

	mu      sync.Mutex
	now     core.Summary
	best    *api.Best
	newest  string // what a running task said last: "acc=0.7 (3)"
	began   time.Time
	before  int64 // tasks that had ended when it began
	started bool
}

// redraw is how often the bar is drawn anew.
const redraw = 150 * time.Millisecond

func newBar(stdout *os.File) *Bar {
	b := &Bar{terminal: stdout, line: &statusLine{to: stdout}, began: time.Now(),
		colours: os.Getenv("NO_COLOR") == "",
		end:     make(chan struct{}), ended: make(chan struct{})}
	const template = `{{string . "left"}}{{bar . "[" "#" "#" "-" "]"}}{{string . "right"}}`
	b.bar = pb.New64(0).SetTemplateString(template).SetWriter(b.line)
	b.bar.Set(pb.Terminal, true).Set(pb.Static, true).Set(pb.CleanOnFinish, true)
	b.bar.Start()
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
	done, _ := Tally(b.now)
	// the last column is left free: a full line may wrap
	b.bar.SetTotal(b.now.Total).SetCurrent(done).SetWidth(width - 1)
	b.bar.Set("left", b.left(width)).Set("right", b.right(width)).Write()
}

func (b *Bar) Update(u api.Update) error {
	var text bytes.Buffer
	for _, l := range u.Lines {
		fmt.Fprintln(&text, b.paint(l)+" "+lineBody(l))
	}
	for _, r := range u.Rows {
		if r.State == task.Succeeded.String() {
			continue
		}
		if end := endText(r); end != "" {
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
	b.now = u.Sweep
	if u.Best != nil {
		b.best = u.Best
	}
	for _, r := range u.Rows {
		if r.State == task.Running.String() && len(r.Metrics) > 0 {
			b.newest = newestText(r, b.best)
		}
	}
	return nil
}

func (b *Bar) Notes() io.Writer { return aboveWriter{b.line} }

func (b *Bar) Close() {
	close(b.end)
	<-b.ended
}

// left and right are the words beside the bar. On a narrow terminal they say less.
func (b *Bar) left(width int) string {
	done, failed := Tally(b.now)
	if width < 60 {
		text := fmt.Sprintf("%d/%d ", done, b.now.Total)
		if b.waits() {
			text += "waits "
		}
		if b.now.Silent != nil {
			text += "no heartbeat "
		}
		if failed > 0 {
			text += fmt.Sprintf("%d failed ", failed)
		}
		return text
	}
	text := b.now.ID + " " + CountsText(b.now)
	if b.waits() { // nothing else is new then
		return text + ", " + cut(cli.Visible(*b.now.Waits), width-len(text)-minBar) + " "
	}
	if b.now.Silent != nil {
		return text + ", " + cut(cli.Visible(*b.now.Silent), width-len(text)-minBar) + " "
	}
	if b.best != nil {
		_, index, _ := strings.Cut(b.best.Task, "/")
		text += fmt.Sprintf(", best task %s=%s (%s)", cli.Visible(shorter(b.best.Metric)),
			b.best.Value, index)
	}
	if b.newest != "" && b.now.Counts[task.Running.String()] > 0 && width >= 100 {
		text += ", now " + b.newest
	}
	return text + " "
}

func (b *Bar) right(width int) string {
	done, _ := Tally(b.now)
	rate := float64(done-b.before) / time.Since(b.began).Seconds()
	if rate <= 0 || done >= b.now.Total {
		return ""
	}
	eta := "ETA " + human.Duration(float64(b.now.Total-done)/rate)
	if width < 60 {
		return " " + eta
	}
	return " " + rateText(rate) + " " + eta
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
	return fmt.Sprintf("%s=%s (%d)", cli.Visible(shorter(m.Name)), human.Number(m.Value), r.Index)
}

// waits reports whether nothing runs because the sweep waits for workers or GPUs.
func (b *Bar) waits() bool {
	return b.now.Waits != nil && b.now.Counts[task.Running.String()] == 0
}

// minBar is the room for a bar of some width with the commas and spaces around it.
const minBar = 16

// cut returns the beginning of a text that has little room.
func cut(text string, room int) string {
	if letters := []rune(text); len(letters) > room {
		return string(letters[:max(0, room-1)]) + "…"
	}
	return text
}

// shorter is a metric's name for a line that has little room.
func shorter(name string) string { return cut(name, 16) }

func rateText(perSecond float64) string {
	switch {
	case perSecond >= 10:
		return fmt.Sprintf("%.0f/s", perSecond)
	case perSecond >= 0.5:
		return fmt.Sprintf("%.1f/s", perSecond)
	default:
		return fmt.Sprintf("%.1f/min", 60*perSecond)
	}
}

// paint gives the tag of a line the colour of its task.
func (b *Bar) paint(l task.Line) string {
	if !b.colours {
		return lineTag(l)
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%d/%d", l.Sweep, l.Index, l.Slot)
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", 31+h.Sum32()%6, lineTag(l))
}
