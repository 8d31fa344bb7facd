package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"mlframework/sweep"
	"mlframework/sweep/master"
	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// bar is the display on a terminal: a progress bar, and the output of tasks scrolling above it.
type bar struct {
	progress *mpb.Progress
	bar      *mpb.Bar
	colours  bool

	mu      sync.Mutex
	now     sweep.Summary
	began   time.Time
	before  int64 // tasks that had ended when it began
	started bool
}

func newBar(stdout *os.File) *bar {
	b := &bar{began: time.Now(), colours: os.Getenv("NO_COLOR") == ""}
	b.progress = mpb.New(mpb.WithOutput(stdout), mpb.WithRefreshRate(150*time.Millisecond), mpb.WithAutoRefresh())
	b.bar = b.progress.New(0, mpb.BarStyle().Lbound("[").Filler("#").Tip("#").Padding("-").Rbound("]"),
		mpb.BarFillerTrim(),
		mpb.PrependDecorators(decor.Any(b.left)), mpb.AppendDecorators(decor.Any(b.right)))
	return b
}

func (b *bar) update(u master.Update) error {
	for _, l := range u.Lines {
		fmt.Fprintln(b.progress, b.paint(l)+" "+lineBody(l))
	}
	for _, r := range u.Rows {
		if r.State == task.Succeeded.String() {
			continue
		}
		if text := endText(r); text != "" {
			fmt.Fprintln(b.progress, text)
		}
	}
	done, _ := tally(u.Sweep)
	b.mu.Lock()
	if !b.started {
		b.before, b.started = done, true
	}
	b.now = u.Sweep
	b.mu.Unlock()
	b.bar.SetTotal(u.Sweep.Total, false)
	b.bar.SetCurrent(done)
	return nil
}

func (b *bar) notes() io.Writer { return b.progress }

func (b *bar) close() {
	b.bar.Abort(true)
	b.progress.Wait()
}

// left and right are the words beside the bar. On a narrow terminal they say less.
func (b *bar) left(s decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	done, failed := tally(b.now)
	if s.AvailableWidth < 60 {
		text := fmt.Sprintf("%d/%d ", done, b.now.Total)
		if failed > 0 {
			text += fmt.Sprintf("%d failed ", failed)
		}
		return text
	}
	return b.now.ID + " " + countsText(b.now) + " "
}

func (b *bar) right(s decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	done, _ := tally(b.now)
	rate := float64(done-b.before) / time.Since(b.began).Seconds()
	if rate <= 0 || done >= b.now.Total {
		return ""
	}
	eta := "ETA " + result.HumanDuration(float64(b.now.Total-done)/rate)
	if s.AvailableWidth < 60 {
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
