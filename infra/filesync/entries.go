package filesync

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"time"

	"mlframework/projects"
)

// Other is the kind of what is neither file, folder nor link; its entry's Link says what it is.
const Other projects.Kind = "other"

// kindLetters begin entries.
var kindLetters = map[projects.Kind]byte{
	projects.File: 'f', projects.Dir: 'd', projects.Symlink: 'l', Other: 'o',
}

// MaxName bounds a path, name or target in bytes: PATH_MAX of Linux.
const MaxName = 4096

// AppendEntry encodes an entry, as manifests of releases have it: the kind's letter, path, mode,
// size, seconds, nanoseconds, hash (0 or 32 bytes), target. Names may be no UTF-8.
func AppendEntry(to []byte, e projects.Entry) []byte {
	sum, _ := hex.DecodeString(e.Hash) // one that is none is refused as lacking
	to = append(to, kindLetters[e.Kind])
	to = appendText(to, e.Path)
	to = binary.AppendUvarint(to, uint64(e.Mode.Perm()))
	to = binary.AppendUvarint(to, uint64(e.Size))
	to = binary.AppendVarint(to, e.ModTime.Unix())
	to = binary.AppendUvarint(to, uint64(e.ModTime.Nanosecond()))
	to = appendText(to, string(sum))
	return appendText(to, e.Link)
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// EndOfEntries follows the last entry of a list that is on its way.
const EndOfEntries byte = 0

// AppendEntries encodes a list that ReadEntries reads.
func AppendEntries(to []byte, all []projects.Entry) []byte {
	for _, e := range all {
		to = AppendEntry(to, e)
	}
	return append(to, EndOfEntries)
}

// An Output is an entry of what a task has left.
type Output struct {
	projects.Entry
	// Data is how many bytes of a file are in no hole, as far as its file system tells; Size at
	// most.
	Data int64
	Inode
}

// An Inode tells a file from another that took its place. A file system gives the number of a
// removed file to a new one, so a number alone does not.
type Inode struct {
	Number uint64 `json:"inode,omitempty"`
	Born   int64  `json:"born,omitempty"` // in nanoseconds since 1970; 0 where that is not known
}

// AppendOutput encodes an output.
func AppendOutput(to []byte, o Output) []byte {
	to = binary.AppendUvarint(AppendEntry(to, o.Entry), uint64(o.Data))
	return binary.AppendVarint(binary.AppendUvarint(to, o.Number), o.Born)
}

// ReadEntries calls each with the entries of a list, until one is refused. It reads no byte behind
// the list.
func ReadEntries(from *bufio.Reader, each func(projects.Entry) error) error {
	return readList(from, (*decoder).entry, each)
}

// ReadOutputs is ReadEntries of a list of outputs.
func ReadOutputs(from *bufio.Reader, each func(Output) error) error {
	return readList(from, (*decoder).output, each)
}

// readList reads a list of what read reads behind the letter.
func readList[T any](from *bufio.Reader, read func(*decoder, byte) T, each func(T) error) error {
	d := decoder{from: from}
	for {
		letter := d.letter()
		if d.err == nil && letter == EndOfEntries {
			return nil
		}
		e := read(&d, letter)
		if errors.Is(d.err, io.EOF) {
			return fmt.Errorf("a list that is cut off: %w", io.ErrUnexpectedEOF)
		}
		if d.err != nil {
			return d.err
		}
		if err := each(e); err != nil {
			return err
		}
	}
}

// Limits of a manifest.
const (
	maxEntries  = 1 << 20
	maxManifest = 256 << 20 // bytes
)

// ReadManifest reads the manifest of a revision, as AppendEntries encodes it, and checks it.
func ReadManifest(from *bufio.Reader, revision string) (*projects.Manifest, error) {
	m, size := &projects.Manifest{}, 0
	err := ReadEntries(from, func(e projects.Entry) error {
		m.Entries = append(m.Entries, e)
		size += len(e.Path) + len(e.Link) + len(e.Hash)
		if len(m.Entries) > maxEntries || size > maxManifest {
			return fmt.Errorf("more than %d files, or %d bytes of names", maxEntries, maxManifest)
		}
		return nil
	})
	if err == nil {
		err = m.Check()
	}
	if err == nil && m.Revision() != revision {
		err = fmt.Errorf("the manifest is of revision %s, and not of %q", m.Revision(), revision)
	}
	return m, err
}

// A decoder takes a list apart. The first fault stays in err; what is read after it is zero.
type decoder struct {
	from *bufio.Reader
	err  error
	b    [MaxName]byte
}

func (d *decoder) letter() (b byte) {
	if d.err == nil {
		b, d.err = d.from.ReadByte()
	}
	return b
}

// number reads one that is at most limit.
func (d *decoder) number(limit uint64) (v uint64) {
	if d.err == nil {
		v, d.err = binary.ReadUvarint(d.from)
	}
	if d.err == nil && v > limit {
		d.err = fmt.Errorf("the number %d: at most %d is allowed", v, limit)
	}
	if d.err != nil {
		return 0
	}
	return v
}

func (d *decoder) signed() (v int64) {
	if d.err == nil {
		v, d.err = binary.ReadVarint(d.from)
	}
	return v
}

func (d *decoder) text() string {
	b := d.b[:d.number(MaxName)]
	if d.err == nil {
		_, d.err = io.ReadFull(d.from, b)
	}
	return string(b)
}

// instant reads a time that an entry can have.
func (d *decoder) instant() time.Time {
	seconds := d.signed()
	if d.err == nil && (seconds < -projects.MaxSeconds || seconds > projects.MaxSeconds) {
		d.err = fmt.Errorf("a time of %d seconds since 1970", seconds)
	}
	return time.Unix(seconds, int64(d.number(uint64(time.Second)-1)))
}

// entry reads what follows the letter.
func (d *decoder) entry(letter byte) (e projects.Entry) {
	for k, l := range kindLetters {
		if l == letter {
			e.Kind = k
		}
	}
	if d.err == nil && e.Kind == "" {
		d.err = fmt.Errorf("an entry of kind %q", letter)
	}
	e.Path = d.text()
	e.Mode = fs.FileMode(d.number(uint64(fs.ModePerm)))
	e.Size = int64(d.number(math.MaxInt64))
	e.ModTime = d.instant()
	e.Hash = hex.EncodeToString([]byte(d.text()))
	e.Link = d.text()
	return e
}

// output reads what follows the letter.
func (d *decoder) output(letter byte) (o Output) {
	o.Entry = d.entry(letter)
	o.Data = int64(d.number(uint64(o.Size)))
	o.Number = d.number(math.MaxUint64)
	o.Born = d.signed()
	return o
}
