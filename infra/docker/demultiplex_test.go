package docker_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"mlframework/infra/docker"
)

func piece(stream byte, text string) string {
	header := binary.BigEndian.AppendUint32([]byte{stream, 0, 0, 0}, uint32(len(text)))
	return string(header) + text
}

func TestFrames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 10_000)
	for title, c := range map[string]struct{ in, out, aside, err string }{
		"nothing": {"", "", "", ""},
		"two streams": {piece(1, "a") + piece(2, "B") + piece(1, "c") + piece(2, "D"), "ac", "BD",
			""},
		"empty":       {piece(1, "") + piece(0, "x") + piece(2, "") + piece(1, "y"), "xy", "", ""},
		"long":        {piece(2, long) + piece(1, long), long, long, ""},
		"cut in text": {piece(1, "abc")[:10], "ab", "", "unexpected EOF"},
		"cut aside":   {piece(2, "abc")[:10], "", "ab", "unexpected EOF"},
		"cut header":  {piece(1, "abc")[:5], "", "", "unexpected EOF"},
		"cut at once": {piece(1, "abc")[:8], "", "", "unexpected EOF"},
		"fault":       {piece(1, "a") + piece(3, "the log is gone"), "a", "", "the log is gone"},
		"terminal":    {"$ ls -l /tmp", "", "", "terminal"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			for name, src := range map[string]io.Reader{"whole": strings.NewReader(c.in),
				"bytes": iotest.OneByteReader(strings.NewReader(c.in))} {
				var out, aside bytes.Buffer
				err := docker.Demultiplex(&out, &aside, src)
				if out.String() != c.out || aside.String() != c.aside ||
					(err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(),
					c.err) {
					t.Errorf("%s: %d bytes, %d aside, %v", name, out.Len(), aside.Len(), err)
				}
			}
		})
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte(piece(1, "a") + piece(2, "b")))
	f.Add([]byte(piece(3, "fault")))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out, aside bytes.Buffer
		_ = docker.Demultiplex(&out, &aside, bytes.NewReader(in))
		if out.Len()+aside.Len() > len(in) {
			t.Errorf("%d bytes became %d and %d", len(in), out.Len(), aside.Len())
		}
	})
}

// An engine closes its end with input unread when a program ends without reading it.
func TestOutputBeforeReset(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	engine, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_, sent := conn.Write([]byte("not read"))
	_, answered := io.WriteString(engine, piece(1, "said"))
	if err := errors.Join(sent, answered, engine.Close()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := docker.Demultiplex(&out, io.Discard, docker.UntilReset(conn)); err != nil ||
		out.String() != "said" {
		t.Errorf("%q, %v", &out, err)
	}
}
