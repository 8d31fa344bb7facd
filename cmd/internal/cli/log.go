package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// Log makes a logger for people: one line per record, "warning: ..." or "note: ...", with values as
// NAME=VALUE.
func Log(w io.Writer) *slog.Logger { return slog.New(&handler{out: &output{w: w}}) }

type output struct {
	mu sync.Mutex
	w  io.Writer
}

type handler struct {
	out   *output
	attrs []slog.Attr
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	switch {
	case r.Level >= slog.LevelError:
		b.WriteString("error: ")
	case r.Level >= slog.LevelWarn:
		b.WriteString("warning: ")
	default:
		b.WriteString("note: ")
	}
	b.WriteString(r.Message)
	add := func(a slog.Attr) bool {
		fmt.Fprintf(&b, " %s=%v", a.Key, a.Value)
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	_, err := fmt.Fprintln(h.out.w, VisibleLines(b.String()))
	return err
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.out, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

// WithGroup keeps names as they are: the lines are short.
func (h *handler) WithGroup(string) slog.Handler { return h }
