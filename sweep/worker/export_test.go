package worker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"mlframework/sweep/argv"
	"mlframework/sweep/metric"
	"mlframework/sweep/metric/tail"
	"mlframework/sweep/queue"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

// Outcome returns outcome, for ends that no test can bring about.
func Outcome(e process.Exit, limit time.Duration) task.Outcome { return outcome(e, limit) }

// LogName returns logName.
func LogName(stream string, attempt int, noted string, has func(string) bool) string {
	return logName(stream, attempt, noted, has)
}

// MaxRecent is how many attempts that are over a worker still knows.
const MaxRecent = maxRecent

// MaxOutcomes is how many ends a worker knows with their outcomes.
const MaxOutcomes = maxOutcomes

// MaxInMemory is how many events stand in memory before they go to the spool.
const MaxInMemory = maxInMemory

// Incarnation is incarnation.
var Incarnation = incarnation

// AddToSpool writes events into a spool.
func AddToSpool(path string, events []task.Event) error {
	s, err := openSpool(path)
	if err != nil {
		return err
	}
	_, err = s.add(events)
	return errors.Join(err, s.file.Close())
}

// SpoolRead takes everything out of a spool, as a worker does that sends it, and tells how many
// events it counted first.
func SpoolRead(path string) (events []task.Event, count int, err error) {
	s, err := openSpool(path)
	if err != nil {
		return nil, 0, err
	}
	count = s.count
	for s.count > 0 && err == nil {
		var some []task.Event
		if some, err = s.read(); len(some) == 0 {
			break
		}
		events = append(events, some...)
		err = errors.Join(err, s.discard(len(some)))
	}
	return events, count, errors.Join(err, s.file.Close())
}

// Outbox is an outbox beside a spool.
type Outbox struct{ outbox }

// NewOutbox makes one that run sends from.
func NewOutbox(p queue.WorkerEndpoint, spool string, log *slog.Logger) *Outbox {
	o := &Outbox{}
	o.init(p, log)
	o.attach(spool)
	return o
}

// Put, Run and Unsent are the outbox's.
func (o *Outbox) Put(events ...task.Event) { o.put(events...) }
func (o *Outbox) Run(ctx context.Context)  { o.run(ctx) }
func (o *Outbox) Unsent() int              { return o.unsent() }

// InMemory returns how many events stand in memory.
func (o *Outbox) InMemory() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.events)
}

// StartLog is the record of starts beside a spool.
type StartLog struct{ startLog }

// NewStartLog makes the record of a process of worker w1, and tells which starts the process before
// it recorded, and whether these are all.
func NewStartLog(spool string) (l *StartLog, before []task.Event, whole bool) {
	l = &StartLog{}
	l.init(Options{Name: "w1", Spool: spool, Log: slog.New(slog.DiscardHandler)})
	before, whole = l.previous()
	return l, before, whole
}

// Record is record.
func (l *StartLog) Record(slot int, e task.Event) { l.record(slot, e) }

// Mask hides secrets in what is written in pieces.
func Mask(secrets []string, pieces ...[]byte) (out []byte, held int) {
	m := maskOf(secrets)
	for _, p := range pieces {
		out = append(out, m.hide(p)...)
		held = max(held, len(m.buffered))
	}
	return append(out, m.flush()...), held
}

// Tap cuts pieces into lines for a port that follows, in no time.
func Tap(p queue.WorkerEndpoint, pieces ...string) { TapWithClock(p, 0, pieces...) }

// TapWithClock is Tap with a clock that goes on by tick with every look at it.
func TapWithClock(p queue.WorkerEndpoint, tick time.Duration, pieces ...string) {
	f := &followedSweeps{}
	f.set("s-1", true)
	clock := time.Unix(0, 0)
	now := func() time.Time {
		clock = clock.Add(tick)
		return clock
	}
	t := outputTap{port: p, followed: f, now: now, line: task.Line{Sweep: "s-1"}}
	for _, piece := range pieces {
		t.write([]byte(piece))
	}
	t.close()
}

// TapOff returns a tap that nobody follows, and its write.
func TapOff() func([]byte) {
	t := outputTap{followed: &followedSweeps{}, line: task.Line{Sweep: "s-1"}}
	return t.write
}

// SecretDirPrefix begins the names of the folders of a worker's secrets.
func SecretDirPrefix(name, outputs string) string { return secretDirPrefix(name, outputs) }

// WriteParameters is writeParameters.
func WriteParameters(dir string, g argv.Given) error { return writeParameters(dir, g) }

// Stream returns what takes one stream of an attempt of a sweep that nobody follows.
func Stream(path string, rules *metric.Rules) io.Writer {
	return &outputStream{path: path, remaining: 1 << 40, ceiling: 1 << 40,
		scanner: rules.NewScanner(time.Now, func(metric.Sample) {}),
		tap:     outputTap{followed: &followedSweeps{}, now: time.Now}}
}

// FinalOfPart returns the final values of an attempt that printed some text, where the files of
// metrics in its folder can be read only up to so many bytes.
func FinalOfPart(dir string, rules []metric.Rule, most int64, printed string) (metric.Final,
	error) {
	compiled, err := metric.Compile(rules)
	if err != nil {
		return nil, err
	}
	c := collector{series: metric.Series{Rules: compiled}, rules: rules,
		send: func([]metric.Sample, metric.Final) {}, waits: func() bool { return false }}
	folder, err := tail.Open(dir, rules, 1, nil, c.add(""))
	if err != nil {
		return nil, err
	}
	c.files = &metricFiles{folder: folder}
	defer c.files.close()
	scanner := compiled.NewScanner(time.Now, c.add("stdout"))
	_, _ = io.WriteString(scanner, printed) // it fails only when it is closed
	c.files.guard(func() { folder.Poll(context.Background(), most) })
	ended, stop := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer stop()
	c.files.guard(func() { folder.End(ended, true) })
	c.flush()
	return c.final(), scanner.Close()
}

// SpoolLine returns a line of a spool: text with its checksum.
func SpoolLine(text string) string { return string(checksum([]byte(text))) + text + "\n" }

// MaskText masks all forms of secrets in a complete text.
func MaskText(secret, text string) string { return textMask([]string{secret})(text) }
