// Package tail follows the metrics files in a task's folder: which files a definition's patterns
// name, what was added to them since they were last looked at, and which began anew.
//
// Nothing outside of the folder is read, wherever links lead (they may lead elsewhere in it), and
// only regular files are. The worker and the commands import it.
package tail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/metric/reader"
)

// Bounds of what is looked at.
const (
	maxFiles    = 100     // of a pattern
	maxEntries  = 20_000  // of folders, at a time
	maxProblems = 10      // in all
	chunk       = 1 << 20 // bytes
	anchored    = 256     // bytes before the place reached that must be as they were
)

// Folder is a task's folder with the files that metrics are read from. It is for one goroutine.
type Folder struct {
	root     rootedFolder
	sources  []*source
	attempt  int // the newest
	hide     func(string) string
	emit     func(metric.Sample)
	baseline map[string]state // of files whose content does not count
	earlier  map[string]state // of files of earlier attempts
	marks    map[string][]mark
	project  func(path string) string // nil: the project is not known
	live     bool                     // a program runs or is about to start
	stored   string                   // the content of recordFile
	// why the marks could not be written
	recordErr error
	cost      time.Duration // of the last look at the folders
	polledAt  time.Time
	full      bool // folders hold more than is looked at
}

// source is the metrics of one pattern.
type source struct {
	pattern     string
	kind        reader.Kind
	rules       []metric.Rule
	names       []string // in the file
	files       []*file  // in the order in which they count
	tooMany     bool
	outsideLink string // a link that leads out of the folder
}

type state struct {
	inode   uint64
	size    int64
	changed time.Time
}

type file struct {
	path    string
	reader  reader.Reader
	was     state
	reached int64
	head    []byte // the beginning of the file
	end     []byte // what stands before the place reached
	values  []metric.Values
	earlier []earlier // of a document, by name
	partial bool      // the time at the end did not suffice for it
	owned   []mark    // parts that existed before the program started
	// the program has not appended a complete line to them yet
	undecided bool
	of        int     // who wrote the part that is read, as in mark.Of
	emitted   []int64 // values that were emitted, by name, of what the file was before
	err       error
}

// earlier is the values that a document had before it was written anew, where it has one each time.
type earlier struct {
	values metric.Values
	last   metric.FinalValue
}

// after returns the values with the one that the document has now, which may be the one it had
// before.
func (e earlier) after(now metric.Values) earlier {
	last := now.Final("", metric.Last, 0)
	if !e.repeated(last) {
		e.values.Join(now)
	}
	e.last = last
	return e
}

// repeated reports whether a value is the one that the document had before.
func (e earlier) repeated(last metric.FinalValue) bool {
	return e.values.Count > 0 && last.Value == e.last.Value &&
		(last.Span == nil) == (e.last.Span == nil) &&
		(last.Span == nil || last.Span.Step == e.last.Span.Step)
}

// series returns the values of a name. Where a document has several, they are all there are.
func (file *file) series(name int) metric.Values {
	now := file.values[name]
	switch {
	case !file.reader.IsDocument() || now.Count > 1:
		return now
	case now.Count == 0:
		return file.earlier[name].values
	}
	return file.earlier[name].after(now).values
}

// Open opens a folder to read the metrics of those rules that name a file; nil when none does.
// Attempt is the newest attempt that ran in it. Emit is called with each number that is found. Hide
// changes file names and contents that problems quote; it may be nil.
func Open(dir string, rules []metric.Rule, attempt int, hide func(string) string,
	emit func(metric.Sample)) (*Folder, error) {
	f := &Folder{attempt: attempt, hide: hide, emit: emit}
	for _, r := range rules {
		if r.File == "" {
			continue
		}
		kind, name := Kind(r)
		at := slices.IndexFunc(f.sources, func(s *source) bool {
			return s.pattern == r.File && s.kind == kind
		})
		if at < 0 {
			at = len(f.sources)
			f.sources = append(f.sources, &source{pattern: r.File, kind: kind})
		}
		s := f.sources[at]
		s.rules, s.names = append(s.rules, r), append(s.names, name)
	}
	if len(f.sources) == 0 {
		return nil, nil
	}
	var err error
	if f.root, err = open(dir); err == nil {
		f.load()
	}
	return f, err
}

// Kind returns how the file of a rule is read, and the name in it.
func Kind(r metric.Rule) (kind reader.Kind, name string) {
	switch {
	case r.Column != "":
		return reader.CSV, r.Column
	case r.Key != "":
		return reader.JSON, r.Key
	}
	return reader.Events, r.Tag
}

// Close ends the reading.
func (f *Folder) Close() error { return f.root.Close() }

func (f *Folder) stat(path string) (state, error) {
	info, err := f.root.stat(path)
	if err != nil {
		return state{}, err
	}
	return stateOf(info), nil
}

func stateOf(info fs.FileInfo) state {
	s := state{size: info.Size(), changed: info.ModTime()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
	}
	return s
}

// Poll reads what was added, at most so many bytes, and reports whether that was all.
func (f *Folder) Poll(ctx context.Context, most int64) bool {
	// Folders with many entries are not listed at each look: at most a twentieth of the time goes
	// there.
	if now := time.Now(); f.cost < 50*time.Millisecond || now.Sub(f.polledAt) >= 20*f.cost {
		f.find()
		f.polledAt, f.cost = time.Now(), time.Since(now)
	}
	type unread struct {
		source *source
		file   *file
	}
	var left []unread
	for _, s := range f.sources {
		for _, file := range s.files {
			left = append(left, unread{s, file})
		}
	}
	// Each file gets its share first, then the first of those that have more gets the rest.
	share := most / int64(max(1, len(left)))
	for {
		left = slices.DeleteFunc(left, func(u unread) bool {
			n, done := f.read(ctx, u.source, u.file, min(share, most))
			most -= n
			return done
		})
		if share = most; len(left) == 0 || most <= 0 || ctx.Err() != nil {
			return len(left) == 0
		}
	}
}

// End reads everything that there is, until ctx ends. Where the program did not exit by itself, a
// last line without an end counts only in JSON: there a part of it is not read as another number.
// So it is in the files of earlier attempts: how those ended is not known.
func (f *Folder) End(ctx context.Context, exited bool) {
	limit := "the time there is for it"
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline).Round(time.Second).String()
	}
	f.cost = 0
	for !f.Poll(ctx, 1<<62) && ctx.Err() == nil {
	}
	if f.live {
		defer f.store()
	}
	for _, s := range f.sources {
		for _, file := range s.files {
			if file.undecided && file.owned == nil && f.live {
				delete(f.marks, file.path)
			}
			file.partial = ctx.Err() != nil && file.reached < file.was.size
			if !file.reader.IsDocument() {
				earlier, ok := f.earlier[file.path]
				file.reader.Close(exited && !file.partial && !(ok && earlier == file.was))
			}
			if file.partial {
				file.err = fmt.Errorf("not read to its end within %s: %d of its %d bytes were",
					limit, file.reached, file.was.size)
			}
		}
	}
}

// find looks which files there are.
func (f *Folder) find() {
	for _, s := range f.sources {
		for _, path := range f.glob(s) {
			at, known := slices.BinarySearchFunc(s.files, path, func(file *file, path string) int {
				return compare(file.path, path)
			})
			if known {
				continue
			}
			if was, ok := f.baseline[path]; ok {
				if now, err := f.stat(path); err != nil || now == was {
					continue
				}
			}
			if len(s.files) == maxFiles {
				s.tooMany = true
				break
			}
			s.files = slices.Insert(s.files, at,
				f.begin(s, &file{path: path, emitted: make([]int64, len(s.names))}))
		}
	}
}

// compare puts version_2 before version_10.
func compare(a, b string) int { return cmp.Or(human.CompareNatural(a, b), strings.Compare(a, b)) }

// begin reads a file from its beginning.
func (f *Folder) begin(s *source, file *file) *file {
	for i, v := range file.values {
		file.emitted[i] = max(file.emitted[i], v.Count)
	}
	if file.reader != nil && file.reader.IsDocument() {
		for i, v := range file.values {
			if v.Count == 1 {
				file.earlier[i] = file.earlier[i].after(v)
			}
		}
	} else {
		file.earlier = make([]earlier, len(s.names))
	}
	file.values = make([]metric.Values, len(s.names))
	file.reached, file.head, file.end, file.of = 0, nil, nil, f.attempt
	file.reader = reader.New(s.kind, s.names, f.hide, func(name int, value float64, step *int64) {
		if file.of <= 0 {
			return
		}
		v := &file.values[name]
		v.Attempt = file.of
		v.Add(value, step)
		// A document that is written anew has the values again that it had; a single one is the
		// next if it is another.
		if v.Count > file.emitted[name] || file.emitted[name] == 1 &&
			!file.earlier[name].repeated(v.Final("", metric.Last, 0)) {
			f.emit(metric.Sample{Name: s.rules[name].Name, Value: value, Step: step,
				Time: time.Now()})
		}
	})
	return file
}

// read reads what was added to a file, and reports whether that was all of it.
func (f *Folder) read(ctx context.Context, s *source, file *file, most int64) (n int64, done bool) {
	now, err := f.stat(file.path)
	if err != nil {
		if file.reached == 0 {
			file.err = err
		}
		return 0, true // what was read of it counts
	}
	if now == file.was && file.reached == now.size {
		return 0, true
	}
	opened, err := f.root.open(file.path)
	if err != nil {
		file.err = err
		return 0, true
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil || !info.Mode().IsRegular() {
		file.err = cmp.Or(err, errors.New("is not a regular file"))
		return 0, true
	}
	now = stateOf(info)
	if file.reached > 0 && (now.inode != file.was.inode || now.size < file.reached ||
		(file.reader.IsDocument() || file.undecided) && now != file.was ||
		!file.continues(opened)) {
		f.begin(s, file)
	}
	file.was, file.err = now, nil
	if file.reached == 0 {
		f.own(s.kind, file, opened, now)
	}
	buffer := make([]byte, min(chunk, max(now.size-file.reached, 1)))
	for n < most && ctx.Err() == nil {
		k, err := opened.ReadAt(buffer[:min(int64(len(buffer)), most-n)], file.reached)
		file.take(buffer[:k], f.attempt)
		n += int64(k)
		if err != nil {
			if err != io.EOF {
				file.err = err
			}
			done = true
			break
		}
	}
	done = done || file.reached == now.size
	if file.was.size = max(file.was.size, file.reached); done && file.reader.IsDocument() {
		file.reader.Close(false)
	}
	return n, done
}

// note remembers what stands at the beginning of a file and before the place reached.
func (file *file) note(p []byte) {
	file.reached += int64(len(p))
	if room := anchored - len(file.head); room > 0 {
		file.head = append(file.head, p[:min(room, len(p))]...)
	}
	file.end = append(file.end, p[max(0, len(p)-anchored):]...)
	file.end = slices.Clone(file.end[max(0, len(file.end)-anchored):])
}

// continues reports whether a file is still what was read of it, and more.
func (file *file) continues(opened *os.File) bool {
	same := func(want []byte, at int64) bool {
		have := make([]byte, len(want))
		n, _ := opened.ReadAt(have, at)
		return string(have[:n]) == string(want)
	}
	return same(file.head, 0) && same(file.end, file.reached-int64(len(file.end)))
}

// Final returns the values of the metrics of which there are any.
func (f *Folder) Final() (all metric.Final) {
	for _, s := range f.sources {
		for i, r := range s.rules {
			var values metric.Values
			ended := true // the last value is known
			for _, file := range s.files {
				its := file.series(i)
				values.Join(its)
				ended = !file.partial && (ended || its.Count > 0)
			}
			if values.Count > 0 && (ended || r.Take != "" && r.Take != metric.Last) {
				all = append(all, values.Final(r.Name, r.Take, f.attempt))
			}
		}
	}
	return all
}

// Incomplete returns the metrics of JSON documents of which only the last value is known: those
// that hold it alone may have held others before the folder was opened.
func (f *Folder) Incomplete() (names []string) {
	for _, s := range f.sources {
		for i, r := range s.rules {
			if slices.ContainsFunc(s.files, func(file *file) bool {
				return s.kind == reader.JSON && file.reader.IsDocument() && file.values[i].Count < 2
			}) {
				names = append(names, r.Name)
			}
		}
	}
	return names
}

// Count returns how many values of a metric there are.
func (f *Folder) Count(metric string) (n int64) {
	for _, s := range f.sources {
		for i, r := range s.rules {
			for _, file := range s.files {
				if r.Name == metric {
					n += file.series(i).Count
				}
			}
		}
	}
	return n
}
