package amqp

import (
	"context"

	"mlframework/sweep/task"
)

const (
	// linesWaiting bounds lines that were shown and are not yet sent.
	linesWaiting = 1024
	// linesTogether is how many of them travel in one message, if they are there.
	linesTogether = 256
	// mostLineBytes is about how long such a message gets.
	mostLineBytes = 60 << 10
	// linesKept bounds lines that the master did not take yet.
	linesKept = 4096
)

// sendLines sends what is shown until ctx ends. What cannot be sent is lost.
func sendLines(ctx context.Context, p *publisher, shown <-chan task.Line) {
	var lines []task.Line
	for {
		select {
		case l := <-shown:
			lines = append(lines[:0], l)
		case <-ctx.Done():
			return
		}
		lines = gather(lines, shown)
		bodies, err := encodeAll("lines", lines, mostLineBytes)
		clear(lines)
		if err != nil {
			continue // a line that is longer than any that a worker shows
		}
		for _, body := range bodies {
			_ = p.post(linesOut, "", brief(body))
		}
	}
}

// gather adds what is there already.
func gather(lines []task.Line, shown <-chan task.Line) []task.Line {
	for len(lines) < linesTogether {
		select {
		case l := <-shown:
			lines = append(lines, l)
		default:
			return lines
		}
	}
	return lines
}

// source is whose lines have one count of what is missing.
type source struct {
	sweep   string
	index   int64
	attempt int
	stderr  bool
}

// backlog is lines that wait for a reader. The zero value is empty.
type backlog struct {
	lines  []task.Line
	missed map[source]int64
}

// add keeps a line, or counts it among the missing when there are linesKept.
func (b *backlog) add(l task.Line) {
	from := source{l.Sweep, l.Index, l.Attempt, l.Stderr}
	if len(b.lines) >= linesKept {
		if b.missed == nil {
			b.missed = map[source]int64{}
		}
		b.missed[from] += 1 + l.Missed
		return
	}
	if n := b.missed[from]; n > 0 {
		l.Missed += n
		delete(b.missed, from)
	}
	b.lines = append(b.lines, l)
}

func (b *backlog) pop() {
	b.lines[0] = task.Line{} // its text can be collected
	if b.lines = b.lines[1:]; len(b.lines) == 0 {
		b.lines = nil
	}
}

// showing opens a stream of lines. It always takes what the broker has, so that nothing piles up there.
func showing(ctx context.Context, e *end, f *feed[task.Line]) <-chan task.Line {
	out := make(chan task.Line)
	e.start(ctx, func(ctx context.Context) {
		defer close(out)
		var b backlog
		stream(ctx, e, f, func(ctx context.Context, k *consumer) { b.run(ctx, e, f, k, out) })
	}, func() { close(out) })
	return out
}

func (b *backlog) run(ctx context.Context, e *end, f *feed[task.Line], k *consumer, out chan<- task.Line) {
	for {
		var (
			next  task.Line
			offer chan<- task.Line
		)
		if len(b.lines) > 0 {
			next, offer = b.lines[0], out
		}
		select {
		case d, ok := <-k.in:
			if !ok {
				return
			}
			lines, _ := read(e, f, &d)
			for _, l := range lines {
				b.add(l)
			}
		case offer <- next:
			b.pop()
		case <-ctx.Done():
			return
		}
	}
}
