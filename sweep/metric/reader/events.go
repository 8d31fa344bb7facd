package reader

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strconv"
)

// maxRecordBytes is how long a record may be that is looked at: scalars are short, images are
// passed over.
const maxRecordBytes = 1 << 20

// Records of TFRecord: the length (8 bytes), its checksum (4), the data, and theirs.
const (
	headLength = 12
	tailLength = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the masked CRC32C of TFRecord.
func checksum(data []byte) uint32 {
	sum := crc32.Checksum(data, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// eventReader reads scalars of a TensorBoard event file.
type eventReader struct {
	common
	pending []byte
	skip    uint64 // bytes of a long record that are passed over
	at      int64  // offset of the record under way
	records int64
}

func (r *eventReader) IsDocument() bool   { return false }
func (r *eventReader) Close(bool)         {} // half a record has nothing to say
func (r *eventReader) Problems() []string { return r.missing("tag") }

func (r *eventReader) Write(p []byte) (int, error) {
	n := len(p)
	for !r.dead && len(p) > 0 {
		if r.skip > 0 {
			passed := min(r.skip, uint64(len(p)))
			r.skip -= passed
			r.at += int64(passed)
			p = p[passed:]
			continue
		}
		part := p[:min(len(p), 64<<10)]
		r.pending = append(r.pending, part...)
		p = p[len(part):]
		r.readRecords()
	}
	return n, nil
}

// readRecords reads the records that are complete.
func (r *eventReader) readRecords() {
	b := r.pending
	for len(b) >= headLength && !r.dead {
		length := binary.LittleEndian.Uint64(b)
		if checksum(b[:8]) != binary.LittleEndian.Uint32(b[8:]) {
			r.dead = true
			if r.records == 0 {
				r.problem("is not an event file of TensorBoard")
			} else {
				r.problem("is damaged at byte %d: what follows is not read", r.at)
			}
			break
		}
		complete := headLength + length + tailLength
		if length > maxRecordBytes {
			if complete < length { // more than can be counted
				r.dead = true
				break
			}
			have := min(uint64(len(b)), complete)
			b, r.skip = b[have:], complete-have
			r.at += int64(have)
			r.records++
			continue
		}
		if uint64(len(b)) < complete {
			break
		}
		data := b[headLength : headLength+length]
		if checksum(data) == binary.LittleEndian.Uint32(b[headLength+length:]) {
			r.event(data)
		} else {
			r.problem("the record at byte %d is damaged and left out", r.at)
		}
		r.records++
		b, r.at = b[complete:], r.at+int64(complete)
	}
	r.pending = append(r.pending[:0], b...)
}

// The fields of Event, Summary, Summary.Value and TensorProto that are read
// (tensorflow/core/util/event.proto and tensorflow/core/framework/summary.proto, tensor.proto).
const (
	eventStep     = 2
	eventSummary  = 5
	summaryValue  = 1
	valueTag      = 1
	valueSimple   = 2
	valueTensor   = 8
	tensorType    = 1
	tensorContent = 4
	tensorFloats  = 5
	tensorDoubles = 6
	typeFloat     = 1
	typeDouble    = 2
)

func (r *eventReader) event(data []byte) {
	var step int64
	var summaries [][]byte
	fields(data, func(n int, f field) {
		switch {
		case n == eventStep && f.wire == varint:
			step = int64(f.number)
		case n == eventSummary && f.wire == bytesField:
			summaries = append(summaries, f.data)
		}
	})
	given := false
	for _, s := range summaries {
		fields(s, func(n int, f field) {
			if n == summaryValue && f.wire == bytesField {
				given = r.value(f.data, step) || given
			}
		})
	}
	if given {
		r.steps(&step, "step "+strconv.FormatInt(step, 10))
	}
}

// value reads a scalar.
func (r *eventReader) value(data []byte, step int64) (given bool) {
	var tag string
	var value float64
	scalar := false
	fields(data, func(n int, f field) {
		switch {
		case n == valueTag && f.wire == bytesField:
			tag = string(f.data)
		case n == valueSimple && f.wire == fixed32:
			value, scalar = widened(uint32(f.number)), true
		case n == valueTensor && f.wire == bytesField:
			if v, ok := tensor(f.data); ok {
				value, scalar = v, true
			}
		}
	})
	if !scalar {
		return false
	}
	r.noteName(tag)
	for i, name := range r.names {
		if name == tag {
			s := step
			r.give(i, value, &s, "step "+strconv.FormatInt(step, 10))
			given = true
		}
	}
	return given
}

// widened returns a number of 32 bits as it is written shortest: 0.2, and not 0.20000000298.
func widened(bits uint32) float64 {
	single := float64(math.Float32frombits(bits))
	if value, err := strconv.ParseFloat(strconv.FormatFloat(single, 'g', -1, 32), 64); err == nil {
		return value
	}
	return single
}

// tensor reads a tensor of one floating point number.
func tensor(data []byte) (value float64, ok bool) {
	var kind uint64
	var content, floats, doubles []byte
	fields(data, func(n int, f field) {
		switch {
		case n == tensorType && f.wire == varint:
			kind = f.number
		case n == tensorContent && f.wire == bytesField:
			content = f.data
		case n == tensorFloats && f.wire == bytesField:
			floats = f.data
		case n == tensorFloats && f.wire == fixed32:
			floats = binary.LittleEndian.AppendUint32(nil, uint32(f.number))
		case n == tensorDoubles && f.wire == bytesField:
			doubles = f.data
		case n == tensorDoubles && f.wire == fixed64:
			doubles = binary.LittleEndian.AppendUint64(nil, f.number)
		}
	})
	switch {
	case kind == typeFloat && len(floats) == 0:
		floats = content
	case kind == typeDouble && len(doubles) == 0:
		doubles = content
	}
	switch {
	case kind == typeFloat && len(floats) == 4:
		return widened(binary.LittleEndian.Uint32(floats)), true
	case kind == typeDouble && len(doubles) == 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(doubles)), true
	}
	return 0, false
}

// Wire types of protocol buffers.
const (
	varint     = 0
	fixed64    = 1
	bytesField = 2
	fixed32    = 5
)

type field struct {
	wire   int
	number uint64
	data   []byte
}

// fields calls each with the fields of a message, up to the first that cannot be read.
func fields(b []byte, each func(int, field)) {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 || key>>3 > math.MaxInt32 {
			return
		}
		b = b[n:]
		f := field{wire: int(key & 7)}
		switch f.wire {
		case varint:
			if f.number, n = binary.Uvarint(b); n <= 0 {
				return
			}
		case fixed64:
			if n = 8; len(b) < n {
				return
			}
			f.number = binary.LittleEndian.Uint64(b)
		case fixed32:
			if n = 4; len(b) < n {
				return
			}
			f.number = uint64(binary.LittleEndian.Uint32(b))
		case bytesField:
			length, k := binary.Uvarint(b)
			if k <= 0 || length > uint64(len(b)-k) {
				return
			}
			f.data, n = b[k:k+int(length)], k+int(length)
		default:
			return
		}
		each(int(key>>3), f)
		b = b[n:]
	}
}
