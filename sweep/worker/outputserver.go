package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

const (
	// maxReads limits the queued requests and readers the concurrent ones: a disk that hangs must
	// not block the worker.
	maxReads = 64
	readers  = 2
)

// sendTimeout is how long the queue may take to accept an answer; by then the requester has given
// up.
const sendTimeout = 5 * time.Second

// readServer serves requests for the output of tasks, and for metrics read from it again.
type readServer struct {
	port         queue.WorkerEndpoint
	log          *slog.Logger
	worker       string
	outputs      string
	revision     func(string) (string, error)
	readRequests chan task.Control
	// a queue of its own, so that output stays readable while large files are read
	measureRequests chan task.Control
	// of measureRequests
	pending pendingMeasures
}

func (r *readServer) init(port queue.WorkerEndpoint, o Options) {
	r.port, r.log, r.worker, r.outputs = port, o.Log, o.Name, o.Outputs
	r.revision = o.Revision
	r.readRequests = make(chan task.Control, maxReads)
	r.measureRequests = make(chan task.Control, maxReads)
}

// enqueue queues a request. It never blocks: if the queue is full, the request is dropped and the
// requester retries.
func (r *readServer) enqueue(c task.Control) {
	requests, added := r.readRequests, false
	switch {
	case c.Kind == task.MeasureControl && c.Measure != nil:
		requests, added = r.measureRequests, r.pending.add(c.Measure.ID)
	case c.Kind == task.MeasureControl || c.Read == nil:
		r.log.Warn("ignoring a read request without a position")
		return
	}
	select {
	case requests <- c:
	default:
		if added {
			r.pending.forget(c.Measure.ID)
		}
		r.log.Warn("dropping a read request: too many are queued", "sweep", c.Sweep, "index",
			c.Index)
	}
}

// run serves requests until ctx ends.
func (r *readServer) run(ctx context.Context) {
	var all sync.WaitGroup
	serve := func(requests <-chan task.Control) {
		all.Go(func() {
			for {
				select {
				case c := <-requests:
					r.answer(ctx, c)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for range readers {
		serve(r.readRequests)
	}
	serve(r.measureRequests)
	all.Wait()
}

func (r *readServer) answer(ctx context.Context, c task.Control) {
	p := task.Piece{Version: task.Version, Worker: r.worker}
	var err error
	if c.Kind == task.MeasureControl {
		reading, end, ok := r.pending.begin(ctx, c.Measure.ID)
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
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if err := r.port.SendPiece(ctx, p); err != nil {
		r.log.Warn("cannot send the requested output", "sweep", c.Sweep, "index", c.Index,
			"error", err)
	}
}

// read reads the part of a file that a control message asks for.
func (r *readServer) read(c task.Control, p *task.Piece) error {
	if c.Read.Offset < 0 || c.Read.Length < 0 {
		return errors.New("negative offset or length")
	}
	reached := uint64(0)
	if c.Read.File != "" {
		// another worker's
		if _, err := fmt.Sscanf(strings.TrimPrefix(c.Read.File, r.worker), ":%d",
			&reached); err != nil {
			c.Read.Offset, p.Offset = 0, 0
		}
	}
	l, err := openLog(r.outputs, c, reached)
	if errors.Is(err, fs.ErrNotExist) {
		folder := filepath.Join(r.outputs, c.Sweep, strconv.FormatInt(c.Index, 10))
		if there, failed := exists(folder); !there && failed == nil {
			p.Gone = folder
		}
	}
	if err != nil {
		return err
	}
	defer l.Close()
	p.Size, p.Offset, p.File = l.size, l.offset, fmt.Sprintf("%s:%d", r.worker, l.inode)
	data := make([]byte, max(0, min(int64(c.Read.Length), task.MaxPieceBytes, p.Size-p.Offset)))
	n, err := l.ReadAt(data, p.Offset)
	if p.Data = data[:n]; errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// pendingMeasures holds the measures whose results are awaited, queued or being computed, by ID.
// The zero value is empty. It is safe for concurrent use.
type pendingMeasures struct {
	mu sync.Mutex
	// cancels the computation
	cancels map[string]func()
}

var errNotAwaited = errors.New("its answer is no longer awaited")

// add adds a measure, and reports whether it was absent.
func (p *pendingMeasures) add(id string) (added bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancels == nil {
		p.cancels = map[string]func(){}
	}
	if p.cancels[id] != nil {
		return false
	}
	p.cancels[id] = func() {}
	return true
}

// begin returns a context for computing a measure, which ends when the measure is forgotten, and a
// function to call afterwards, which reports whether the result is still awaited. Ok is false if
// the measure has been forgotten already.
func (p *pendingMeasures) begin(ctx context.Context, id string) (reading context.Context,
	end func() bool, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancels[id] == nil {
		return nil, nil, false
	}
	reading, cancel := context.WithCancelCause(ctx)
	p.cancels[id] = func() { cancel(errNotAwaited) }
	return reading, func() bool { return p.forget(id) }, true
}

// forget removes a measure, and reports whether it was present.
func (p *pendingMeasures) forget(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	cancel := p.cancels[id]
	if cancel == nil {
		return false
	}
	delete(p.cancels, id)
	cancel()
	return true
}
