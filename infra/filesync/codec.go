package filesync

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"mlframework/projects"
)

// maxText bounds a path, name or target in bytes: PATH_MAX of Linux.
const maxText = 4096

// kindLetters are the kinds of entries. other is what is neither file, folder nor link; its Link says which.
var kindLetters = map[projects.Kind]byte{projects.File: 'f', projects.Dir: 'd', projects.Symlink: 'l', other: 'o'}

const other projects.Kind = "other"

// appendEntry encodes an entry: the kind's letter, path, mode, size, seconds, nanoseconds, hash (0 or 32 bytes), target.
func appendEntry(to []byte, e projects.Entry) []byte {
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

// A decoder takes a payload apart. The first fault stays in err; what is read after it is zero.
type decoder struct {
	rest []byte
	err  error
}

var errTorn = errors.New("a list that ends in the middle of an item")

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.rest, d.err = nil, err
	}
}

// more says whether another item follows.
func (d *decoder) more() bool { return d.err == nil && len(d.rest) > 0 }

func (d *decoder) letter() byte {
	if len(d.rest) == 0 {
		d.fail(errTorn)
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

// number reads one that is at most limit.
func (d *decoder) number(limit uint64) uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail(errTorn)
		return 0
	}
	if v > limit {
		d.fail(fmt.Errorf("the number %d: at most %d is allowed", v, limit))
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) text() string {
	n := d.number(maxText)
	if n > uint64(len(d.rest)) {
		d.fail(errTorn)
		return ""
	}
	text := string(d.rest[:n])
	d.rest = d.rest[n:]
	return text
}

// instant reads a time, which has to have nanoseconds since 1970 in 64 bits: 1678 to 2261.
func (d *decoder) instant() time.Time {
	seconds, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail(errTorn)
		return time.Time{}
	}
	d.rest = d.rest[n:]
	if most := int64(math.MaxInt64/time.Second) - 1; seconds < -most || seconds > most {
		d.fail(fmt.Errorf("a time of %d seconds since 1970", seconds))
	}
	return time.Unix(seconds, int64(d.number(uint64(time.Second)-1)))
}

func (d *decoder) entry() (e projects.Entry) {
	letter := d.letter()
	for k, l := range kindLetters {
		if l == letter {
			e.Kind = k
		}
	}
	if e.Kind == "" {
		d.fail(fmt.Errorf("an entry of kind %q", letter))
	}
	e.Path = d.text()
	e.Mode = fs.FileMode(d.number(uint64(fs.ModePerm)))
	e.Size = int64(d.number(math.MaxInt64))
	e.ModTime = d.instant()
	e.Hash = hex.EncodeToString([]byte(d.text()))
	e.Link = d.text()
	return e
}
