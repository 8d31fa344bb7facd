package invariants

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// Note is a line of a shell script with which a task writes down its start: it appends a line that
// ReadStarts reads to the file that the variable STARTS names, in one write.
const Note = `echo "$TASK_ID $ATTEMPT $WORKER $$ $(date +%s.%N)" >>"$STARTS"`

// ReadStarts reads the starts that tasks wrote down with Note.
func ReadStarts(r io.Reader) (all []Start, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		s, err := readStart(strings.Fields(lines.Text()))
		if err != nil {
			return nil, fmt.Errorf("line %d, %q: %w", n, lines.Text(), err)
		}
		all = append(all, s)
	}
	return all, lines.Err()
}

func readStart(fields []string) (s Start, err error) {
	if len(fields) != 5 {
		return s, fmt.Errorf("it has %d words and not 5", len(fields))
	}
	if s.Task, err = task.ParseID(fields[0]); err != nil {
		return s, err
	}
	if s.Attempt, err = strconv.Atoi(fields[1]); err != nil {
		return s, err
	}
	s.Worker = fields[2]
	if s.PID, err = strconv.Atoi(fields[3]); err != nil {
		return s, err
	}
	seconds, nanos, _ := strings.Cut(fields[4], ".")
	whole, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return s, err
	}
	part, err := strconv.ParseInt(nanos, 10, 64)
	s.Time = time.Unix(whole, part)
	return s, err
}

// justified checks that every start that another followed has a reason: the end of the attempt,
// which the rules forgave, or a fault.
func (c *checker) justified(id task.ID, attempts []core.Attempt) {
	starts := c.starts[id]
	for n, s := range starts[:max(0, len(starts)-1)] {
		next, t := starts[n+1], resultOf(s, attempts)
		fenced := t == nil || t.Superseded || t.Outcome.Class == task.Loss
		if !fenced && forgivable(t.Outcome.Class) || c.excused(s, next, fenced) {
			continue
		}
		c.report(3, id.String(),
			"began again (attempt %d on %s) %v after attempt %d on %s, and no fault explains it",
			next.Attempt, next.Worker, next.Time.Sub(s.Time), s.Attempt, s.Worker)
	}
	holders := map[int]string{}
	for _, s := range starts {
		if other, have := holders[s.Attempt]; have && other != s.Worker {
			c.report(3, id.String(), "began attempt %d on %s and on %s", s.Attempt, other, s.Worker)
		}
		holders[s.Attempt] = s.Worker
	}
}

// resultOf is what the store has of an attempt that was left behind; nil: nothing.
func resultOf(s Start, attempts []core.Attempt) *core.Attempt {
	for _, t := range attempts {
		if t.Number == s.Attempt && t.Worker == s.Worker && t.Outcome != nil {
			return &t
		}
	}
	return nil
}

// forgivable reports whether an attempt that ended so did so by itself, and the rules decided about
// another.
func forgivable(class task.Class) bool {
	return class == task.Error || class == task.TimedOut || class == task.OutOfMemory
}

// aftermath is for how long after a fault an attempt may begin that is superseded already, and is
// fenced: a worker that died between claim and acknowledgement gets the delivery again. One that
// was lost may have begun only then: the one who loses it cannot know.
const aftermath = 20 * time.Second

// excused reports whether a fault explains that an attempt was followed by another. One that began
// after the other had been on its way to its worker all the time, which may have been gone for
// long.
func (c *checker) excused(s, next Start, fenced bool) bool {
	for _, f := range c.e.Faults {
		hit := !s.Time.After(f.To) || fenced && (!s.Time.After(f.To.Add(aftermath)) ||
			s.Time.After(next.Time))
		meant := (f.Worker == "" || f.Worker == s.Worker) &&
			(f.Sweep == "" || f.Sweep == s.Task.Sweep)
		if meant && hit && !next.Time.Before(f.From) {
			return true
		}
	}
	return false
}

// newest checks the attempt that counts against the starts: none is newer, and one that succeeded
// did begin.
func (c *checker) newest(id task.ID, row core.Task) {
	if c.e.Starts == nil {
		return
	}
	began := false
	for _, s := range c.starts[id] {
		if s.Attempt > row.Attempt.Number {
			c.report(2, id.String(), "counts attempt %d, and attempt %d began on %s",
				row.Attempt.Number, s.Attempt, s.Worker)
		}
		began = began || s.Attempt == row.Attempt.Number && s.Worker == row.Attempt.Worker
	}
	if row.State == task.Succeeded && !began {
		c.report(2, id.String(), "succeeded in attempt %d on %s, which never began",
			row.Attempt.Number, row.Attempt.Worker)
	}
}
