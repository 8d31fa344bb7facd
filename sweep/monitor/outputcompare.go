package monitor

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

const (
	// headBytes is how much of the beginning of each output is compared, and maxOutputs of how many
	// tasks.
	headBytes  = 64 << 10
	maxOutputs = 6
	// linesBefore and linesAfter are how many lines around a difference are shown.
	linesBefore, linesAfter = 3, 4
)

// outputComparison is the first difference between what tasks printed to one of their streams.
type outputComparison struct {
	Tabs   []tab
	Stream string
	Line   int // the first that differs, from 1; 0: none does
	Before []string
	Parts  []outputPart
	Notes  []string
}

// outputPart is what some tasks printed from the difference on.
type outputPart struct {
	Tasks string
	Lines []string // none: it ends there
}

// askHead asks for the beginning of an output.
func (m *Monitor) askHead(ctx context.Context, id task.ID, stream string, version int64) (tail,
	error) {
	return m.askOutput(ctx, fmt.Sprintf("head %s %s", id, stream), stream, version,
		func(ctx context.Context, t *tail) (err error) {
			t.text, err = m.o.Master.OutputHead(ctx, id, api.OutputOptions{Stderr: stream == stderr},
				headBytes)
			return err
		})
}

// compareOutputs compares what tasks printed to the stream that a URL names.
func (m *Monitor) compareOutputs(r *request, sweep string, all []api.Task) (*outputComparison,
	error) {
	q := r.URL.Query()
	v := &outputComparison{Stream: stdout}
	if q.Get("stream") == stderr {
		v.Stream = stderr
	}
	for _, stream := range []string{stdout, stderr} {
		q.Set("stream", stream)
		v.Tabs = append(v.Tabs, tab{Label: stream, Current: stream == v.Stream,
			URL: m.compareURL(sweep) + "?" + q.Encode()})
	}
	if len(all) > maxOutputs {
		v.Notes = append(v.Notes, fmt.Sprintf("The outputs of the first %d tasks are compared.",
			maxOutputs))
		all = all[:maxOutputs]
	}
	heads, errs := make([]tail, len(all)), make([]error, len(all))
	var asked sync.WaitGroup
	for i, t := range all {
		asked.Go(func() {
			heads[i], errs[i] = m.askHead(r.Context(), task.ID{Sweep: sweep, Index: t.Row.Index},
				v.Stream, r.version)
		})
	}
	asked.Wait()
	var names []string
	var texts [][]byte
	var notes []string
	noted := map[string][]string{} // tasks by their notes
	for i, head := range heads {
		name := strconv.FormatInt(all[i].Row.Index, 10)
		if errs[i] != nil {
			return nil, errs[i]
		}
		if len(all[i].Attempts) == 0 {
			head.note = "not started."
		}
		if head.note == "" {
			names, texts = append(names, name), append(texts, head.text)
			continue
		}
		if len(noted[head.note]) == 0 {
			notes = append(notes, head.note)
		}
		noted[head.note] = append(noted[head.note], name)
	}
	for _, note := range notes {
		v.Notes = append(v.Notes, human.Pick(len(noted[note]), "Task ", "Tasks ")+
			human.List(noted[note])+": "+note)
	}
	v.compare(sweep, names, texts)
	return v, nil
}

// compare fills in the first difference between the beginnings of the outputs of tasks of a sweep.
// That each task has a folder is no difference: where lines name it, … stands for its number.
func (v *outputComparison) compare(sweep string, names []string, texts [][]byte) {
	if len(texts) < 2 {
		return
	}
	var all [][]string
	cut := false
	for of, text := range texts {
		folder := "/" + sweep + "/" + names[of] + "/"
		lines := bytes.SplitAfter(text, []byte("\n"))
		if len(text) == headBytes {
			cut = true
			lines = lines[:len(lines)-1] // its end is not here
		} else if len(lines[len(lines)-1]) == 0 {
			lines = lines[:len(lines)-1]
		}
		shown := make([]string, len(lines))
		for i, line := range lines {
			shown[i] = strings.ReplaceAll(shownLine(bytes.TrimSuffix(line, []byte("\n"))), folder,
				"/"+sweep+"/…/")
		}
		all = append(all, shown)
	}
	if cut { // what follows the end of one is not known
		n := math.MaxInt
		for i, lines := range all {
			if len(texts[i]) == headBytes {
				n = min(n, len(lines))
			}
		}
		for i, lines := range all {
			all[i] = lines[:min(n, len(lines))]
		}
	}
	at := firstDifference(all)
	switch {
	case at < 0 && cut:
		v.Notes = append(v.Notes, "Their beginnings, of "+size(headBytes)+", do not differ.")
		return
	case at < 0:
		v.Notes = append(v.Notes, "They do not differ.")
		return
	}
	v.Line = at + 1
	v.Before = all[0][max(0, at-linesBefore):at]
	for i, lines := range all {
		part := lines[min(at, len(lines)):min(at+linesAfter, len(lines))]
		known := slices.IndexFunc(v.Parts, func(p outputPart) bool {
			return slices.Equal(p.Lines, part)
		})
		if known < 0 {
			v.Parts = append(v.Parts, outputPart{names[i], part})
			continue
		}
		v.Parts[known].Tasks = strings.Join([]string{v.Parts[known].Tasks, names[i]}, ", ")
	}
	if cut {
		v.Notes = append(v.Notes, "Only the first "+size(headBytes)+" of each are compared.")
	}
}

// firstDifference returns the first line, from 0, in which texts are not all the same; -1: they are.
func firstDifference(texts [][]string) int {
	for at := 0; ; at++ {
		ended := 0
		for _, lines := range texts {
			switch {
			case at >= len(lines):
				ended++
			case at >= len(texts[0]) || lines[at] != texts[0][at]:
				return at
			}
		}
		if ended == len(texts) {
			return -1
		}
		if ended > 0 {
			return at
		}
	}
}
