package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/sweep/table"
)

// watch looks again and again until ctx ends. A master's host that is away is looked for again,
// too.
func (c *command) watch(ctx context.Context, w wish, s *site.Site, cluster *infra.Cluster) error {
	look := func() (site.Overview, error) {
		_ = cluster.Refresh(ctx) // the overview has why it did not reach the host
		return s.Overview(ctx, cluster)
	}
	show := c.block
	if _, height := size(c.stdout); height > 0 && !w.json {
		screen := &screen{out: c.stdout}
		defer screen.close()
		show = screen.show
	}
	if w.json {
		show = func(o site.Overview) error { return table.WriteJSONLine(c.stdout, o) }
	}
	for {
		o, err := look()
		if err == nil {
			err = show(o)
		}
		if err != nil {
			return err
		}
		select {
		case <-time.After(w.every):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// block prints a look below the one before, for what is no terminal.
func (c *command) block(o site.Overview) error {
	_, err := fmt.Fprintf(c.stdout, "%s\n%s\n\n", o.Time.Local().Format(time.DateTime+" MST"),
		strings.Join(report(o, 0), "\n"))
	return err
}

// report is everything, and at its end what is wrong.
func report(o site.Overview, width int) []string {
	return slices.Concat(o.Tables(width), []string{""}, o.Verdict(width))
}

// size is that of a terminal; zero is no terminal.
func size(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// screen shows one look in the place of the one before. It is the terminal's second page, so that
// the first stays as it was.
type screen struct {
	out  *os.File
	last []string // the newest look as it is printed at the end
}

func (s *screen) show(o site.Overview) error {
	enter := ""
	if s.last == nil {
		enter = "\x1b[?1049h\x1b[?25l"
	}
	width, height := size(s.out)
	s.last = report(o, width)
	// What is wrong comes first: a window may be too low for all.
	lines := slices.Concat([]string{o.Time.Local().Format(time.DateTime+" MST") + "   Ctrl-C ends"},
		o.Verdict(width), []string{""}, o.Tables(width))
	_, err := s.out.WriteString(enter + page(lines, height))
	return err
}

// close leaves the second page and prints the newest look on the first.
func (s *screen) close() {
	if s.last != nil {
		fmt.Fprintf(s.out, "\x1b[?25h\x1b[?1049l%s\n", strings.Join(s.last, "\n"))
	}
}

// page draws lines over what is there, as one piece and without clearing first, which would
// flicker.
func page(lines []string, height int) string {
	if height > 1 && len(lines) > height {
		lines = append(lines[:height-1:height-1], fmt.Sprintf("... %d lines more: make the "+
			"window higher", len(lines)-height+1))
	}
	return "\x1b[H" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[K\x1b[J"
}
