package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// How many reads wait, and how many are done at a time: a disk that hangs must not take the worker with it.
const (
	mostReads = 64
	readers   = 2
)

// sendWithin is how long the queue may take for an answer; who asked has given up by then.
const sendWithin = 5 * time.Second

// reads answers those who want to see what tasks printed, or their metrics read from that again.
type reads struct {
	port    queue.Port
	log     *slog.Logger
	worker  string
	outputs string
	asked   chan task.Control
	measure chan task.Control // apart: output can be seen while large files are read
	awaited awaited           // answers to measure
}

func (r *reads) init(port queue.Port, o Options) {
	r.port, r.log, r.worker, r.outputs = port, o.Log, o.Name, o.Outputs
	r.asked, r.measure = make(chan task.Control, mostReads), make(chan task.Control, mostReads)
}

// ask puts a read in line. It never blocks: with too many in line it is dropped, and who asked asks again.
func (r *reads) ask(c task.Control) {
	line, added := r.asked, false
	switch {
	case c.Kind == task.MeasureControl && c.Measure != nil:
		line, added = r.measure, r.awaited.add(c.Measure.ID)
	case c.Kind == task.MeasureControl || c.Read == nil:
		r.log.Warn("a read without its place ignored")
		return
	}
	select {
	case line <- c:
	default:
		if added {
			r.awaited.forget(c.Measure.ID)
		}
		r.log.Warn("a read dropped: too many are in line", "sweep", c.Sweep, "index", c.Index)
	}
}

// run answers until ctx ends.
func (r *reads) run(ctx context.Context) {
	var all sync.WaitGroup
	serve := func(line <-chan task.Control) {
		all.Go(func() {
			for {
				select {
				case c := <-line:
					r.answer(ctx, c)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for range readers {
		serve(r.asked)
	}
	serve(r.measure)
	all.Wait()
}

func (r *reads) answer(ctx context.Context, c task.Control) {
	p := task.Piece{Version: task.Version, Worker: r.worker}
	var err error
	if c.Kind == task.MeasureControl {
		reading, end, ok := r.awaited.begin(ctx, c.Measure.ID)
		if !ok {
			return
		}
		err = r.measureTask(reading, c, &p)
		if answered := end(); !answered {
			return
		}
	} else {
		p.ID, p.Offset = c.Read.ID, c.Read.Offset
		err = r.read(c, &p)
	}
	if errors.Is(err, fs.ErrNotExist) {
		p.Absent = true
	} else if err != nil {
		p.Error = err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	if err := r.port.Send(ctx, p); err != nil {
		r.log.Warn("output that was asked for not sent", "sweep", c.Sweep, "index", c.Index, "error", err)
	}
}

// read fills a piece with what a Control asks for.
func (r *reads) read(c task.Control, p *task.Piece) error {
	if c.Read.Offset < 0 || c.Read.Length < 0 {
		return errors.New("an offset or a length below 0 was asked for")
	}
	reached := uint64(0)
	if c.Read.File != "" {
		if _, err := fmt.Sscanf(strings.TrimPrefix(c.Read.File, r.worker), ":%d", &reached); err != nil { // another worker's
			c.Read.Offset, p.Offset = 0, 0
		}
	}
	l, err := openLog(r.outputs, c, reached)
	if err != nil {
		return err
	}
	defer l.Close()
	p.Size, p.Offset, p.File = l.size, l.offset, fmt.Sprintf("%s:%d", r.worker, l.inode)
	data := make([]byte, max(0, min(int64(c.Read.Length), task.MostRead, p.Size-p.Offset)))
	n, err := l.ReadAt(data, p.Offset)
	if p.Data = data[:n]; errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}
