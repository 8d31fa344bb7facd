package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Bounds of what is read of a master's answers, in bytes: who answers may be no master, or one that
// somebody else has taken over. None is near to what a master sends.
const (
	mostOfOne   = 16 << 20  // the state of one thing
	mostOfMany  = 256 << 20 // a list or a page, or an event with the rows of many tasks
	mostOfWhole = 1 << 30   // a sweep with its record, or a task with all of its samples
	mostOfRow   = 16 << 20  // a task, as a line of a table
)

// mostBytes bounds an answer by what it is decoded into.
func mostBytes(into any) int64 {
	switch into.(type) {
	case *Sweep, *Task, *Missing:
		return mostOfWhole
	case *SweepList, *Page, *AllTasks, *GroupPage, *Failures, *AuditPage, *Measures, *WorkerList:
		return mostOfMany
	}
	return mostOfOne
}

// tooLong is the error of an answer that is longer than its bound.
func tooLong(most int64) error {
	return permanentError{fmt.Errorf("the answer is longer than %d MiB: see that a master has "+
		"that socket", most>>20)}
}

// A bounded reader fails behind so many bytes.
type bounded struct {
	io.Reader
	most int64
	read int64
}

func (b *bounded) Read(to []byte) (int, error) {
	n, err := b.Reader.Read(to)
	if b.read += int64(n); b.read > b.most {
		return n, tooLong(b.most)
	}
	return n, err
}

// readLine reads a line with its end, of so many bytes at most. The line holds until the next call.
func readLine(from *bufio.Reader, line []byte, most int64) ([]byte, error) {
	line = line[:0]
	for {
		piece, err := from.ReadSlice('\n')
		if line = append(line, piece...); int64(len(line)) > most {
			return nil, tooLong(most)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
