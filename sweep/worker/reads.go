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

// reads answers those who want to see what tasks printed.
type reads struct {
	port    queue.Port
	log     *slog.Logger
	worker  string
	outputs string
	asked   chan task.Control
}

func (r *reads) init(port queue.Port, o Options) {
	*r = reads{port, o.Log, o.Name, o.Outputs, make(chan task.Control, mostReads)}
}

// ask puts a read in line. It never blocks: with too many in line it is dropped, and who asked asks again.
func (r *reads) ask(c task.Control) {
	if c.Read == nil {
		r.log.Warn("a read without its place ignored")
		return
	}
	select {
	case r.asked <- c:
	default:
		r.log.Warn("a read dropped: too many are in line", "sweep", c.Sweep, "index", c.Index)
	}
}

// run answers until ctx ends.
func (r *reads) run(ctx context.Context) {
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			for {
				select {
				case c := <-r.asked:
					r.answer(ctx, c)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	all.Wait()
}

func (r *reads) answer(ctx context.Context, c task.Control) {
	p := task.Piece{Version: task.Version, ID: c.Read.ID, Worker: r.worker, Offset: c.Read.Offset}
	if err := r.read(c, &p); errors.Is(err, fs.ErrNotExist) {
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
