package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/task"
)

// Reading what a task printed, from the worker that has it.
const (
	pieceTime = 10 * time.Second       // that a worker has for one piece
	polled    = 500 * time.Millisecond // between two looks at output that grows
)

// outputRequest is which output of a task is asked for, and from where.
type outputRequest struct {
	id      task.ID
	attempt int
	stderr  bool
	offset  int64
	tail    int64  // begin so many bytes before the end; 0: at the offset
	file    string // in which the offset counts; "": in that of the attempt
	follow  bool
}

func (s *Server) readOutput(r *http.Request) (o outputRequest, err error) {
	q := r.URL.Query()
	attempt, err := number(q, "attempt")
	if err == nil && attempt > math.MaxInt32 {
		err = api.Wrong("attempt", "no task has that many attempts")
	}
	if err != nil {
		return o, err
	}
	o.attempt = int(attempt)
	switch stream := q.Get("stream"); stream {
	case "stderr":
		o.stderr = true
	case "stdout", "":
	default:
		return o, api.Wrong("stream", "must be stdout or stderr")
	}
	if o.offset, err = number(q, "offset"); err != nil {
		return o, err
	}
	if o.tail, err = number(q, "tail"); err != nil {
		return o, err
	}
	if o.tail > 0 && (q.Has("offset") || q.Has("file")) {
		return o, api.Wrong("tail", "tail excludes offset and file")
	}
	if o.follow, err = flag(q, "follow"); err != nil {
		return o, err
	}
	if o.file = q.Get("file"); o.file != "" && o.attempt > 0 {
		return o, api.Wrong("file", "file and attempt are mutually exclusive")
	}
	index, err := taskIndex(r)
	if err != nil {
		return o, err
	}
	view, err := s.archive.Stored(r.Context(), r.PathValue("sweep"))
	o.id = task.ID{Sweep: view.Head.ID, Index: index}
	return o, err
}

func (s *Server) output(w http.ResponseWriter, r *http.Request) (any, error) {
	o, err := s.readOutput(r)
	if err != nil {
		return nil, err
	}
	return nil, s.sendOutput(r.Context(), w, o)
}

// sendOutput sends what an attempt printed: what there is, or, followed, until the task has ended
// or another attempt prints.
func (s *Server) sendOutput(ctx context.Context, w http.ResponseWriter, o outputRequest) error {
	w.Header().Set("Content-Type", "application/octet-stream")
	flush := http.NewResponseController(w)
	headed := false
	for {
		// before reading: what is written later is not the task's
		over, err := s.hasEnded(ctx, o.id)
		if err != nil {
			return err
		}
		p, err := s.piece(ctx, o)
		if err == nil && o.tail > 0 && !p.Absent { // that piece told the size
			o.offset, o.tail = max(0, p.Size-o.tail), 0
			p, err = s.piece(ctx, o)
		}
		switch {
		case err != nil:
			return err
		case p.Absent && !headed && (over || !o.follow):
			if p.Gone != "" { // every attempt has a folder before its program starts
				return &api.Error{Status: http.StatusGone, Text: fmt.Sprintf(
					"the folder of %s no longer exists: %s on worker %s", o.id, p.Gone, p.Worker),
					Remedy: "it was deleted, or the worker used a different outputs folder when " +
						"the task ran"}
			}
			return &api.Error{Status: http.StatusNotFound,
				Text: fmt.Sprintf("%s has printed nothing to %s", o.id, streamName(o.stderr))}
		case p.Absent: // it may come
		case headed && p.File != o.file: // another attempt's
			return nil
		default:
			if !headed {
				headed = true
				w.Header().Set(api.FileHeader, p.File)
				w.Header().Set(api.OffsetHeader, strconv.FormatInt(p.Offset, 10))
				w.WriteHeader(http.StatusOK)
			}
			if _, err := w.Write(p.Data); err != nil {
				return err
			}
			if err := flush.Flush(); err != nil {
				return err
			}
			o.file, o.offset = p.File, p.Offset+int64(len(p.Data))
			if o.offset < p.Size && len(p.Data) > 0 {
				continue
			}
		}
		if over || !o.follow {
			return nil
		}
		select {
		case <-time.After(polled):
		case <-ctx.Done():
			return nil
		}
	}
}

func streamName(stderr bool) string {
	if stderr {
		return "standard error"
	}
	return "standard output"
}

// hasEnded reports whether a task has ended.
func (s *Server) hasEnded(ctx context.Context, id task.ID) (bool, error) {
	stored, err := s.archive.Stored(ctx, id.Sweep)
	if err != nil {
		return false, err
	}
	t, err := s.archive.StoredTask(ctx, stored, id.Index)
	return t.State.Terminal(), err
}

// piece asks the worker for what follows the offset; of a tail it asks for the size alone.
func (s *Server) piece(ctx context.Context, o outputRequest) (task.Piece, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pieceTime,
		&api.Error{Status: http.StatusServiceUnavailable,
			Text:   "the worker that has the output of " + o.id.String() + " does not answer",
			Remedy: "run-tasks workers shows how it is"})
	defer cancel()
	r := task.Read{Stderr: o.stderr, Offset: o.offset, File: o.file, Length: task.MaxPieceBytes}
	if o.tail > 0 {
		r.Length = 0
	}
	p, err := s.o.Master.Output(ctx, o.id, o.attempt, r)
	if p.Error != "" {
		err = &api.Error{Status: http.StatusServiceUnavailable, Text: p.Error}
	}
	return p, err
}
