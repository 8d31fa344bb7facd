package task

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"mlframework/sweep/metric"
)

// Bounds of what a worker says: a worker that is lost, or a program that has got hold of its
// password, must not fill the master's memory, store and pages. Lengths are in bytes. Each is well
// above what this project's workers send.
const (
	maxNameBytes       = 256      // of sweeps, hosts, programs, incarnations, metrics in rules
	maxTextBytes       = 16 << 10 // of reasons, and what is for people
	maxContainerBytes  = 64 << 10 // of the description of a container
	maxLineBytes       = 64 << 10 // of live output
	maxKeyBytes        = 256
	maxAttemptsListed  = 1 << 13
	maxSlots           = 1 << 13
	maxSamples         = 1 << 13
	maxMetrics         = 1 << 17
	maxGPUs            = 1 << 10
	maxUnmeasured      = 1 << 10
	maxMetricNameBytes = 4 << 10 // names of metrics in JSON lines are the program's
	maxCount           = 1 << 31 // of events unsent, attempts waiting
	maxAttempt         = 1 << 31
	maxIDBytes         = 256
	maxDuration        = 100 * 365 * 24 * time.Hour
)

// limits gathers the first bound that something does not keep.
type limits struct{ err error }

func (b *limits) refuse(what, format string, values ...any) {
	if b.err == nil {
		b.err = errors.New(what + " " + fmt.Sprintf(format, values...))
	}
}

func (b *limits) text(what, text string, most int) {
	if len(text) > most {
		b.refuse(what, "is %d bytes long; at most %d are taken", len(text), most)
	} else if !utf8.ValidString(text) {
		b.refuse(what, "is not text")
	}
}

func (b *limits) number(what string, n, most int64) {
	if n < 0 || n > most {
		b.refuse(what, "is %d; it has to be from 0 to %d", n, most)
	}
}

// numberOrUnknown is number for what may be -1 where it is not known.
func (b *limits) numberOrUnknown(what string, n, most int64) {
	if n != -1 {
		b.number(what, n, most)
	}
}

// time refuses what cannot be written as RFC 3339 in UTC.
func (b *limits) time(what string, t time.Time) {
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		b.refuse(what, "is %s; its year has to be from 1 to 9999", t.UTC().Format(time.RFC3339))
	}
}

// timeOrNone is time, and takes the zero time, too.
func (b *limits) timeOrNone(what string, t time.Time) {
	if !t.IsZero() {
		b.time(what, t)
	}
}

func (b *limits) from(worker, want string) {
	if worker != want {
		b.refuse("it", "names worker %.200q and is from worker %s", worker, want)
	}
}

// Check returns an error for an event that is not of a worker, or that is larger than anything a
// worker has to say.
func (e *Event) Check(worker string) error {
	var b limits
	b.from(e.Worker, worker)
	b.text("its kind", string(e.Kind), maxNameBytes)
	b.text("its sweep", e.Sweep, maxNameBytes)
	b.number("its index", e.Index, 1<<62)
	b.number("its attempt", int64(e.Attempt), maxAttempt)
	b.time("its time", e.Time)
	if s := e.Start; s != nil {
		b.text("its host", s.Host, maxNameBytes)
		b.text("its image", s.Image, maxTextBytes)
		b.number("its slot", int64(s.Slot), maxSlots)
	}
	b.number("the number of its samples", int64(len(e.Samples)), maxSamples)
	for i := range e.Samples {
		b.text("a metric", e.Samples[i].Name, maxMetricNameBytes)
		b.text("a stream", e.Samples[i].Stream, maxMetricNameBytes)
		b.time("the time of a sample", e.Samples[i].Time)
	}
	b.metrics(metric.Final(e.Newest))
	if e.Outcome != nil {
		b.outcome(e.Outcome)
		b.time("its start", e.Began())
	}
	if e.Heartbeat != nil {
		b.beat(e.Heartbeat, worker)
	}
	return b.err
}

func (b *limits) metrics(f metric.Final) {
	b.number("the number of its metrics", int64(len(f)), maxMetrics)
	for i := range f {
		b.text("a metric", f[i].Name, maxMetricNameBytes)
	}
}

func (b *limits) outcome(o *Outcome) {
	b.number("the size of its outputs", o.Left, 1<<62)
	if !o.Class.Valid() {
		b.refuse("its class", "is %.200q, which is not one of an end", o.Class)
	}
	b.number("its duration", int64(o.Duration), int64(maxDuration))
	b.text("its reason", o.Reason, maxTextBytes)
	b.text("its frame", o.Frame, maxTextBytes)
	b.metrics(o.Metrics)
	b.number("the number of its problems", int64(len(o.Unmeasured)), maxUnmeasured)
	for _, u := range o.Unmeasured {
		b.text("a problem", u, maxTextBytes)
	}
	for _, out := range []*Output{&o.Stdout, &o.Stderr} {
		b.text("the error of its output", out.Error, maxTextBytes)
		b.number("the number of its unread metrics", int64(len(out.Unread)), MaxUnread)
		for _, u := range out.Unread {
			b.text("an unread metric", u.Name+u.Text, maxTextBytes)
		}
	}
}

// Check returns an error for a heartbeat that is not of a worker, or that is larger than anything a
// worker has to say.
func (h *Heartbeat) Check(worker string) error {
	var b limits
	b.beat(h, worker)
	return b.err
}

func (b *limits) beat(h *Heartbeat, worker string) {
	b.from(h.Worker, worker)
	for what, text := range map[string]string{"its incarnation": h.Incarnation,
		"its program": h.Program, "its host": h.Host, "its boot": h.Boot} {
		b.text(what, text, maxNameBytes)
	}
	b.text("its image", h.Image, maxTextBytes)
	b.text("its environment", h.Environment, maxContainerBytes)
	b.text("why it refuses tasks", h.Refuses, maxTextBytes)
	b.text("why it confines no tasks", h.Unconfined, maxTextBytes)
	b.number("the length of its key", int64(len(h.Key)), maxKeyBytes)
	b.timeOrNone("its time", h.Time)
	b.number("its slots", int64(h.Slots), maxSlots)
	b.number("its CPUs", int64(h.CPUs), maxSlots)
	b.number("its memory", h.Memory, 1<<62)
	if err := CheckLabels(h.Labels); err != nil {
		b.refuse("its labels", "%v", err)
	}
	b.text("why it cannot list its GPUs", h.GPUFault, maxTextBytes)
	b.number("the number of its GPUs", int64(len(h.GPUs)), maxGPUs)
	for i := range h.GPUs {
		g := &h.GPUs[i]
		b.text("a GPU", g.UUID, maxNameBytes)
		b.text("the name of a GPU", g.Name, maxNameBytes)
		b.text("why a GPU is not given out", g.Unavailable, maxTextBytes)
		b.number("the memory of a GPU", g.Memory, 1<<62)
		b.numberOrUnknown("the use of a GPU's memory", g.Used, 1<<62)
		b.numberOrUnknown("the utilization of a GPU", int64(g.Utilization), 100)
		if !(g.Given >= 0 && g.Given <= 1) {
			b.refuse("what is given of a GPU", "is %v, not from 0 to 1", g.Given)
		}
	}
	b.number("its slots that end", int64(h.Ending), maxAttemptsListed)
	b.number("its attempts that wait", int64(h.Waiting), maxCount)
	b.number("its events that wait", int64(h.Unsent), maxCount)
	b.number("the number of its needs", int64(len(h.Needs)), maxAttemptsListed)
	b.number("the number of revisions that it lacks", int64(len(h.Lacks)), maxAttemptsListed)
	for _, r := range h.Lacks {
		b.text("a revision", r, maxNameBytes)
	}
	for _, n := range h.Needs {
		b.text("a sweep that it needs secrets of", n.Sweep, maxNameBytes)
		b.text("an edition", n.Edition, maxNameBytes)
	}
	for _, all := range [][]Busy{h.Running, h.Leftovers} {
		b.number("the number of its attempts", int64(len(all)), maxAttemptsListed)
		for i := range all {
			b.text("a sweep that it runs", all[i].Sweep, maxNameBytes)
			b.timeOrNone("the start of an attempt", all[i].Started)
			b.number("an index that it runs", all[i].Index, 1<<62)
			b.number("an attempt that it runs", int64(all[i].Attempt), maxAttempt)
		}
	}
}

// Check returns an error for a piece that is not of a worker, or that is longer than one that was
// asked for.
func (p *Piece) Check(worker string) error {
	var b limits
	b.from(p.Worker, worker)
	b.text("its id", p.ID, maxIDBytes)
	b.text("its file", p.File, maxTextBytes)
	b.text("its folder", p.Gone, maxTextBytes)
	b.text("its error", p.Error, maxTextBytes)
	b.number("its length", int64(len(p.Data)), MaxPieceBytes)
	return b.err
}

// Check returns an error for a line that is longer than any, or whose numbers are not those of a
// line.
func (l *Line) Check() error {
	var b limits
	b.number("its index", l.Index, 1<<62)
	b.number("its attempt", int64(l.Attempt), maxAttempt)
	b.number("its slot", int64(l.Slot), maxSlots)
	b.number("the number of its lines that are left out", l.Missed, maxCount)
	b.text("its sweep", l.Sweep, maxNameBytes)
	b.text("its host", l.Host, maxNameBytes)
	b.text("its text", l.Text, maxLineBytes)
	b.timeOrNone("its time", l.Time)
	return b.err
}

// MaxNeeds is how many needs of one heartbeat are answered.
const MaxNeeds = 64

// MaxPieceBytes is the longest Data of a Piece, in bytes.
const MaxPieceBytes = 256 << 10

// MaxUnread bounds Unread: programs can make up names in JSON lines.
const MaxUnread = 10
