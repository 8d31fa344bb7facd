package reader_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric/reader"
)

// read gives a file to a reader in pieces of a size, and returns what it found: "name=value@step".
func read(kind reader.Kind, names []string, text string, size int) (found []string,
	r reader.Reader) {
	r = reader.New(kind, names, nil, func(name int, value float64, step *int64) {
		at := ""
		if step != nil {
			at = fmt.Sprintf("@%d", *step)
		}
		found = append(found, fmt.Sprintf("%s=%v%s", names[name], value, at))
	})
	for len(text) > 0 {
		n := min(size, len(text))
		_, _ = r.Write([]byte(text[:n]))
		text = text[n:]
	}
	r.Close(true)
	return found, r
}

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReaders(t *testing.T) {
	t.Parallel()
	scalars := file(t, "events.out.tfevents.scalars")
	damaged := []byte(scalars)
	damaged[len(damaged)-6] ^= 1
	for name, c := range map[string]struct {
		kind     reader.Kind
		names    []string
		text     string
		found    []string
		problems []string
	}{
		"csv": {reader.CSV, []string{"val/acc", "loss"},
			"epoch,step,loss,val/acc\n0,9,0.5,\n0,9,,0.8\r\n1,19,0.25,0.9",
			[]string{"loss=0.5@9", "val/acc=0.8@9", "val/acc=0.9@19", "loss=0.25@19"}, nil},
		"csv of tabs and quotes": {reader.CSV, []string{"a,b"},
			"\uFEFF\"a,b\"\tnote\n1e-3\t\"two\nlines\"\n\"2\"\tx\n", []string{"a,b=0.001", "a,b=2"},
			nil},
		"half a csv line": {reader.CSV, []string{"acc"},
			"step,acc,loss\n1,0.5,0.1\n2,0.", []string{"acc=0.5@1"}, nil},
		"csv with quotes within fields": {reader.CSV, []string{"acc"},
			"step,acc,note\n1,0.1,a\n2,0.2,12\" wheel\n3,0.3, \"b, \"\"c\n\"\"\"\n" +
				"4,0.4,\"d\"\"\"\n8,0.8,x\n",
			[]string{"acc=0.1@1", "acc=0.2@2", "acc=0.3@3", "acc=0.4@4", "acc=0.8@8"}, nil},
		"csv with a quote that never ends": {reader.CSV, []string{"acc"},
			"step,acc,note\n1,0.1,a\n2,0.2,\"b\n3,0.3,c\n", []string{"acc=0.1@1"},
			[]string{"a quote in line 3 never ends: what follows is left out"}},
		"csv without the column": {reader.CSV, []string{"acc"}, "step,val/acc\n1,2\n", nil,
			[]string{`has no column "acc"; it has step, val/acc`}},
		"csv of no numbers": {reader.CSV, []string{"acc"}, "step,acc\n5,nan\n4,inf\n3,x\n",
			[]string{"acc=NaN@5", "acc=+Inf@4"},
			[]string{`"acc" of line 2 is not a number (nan)`,
				"steps go back at line 3, from 5 to 4; all values count",
				`"x" in column "acc" of line 4 is not a number`}},
		"binary csv": {reader.CSV, []string{"acc"}, "acc\n1\n\x00\x01", []string{"acc=1"},
			[]string{"is a binary file, not CSV"}},
		"empty csv": {reader.CSV, []string{"acc"}, "", nil, []string{"has no header yet"}},
		"long line": {reader.CSV, []string{"acc"}, "acc\n" + strings.Repeat("1", 2<<20) + "\n5\n",
			[]string{"acc=5"},
			[]string{"line 2 is longer than 1048576 bytes and is left out"}},
		"json": {reader.JSON, []string{"test.acc", "curve", "a.b"},
			"{\n \"test\": {\"acc\": 0.5}, \"curve\": [1, NaN, 2],\n \"a.b\": 7, \"step\": 3}",
			[]string{"test.acc=0.5@3", "curve=1", "curve=NaN", "curve=2", "a.b=7@3"},
			[]string{`"curve" of element 2 of the document is not a number (nan)`}},
		"json on one line": {reader.JSON, []string{"acc"}, `{"acc": 0.5}`, []string{"acc=0.5"},
			nil},
		"half json": {reader.JSON, []string{"acc"}, "{\n\"acc\": 0.5", nil,
			[]string{"holds no complete JSON document"}},
		"json without the key": {reader.JSON, []string{"acc"}, `{"test": {"acc": 1, "name": "x"}}`,
			nil, []string{`has no key "acc"; it has test.acc`}},
		"json of text": {reader.JSON, []string{"acc"}, `{"acc": "high"}`, nil,
			[]string{`"high" at key "acc" of the last line is not a number`}},
		"json lines": {reader.JSON, []string{"eval.loss"},
			"{\"step\": 1, \"eval\": {\"loss\": 3}}\n{\"epoch\": 1}\nnoise\n" +
				"{\"step\": 2, \"eval\": {\"loss\": 2}}\n{\"step\": 3, \"ev",
			[]string{"eval.loss=3@1", "eval.loss=2@2"}, []string{`line 3 is not JSON: "noise"`}},
		"json lines after others": {reader.JSON, []string{"acc"},
			"starting\n{\"acc\": 1}\n\n{\"acc\": 2}\n", []string{"acc=1", "acc=2"},
			[]string{`line 1 is not JSON: "starting"`}},
		"json lines of which the first is cut": {reader.JSON, []string{"acc"},
			"{\"acc\": {\"acc\": 1}\n{\"acc\": 2}\n{\"acc\": 3}", []string{"acc=2", "acc=3"},
			[]string{`line 1 is not JSON: "{"acc": {"acc": 1}"`}},
		"json with a byte order mark": {reader.JSON, []string{"acc"},
			"\uFEFF{\"acc\": 1}", []string{"acc=1"}, nil},
		"json of several lines with a byte order mark": {reader.JSON, []string{"acc"},
			"\uFEFF{\n\"acc\": 1\n}\n", []string{"acc=1"}, nil},
		"json lines with a byte order mark": {reader.JSON, []string{"acc"},
			"\uFEFF{\"acc\": 1}\n{\"acc\": 2}\n", []string{"acc=1", "acc=2"}, nil},
		"events": {reader.Events, []string{"acc", "loss"}, scalars,
			[]string{"loss=1@0", "acc=0@0", "loss=0.5@1", "acc=0.2@1", "loss=0.33333334@2",
				"acc=0.4@2", "loss=0.25@3", "acc=0.6@3", "loss=0.2@4", "acc=0.8@4"}, nil},
		"events of text": {reader.Events, []string{"acc"}, "acc=0.5, and more text\n", nil,
			[]string{"is not an event file of TensorBoard"}},
		"no such tag": {reader.Events, []string{"val"}, scalars, nil,
			[]string{`has no tag "val"; it has loss, acc`}},
		"half a record": {reader.Events, []string{"acc"}, scalars[:len(scalars)-3],
			[]string{"acc=0@0", "acc=0.2@1", "acc=0.4@2", "acc=0.6@3"}, nil},
		"damaged record": {reader.Events, []string{"acc"}, string(damaged),
			[]string{"acc=0@0", "acc=0.2@1", "acc=0.4@2", "acc=0.6@3"},
			[]string{fmt.Sprintf("the record at byte %d is damaged and left out",
				len(scalars)-41)}},
		"tensors": {reader.Events, []string{"t", "d"},
			record(event(7, tensorValue("t", 1, 5, 4, 0.5))) + record(make([]byte,
				3<<20)) + record(event(8, tensorValue("d", 2, 4, 8, 0.25))),
			[]string{"t=0.5@7", "d=0.25@8"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 7, len(c.text) + 1} {
				if size == 1 && len(c.text) > 1<<20 {
					size = 4099
				}
				found, r := read(c.kind, c.names, c.text, size)
				if d := cmp.Diff(c.found, found); d != "" {
					t.Fatalf("in pieces of %d: -want +got:\n%s", size, d)
				}
				if d := cmp.Diff(c.problems, r.Problems()); d != "" {
					t.Fatalf("in pieces of %d: problems: -want +got:\n%s", size, d)
				}
			}
		})
	}
}

// What a program that was killed left without an end may be a part of a number.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"step,acc\n1,0.5\n2,1.2345": {"[0.5]", "[0.5 1.2345]"},
		"acc":                       {"[]", "[]"},
		"acc\n0.5\n":                {"[0.5]", "[0.5]"},
	} {
		for i, exited := range []bool{false, true} {
			found := []float64{}
			r := reader.New(reader.CSV, []string{"acc"}, nil, func(_ int, value float64,
				_ *int64) {
				found = append(found, value)
			})
			_, _ = r.Write([]byte(text))
			r.Close(exited)
			if got := fmt.Sprint(found); got != want[i] {
				t.Errorf("%q, exited %v: %s, want %s", text, exited, got, want[i])
			}
		}
	}
}

// What is quoted is hidden before it is cut.
func TestQuotesAreHidden(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("s3cret ", 20) + "end"
	hide := func(text string) string { return strings.ReplaceAll(text, secret, "***") }
	for kind, texts := range map[reader.Kind][]string{
		reader.CSV: {"acc\n" + secret + "\n", secret + ",x\n1,2\n"},
		reader.JSON: {`{"acc": "` + secret + `"}`, "{\"acc\": 1}\n" + secret + "\n",
			`{"` + secret + `": 1}`, `{"acc": {"k": "` + secret + `"}}`},
	} {
		for _, text := range texts {
			r := reader.New(kind, []string{"acc"}, hide, func(int, float64, *int64) {})
			_, _ = r.Write([]byte(text))
			r.Close(true)
			if problems := fmt.Sprint(r.Problems()); problems == "[]" ||
				strings.Contains(problems, "s3cret") {
				t.Errorf("%q: %s", text, problems)
			}
		}
	}
}

// record frames data with the checksums of the recorded files' writer, computed here by the
// definition.
func record(data []byte) string {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	out := binary.LittleEndian.AppendUint32(length, masked(length))
	return string(binary.LittleEndian.AppendUint32(append(out, data...), masked(data)))
}

func masked(data []byte) uint32 {
	sum := ^uint32(0)
	for _, b := range data {
		sum ^= uint32(b)
		for range 8 {
			sum = sum>>1 ^ 0x82f63b78&-(sum&1)
		}
	}
	sum = ^sum
	return (sum>>15 | sum<<17) + 0xa282ead8
}

func message(field int, data []byte) []byte {
	return append(binary.AppendUvarint([]byte{byte(field<<3 | 2)}, uint64(len(data))), data...)
}

func event(step uint64, value []byte) []byte {
	return append(binary.AppendUvarint([]byte{2 << 3}, step), message(5, message(1, value))...)
}

// tensorValue returns a tensor of one number, in a field of it.
func tensorValue(tag string, kind byte, field, size int, value float64) []byte {
	number := binary.LittleEndian.AppendUint64(nil, math.Float64bits(value))
	if size == 4 {
		number = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(value)))
	}
	return append(message(1, []byte(tag)),
		message(8, append([]byte{1 << 3, kind}, message(field, number)...))...)
}

// Whatever a file holds, cut anywhere, a reader finds the same and keeps little of it.
func FuzzReaders(f *testing.F) {
	for _, name := range []string{"events.out.tfevents.scalars", "events.out.tfevents.hparams"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), uint8(2))
	}
	f.Add("a,step\n1,2\n\"3\n4\",5\n", uint8(0))
	f.Add("{\"a\": [1, 2, {\"b\": null}]}\n{\"a\": NaN}", uint8(1))
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		kind := []reader.Kind{reader.CSV, reader.JSON, reader.Events}[which%3]
		want, complete := read(kind, []string{"a", "acc"}, text, len(text)+1)
		got, pieces := read(kind, []string{"a", "acc"}, text, 1+rand.IntN(9))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("in pieces: -whole +pieces:\n%s", d)
		}
		if d := cmp.Diff(complete.Problems(), pieces.Problems()); d != "" {
			t.Errorf("problems in pieces: -whole +pieces:\n%s", d)
		}
		for _, p := range pieces.Problems() {
			if len(p) > 4000 {
				t.Errorf("a problem of %d bytes", len(p))
			}
		}
	})
}
