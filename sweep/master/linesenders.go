package master

import (
	"context"
	"sync"
	"sync/atomic"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// maxPlaced bounds the tasks of which it is remembered where their newest attempt is.
const maxPlaced = 1 << 14

// placed is where the newest attempt of a task is.
type placed struct {
	attempt int
	worker  string // "": it was given back, or nothing is known
	known   bool   // of the worker
}

// senders knows which worker the lines of a task come from: the one that its newest attempt was
// placed on. Placements are on disk before a worker can know of them; they are read once, and
// forgotten when the task has another attempt. So a line of any other attempt than the one that is
// remembered is dropped without reading. The zero value is ready; it is safe for concurrent use.
type senders struct {
	refused atomic.Int64 // lines of attempts that their worker never had

	mu      sync.Mutex
	hosts   map[string]string // of workers, as they registered
	tasks   map[task.ID]placed
	others  map[task.ID]placed // likewise, of tasks of which only lines of other attempts came
	changes int64              // how often tasks have changed since the start
}

// register notes the hosts of workers.
func (s *senders) register(workers ...core.WorkerRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil {
		s.hosts = map[string]string{}
	}
	for _, w := range workers {
		s.hosts[w.Name] = w.Host
	}
}

// forget drops a worker.
func (s *senders) forget(worker string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.hosts, worker)
}

// changed drops the tasks of a sweep that have another attempt now.
func (s *senders) changed(sweep string, tasks []core.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	if len(s.tasks)+len(s.others) == 0 {
		return
	}
	for i := range tasks {
		id := task.ID{Sweep: sweep, Index: tasks[i].Index}
		if p, known := s.tasks[id]; known && p.attempt != tasks[i].Attempt.Number {
			delete(s.tasks, id)
		}
		delete(s.others, id)
	}
}

// find returns where the newest attempt of a task is, if that is known, and how often tasks had
// changed then.
func (s *senders) find(id task.ID) (p placed, known bool, changes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, known = s.tasks[id]; !known {
		p, known = s.others[id]
	}
	return p, known, s.changes
}

// remember notes what the newest attempt of a task was when tasks had changed so often. What lines
// of other attempts led to does not push out the rest: those may be made up.
func (s *senders) remember(id task.ID, p placed, changes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.changes != changes:
	case p.worker == "":
		if s.others == nil || len(s.others) >= maxPlaced {
			s.others = map[task.ID]placed{}
		}
		s.others[id] = p
	default:
		if s.tasks == nil || len(s.tasks) >= maxPlaced {
			s.tasks = map[task.ID]placed{}
		}
		s.tasks[id] = p
	}
}

// host returns the host of the worker that sent a line; false where the line is not of the newest
// attempt of its task, on that worker. Where that is not known it is read.
func (s *senders) host(l task.Line, read func() (store.AttemptWorker, error)) (string, bool,
	error) {
	id := task.ID{Sweep: l.Sweep, Index: l.Index}
	p, known, changes := s.find(id)
	if l.Attempt < 1 {
		s.refused.Add(1)
		return "", false, nil
	}
	if !known || l.Attempt == p.attempt && !p.known {
		found, err := read()
		if err != nil {
			return "", false, err
		}
		p = placed{attempt: found.Newest}
		if l.Attempt == found.Newest {
			p.worker, p.known = found.Worker, true
		}
		s.remember(id, p, changes)
		if core.OriginOf(l.Worker, l.Attempt, found.Worker, found.Newest) == core.OriginForeign {
			s.refused.Add(1)
			return "", false, nil
		}
	}
	switch {
	case l.Attempt > p.attempt,
		l.Attempt == p.attempt && p.worker != "" && p.worker != l.Worker:
		s.refused.Add(1)
		return "", false, nil
	case l.Attempt != p.attempt || p.worker == "":
		return "", false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	host, ok := s.hosts[l.Worker]
	return host, ok, nil
}

// line gives a line of live output to its followers, as one of the host that its worker registered
// with. Lines of attempts that are not their worker's, or that another attempt has followed, are
// dropped. Workers of a master with Local are its own.
func (m *Master) line(ctx context.Context, l task.Line) {
	if !m.watch.follows(l.Sweep) {
		return
	}
	if !m.o.Local {
		host, ok, err := m.senders.host(l, func() (store.AttemptWorker, error) {
			return m.o.Store.AttemptWorker(ctx, l.Sweep, l.Index, l.Attempt)
		})
		if err != nil && ctx.Err() == nil {
			m.o.Log.Warn("a line of output is not shown, as its task cannot be read", "error", err)
		}
		if !ok {
			return
		}
		l.Host = host
	}
	m.watch.line(l)
}
