package cli_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"mlframework/cmd/internal/cli"
)

func TestLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(*slog.Logger)
		want  string
	}{
		"a note": {func(l *slog.Logger) { l.Info("began") }, "note: began\n"},
		"a warning": {func(l *slog.Logger) { l.Warn("slow", "seconds", 3) },
			"warning: slow seconds=3\n"},
		"an error": {func(l *slog.Logger) {
			l.Error("broken", "error", errors.New("no disk"))
		}, "error: broken error=no disk\n"},
		"details": {func(l *slog.Logger) { l.Debug("nobody wants this") }, ""},
		"common attributes": {func(l *slog.Logger) {
			l.With("a", 1).With("b", 2).WithGroup("g").Info("x", "c", 3)
		}, "note: x a=1 b=2 c=3\n"},
		"control codes": {func(l *slog.Logger) { l.Info("\x1b[31m", "text", "\a") },
			"note: \\x1b[31m text=\\a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			c.write(cli.Log(&b))
			if b.String() != c.want {
				t.Errorf("got %q, want %q", b.String(), c.want)
			}
		})
	}
}

func TestLogKeepsLinesWhole(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	log := cli.Log(&b)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				log.With("k", "v").InfoContext(context.Background(), "line")
			}
		})
	}
	all.Wait()
	if want := strings.Repeat("note: line k=v\n", 800); b.String() != want {
		t.Error("lines are mixed or missing")
	}
}
