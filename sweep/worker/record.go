package worker

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"

	"mlframework/sweep/task"
)

// A record of the spool is one event on a line: the checksum of its JSON (CRC-32C, eight hexadecimal digits), a space, the
// JSON. JSON has no line ends, so that a reader finds the next record whatever became of the one before.

// digits is the length of the checksum and the space behind it.
const digits = 9

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRecord(b []byte, e *task.Event) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return b, err
	}
	b = append(b, checksum(text)...)
	return append(append(b, text...), '\n'), nil
}

// intact tells whether a line is a whole record.
func intact(line []byte) bool {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	return ended && len(text) > digits && bytes.HasPrefix(text, checksum(text[digits:]))
}

// parseRecord reads a line; false when it is no whole record, or one that this program does not understand.
func parseRecord(line []byte) (e task.Event, ok bool) {
	return e, intact(line) && json.Unmarshal(line[digits:], &e) == nil
}

func checksum(text []byte) []byte {
	var sum [4]byte
	n := crc32.Checksum(text, castagnoli)
	sum[0], sum[1], sum[2], sum[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return append(hex.AppendEncode(make([]byte, 0, digits), sum[:]), ' ')
}
