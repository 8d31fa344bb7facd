package tail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"syscall"

	"mlframework/sweep/metric/reader"
)

// recordFile is the file in a task's folder that contains the marks of its metric files, none for a
// file that was rewritten. It exists if a program changed files of the project or of earlier
// attempts.
const recordFile = ".metric-files"

const (
	maxRecordBytes = 16 << 20
	// bytes at the beginning and at the end of a file that identify its content
	compared = 4 << 10
	maxRest  = 64 << 10
)

// mark describes the content of a file when an attempt started.
type mark struct {
	// the attempt that wrote it; 0 if it belongs to the project, negative if it was written by an
	// attempt whose values do not count
	Of    int    `json:"of"`
	Bytes int64  `json:"bytes"`
	Sum   string `json:"sum"`
	// of the file in the task's folder: one with another is new; 0: it is not known
	Inode uint64 `json:"inode,omitempty"`
}

// fingerprint returns a checksum that identifies the first size bytes of a file.
func fingerprint(r io.ReaderAt, size int64) (string, error) {
	sum, head := sha256.New(), min(size, compared)
	end := max(head, size-compared)
	for _, part := range []*io.SectionReader{io.NewSectionReader(r, 0, head),
		io.NewSectionReader(r, end, size-end)} {
		if n, err := io.Copy(sum, part); err != nil || n < part.Size() {
			return "", errors.Join(err, io.ErrUnexpectedEOF)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// begins reports whether a file starts with the content of a mark.
func (m mark) begins(r io.ReaderAt, size int64) bool {
	if m.Bytes > size {
		return false
	}
	sum, err := fingerprint(r, m.Bytes)
	return err == nil && sum == m.Sum
}

// same reports whether two marks describe the same content.
func (m mark) same(as mark) bool { return m.Bytes == as.Bytes && m.Sum == as.Sum }

// markOf returns a mark of the present content of a file.
func markOf(opened *os.File, err error) (m mark, now state, failed error) {
	if err != nil {
		return m, now, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return m, now, errors.Join(err, os.ErrInvalid)
	}
	now, m.Bytes = stateOf(info), info.Size()
	m.Inode = now.inode
	m.Sum, err = fingerprint(opened, m.Bytes)
	return m, now, err
}

// SetBaseline records which files exist before the program starts. Content of the project does not
// count: only what the program appends to such a file counts, or all of it if the program rewrites
// the file. Project returns the path of a file in the project. Earlier is the last attempt that ran
// in the folder, whose part of the files counts. If it is negative, no existing content counts; 0
// means that no attempt has run there.
func (f *Folder) SetBaseline(earlier int, project func(path string) string) {
	f.baseline, f.earlier, f.project = map[string]state{}, map[string]state{}, project
	f.live = true
	if earlier == 0 { // an existing record file belongs to the project
		f.marks, f.stored = map[string][]mark{}, ""
	}
	for _, s := range f.sources {
		for _, path := range f.glob(s) {
			if earlier == 0 {
				if was, err := f.stat(path); err == nil {
					f.baseline[path] = was
				}
			} else if m, was, err := markOf(f.root.open(path)); err == nil {
				m.Of = earlier
				f.setMark(path, m, was)
			}
		}
	}
	f.store()
}

// SetProject has files compared with those of the project whose rules were added after the program
// ended: of such files, nothing else tells which content the project had.
func (f *Folder) SetProject(project func(path string) string) { f.project = project }

// setMark records what an earlier attempt wrote to a file, or that the file is the project's.
func (f *Folder) setMark(path string, m mark, was state) {
	if _, known := f.marks[path]; !known {
		f.markProject(path)
	}
	marks := f.marks[path]
	if m.Of < 0 {
		marks = nil
	}
	if n := len(marks); n == 0 || !m.same(marks[n-1]) {
		marks = append(marks, m)
		if of, _, err := markOf(os.Open(f.project(path))); err == nil && of.same(m) {
			of.Inode = m.Inode
			marks = []mark{of} // the project's file, in another revision
		}
	}
	if f.marks[path] = marks; marks[len(marks)-1].Of <= 0 {
		f.baseline[path] = was
	} else {
		f.earlier[path] = was
	}
}

// markProject records the content that a file has in the project.
func (f *Folder) markProject(path string) {
	f.marks[path] = nil
	if m, _, err := markOf(os.Open(f.project(path))); err == nil {
		m.Inode = f.baseline[path].inode
		f.marks[path] = []mark{m}
	}
}

// own determines who wrote the parts of a file, before the file is read from its beginning. A file
// that no longer starts with the earlier content was rewritten by the program, and stays so.
func (f *Folder) own(kind reader.Kind, file *file, opened *os.File, now state) {
	_, was := f.baseline[file.path]
	if _, known := f.marks[file.path]; (was || !f.live) && !known && f.project != nil {
		f.markProject(file.path)
	}
	file.owned, file.undecided = nil, false
	marks := f.marks[file.path]
	for i, m := range marks {
		if (m.Inode == 0 || m.Inode == now.inode) && m.begins(opened, now.size) {
			file.owned = append(file.owned, m)
			continue
		}
		if file.owned = nil; f.live {
			f.marks[file.path] = marks[i+1:]
		}
	}
	if len(file.owned) > 0 && file.owned[0].Of <= 0 {
		file.extend(kind, &file.owned[0], opened)
	}
}

// extend examines what follows the project's part of a file. If that part ends within a line, the
// rest of the line belongs to it. If nothing follows, the program counts as having rewritten the
// file with the same content until it appends something.
func (file *file) extend(kind reader.Kind, m *mark, opened *os.File) {
	rest := make([]byte, maxRest)
	n, _ := opened.ReadAt(rest, m.Bytes)
	rest = rest[:n]
	switch end := bytes.IndexByte(rest, '\n'); {
	case len(file.owned) == 1 && n < maxRest && len(bytes.TrimSpace(rest)) == 0:
		file.owned, file.undecided = nil, true
	case kind == reader.Events || m.Bytes == 0 || endsLine(opened, m.Bytes):
	case end >= 0:
		m.Bytes += int64(end) + 1
	default:
		m.Bytes += int64(n)
		file.undecided = true
	}
}

func endsLine(opened *os.File, at int64) bool {
	var last [1]byte
	_, err := opened.ReadAt(last[:], at-1)
	return err == nil && last[0] == '\n'
}

// take passes bytes of a file to the reader, and records for each part which attempt wrote it. The
// newest attempt wrote what follows the marked parts.
func (file *file) take(p []byte, newest int) {
	for len(p) > 0 {
		n, of := int64(len(p)), newest
		for _, m := range file.owned {
			if file.reached < m.Bytes {
				n, of = min(n, m.Bytes-file.reached), m.Of
				break
			}
		}
		if file.of <= 0 && of > 0 {
			file.reader.Forget()
		}
		file.of = of
		_, _ = file.reader.Write(p[:n]) // it never fails
		file.note(p[:n])
		p = p[n:]
	}
}

// load reads the marks. Files that are unchanged since their last mark, and whose content does not
// count, become the baseline.
func (f *Folder) load() {
	f.marks, f.baseline = map[string][]mark{}, map[string]state{}
	opened, err := f.root.OpenFile(recordFile, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer opened.Close()
	text, _ := io.ReadAll(io.LimitReader(opened, maxRecordBytes))
	if json.Unmarshal(text, &f.marks) != nil || f.marks == nil {
		f.marks = map[string][]mark{} // a program replaced the file
	}
	f.stored = string(text)
	for path, marks := range f.marks {
		if n := len(marks); n > 0 && marks[n-1].Of <= 0 {
			now, was, err := markOf(f.root.open(path))
			if err == nil && now.same(marks[n-1]) {
				f.baseline[path] = was
			}
		}
	}
}

// store writes the marks if they have changed.
func (f *Folder) store() {
	all := map[string][]mark{}
	for path, marks := range f.marks {
		if marks != nil {
			all[path] = marks
		}
	}
	text, _ := json.Marshal(all) // cannot fail for text and numbers
	if string(text) == f.stored || len(all) == 0 && f.stored == "" {
		return
	}
	f.stored, f.recordErr = string(text), f.root.RemoveAll(recordFile)
	if f.recordErr != nil {
		return
	}
	to, err := f.root.OpenFile(recordFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if f.recordErr = err; err == nil {
		_, err = to.Write(text)
		f.recordErr = errors.Join(err, to.Close())
	}
}
