package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"

	"mlframework/sweep"
	"mlframework/sweep/master"
	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// bar is the display on a terminal: a progress bar, and the output of tasks scrolling above it.
type bar struct {
	terminal *os.File
	bar      *pb.ProgressBar
	above    *above
	colours  bool
	end      chan struct{} // closed to end drawing
	ended    chan struct{}

	mu      sync.Mutex
	now     sweep.Summary
	began   time.Time
	before  int64 // tasks that had ended when it began
	started bool
}

// redraw is how often the bar is drawn anew.
const redraw = 150 * time.Millisecond

func newBar(stdout *os.File) *bar {
	b := &bar{terminal: stdout, above: &above{to: stdout}, began: time.Now(), colours: os.Getenv("NO_COLOR") == "",
		end: make(chan struct{}), ended: make(chan struct{})}
	b.bar = pb.New64(0).SetTemplateString(`{{string . "left"}}{{bar . "[" "#" "#" "-" "]"}}{{string . "right"}}`).SetWriter(b.above)
	b.bar.Set(pb.Terminal, true).Set(pb.Static, true).Set(pb.CleanOnFinish, true)
	b.bar.Start()
	go b.run()
	return b
}

// run draws until the end: times pass while nothing happens.
func (b *bar) run() {
	defer close(b.ended)
	ticks := time.NewTicker(redraw)
	defer ticks.Stop()
	for {
		b.draw()
		select {
		case <-ticks.C:
		case <-b.end:
			b.above.close()
			return
		}
	}
}

func (b *bar) draw() {
	width, _, err := term.GetSize(int(b.terminal.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.started {
		return
	}
	done, _ := tally(b.now)
	b.bar.SetTotal(b.now.Total).SetCurrent(done).SetWidth(width - 1) // the last column is left free: a full line may wrap
	b.bar.Set("left", b.left(width)).Set("right", b.right(width)).Write()
}

func (b *bar) update(u master.Update) error {
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
		if _, err := b.notes().Write(text.Bytes()); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.started {
		b.before, _ = tally(u.Sweep)
		b.started = true
	}
	b.now = u.Sweep
	return nil
}

func (b *bar) notes() io.Writer { return lines{b.above} }

func (b *bar) close() {
	close(b.end)
	<-b.ended
}

// left and right are the words beside the bar. On a narrow terminal they say less.
func (b *bar) left(width int) string {
	done, failed := tally(b.now)
	if width < 60 {
		text := fmt.Sprintf("%d/%d ", done, b.now.Total)
		if failed > 0 {
			text += fmt.Sprintf("%d failed ", failed)
		}
		return text
	}
	return b.now.ID + " " + countsText(b.now) + " "
}

func (b *bar) right(width int) string {
	done, _ := tally(b.now)
	rate := float64(done-b.before) / time.Since(b.began).Seconds()
	if rate <= 0 || done >= b.now.Total {
		return ""
	}
	eta := "ETA " + result.HumanDuration(float64(b.now.Total-done)/rate)
	if width < 60 {
		return " " + eta
	}
	return " " + rateText(rate) + " " + eta
}

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
func (b *bar) paint(l task.Line) string {
	if !b.colours {
		return lineTag(l)
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%d/%d", l.Sweep, l.Index, l.Slot)
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", 31+h.Sum32()%6, lineTag(l))
}

// colour is what programs write to set colours and styles (ECMA-48, SGR).
var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// stripColours takes colours out of output: they would run into the lines of other tasks.
func stripColours(s string) string { return colour.ReplaceAllString(s, "") }
