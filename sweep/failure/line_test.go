package failure_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"mlframework/sweep/failure"
)

// printed is the tail of a stream that printed a text, in pieces of so many bytes.
func printed(text string, piece int) *failure.Tail {
	var t failure.Tail
	for at := 0; at < len(text); at += piece {
		t.Add([]byte(text[at:min(at+piece, len(text))]))
	}
	return &t
}

// TestLine finds the line in what real programs print, file by file of testdata: the first line of
// each is what is wanted.
func TestLine(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, text, _ := strings.Cut(string(data), "\n")
			for _, end := range []string{"\n", "\r\n"} {
				text := strings.ReplaceAll(text, "\n", end)
				for _, piece := range []int{1, 7, len(text)} {
					if got := printed(text, piece).Line(); got != want {
						t.Errorf("in pieces of %d: %q, want %q", piece, got, want)
					}
				}
			}
		})
	}
}

func TestLineOf(t *testing.T) {
	t.Parallel()
	frame := "  File \"/p/net.py\", line %d, in forward\n    return f(x)\n           ~^^^\n"
	var deep strings.Builder
	deep.WriteString("Traceback (most recent call last):\n")
	for i := range 10000 {
		fmt.Fprintf(&deep, frame, i)
	}
	deep.WriteString("RecursionError: maximum recursion depth exceeded\n")
	for _, c := range []struct{ name, printed, want string }{
		{"nothing", "", ""},
		{"blank lines", "\n \n\t\n", ""},
		{"one line", "oh no\n", "oh no"},
		{"without a line end", "first\noh no", "oh no"},
		{"blank lines behind it", "oh no\n\n   \n" + strings.Repeat("\n", 1<<20), "oh no"},
		{"a key", "Traceback (most recent call last):\n  File \"/p/train.py\", line 42, in " +
			"<module>\n    net = nets[name]\n          ~~~~^^^^^^\nKeyError: 'LSTMM'\n",
			"KeyError: 'LSTMM'"},
		{"10,000 frames", deep.String(), "RecursionError: maximum recursion depth exceeded"},
		{"no message", "Traceback (most recent call last):\n  File \"/p/configurator.py\", line " +
			"42, in <module>\n    assert type(x) == type(y)\nAssertionError\n",
			"AssertionError (configurator.py:42: assert type(x) == type(y))"},
		{"no message, raised", "Traceback (most recent call last):\n  File \"/p/a.py\", line 9, " +
			"in <module>\n    f()\n    ~^^\n  File \"/p/train.py\", line 41, in f\n    raise " +
			"ValueError\nValueError\n", "ValueError (train.py:41: raise ValueError)"},
		{"an empty message", "Traceback (most recent call last):\n  File \"/p/train.py\", line " +
			"41, in f\n    raise ValueError(\"\")\nValueError: \n",
			"ValueError (train.py:41: raise ValueError(\"\"))"},
		{"no message, of several lines", "Traceback (most recent call last):\n  File " +
			"\"/p/train.py\", line 41, in f\n    assert (\n    ...<2 lines>...\n    " +
			")\nAssertionError\n", "AssertionError (train.py:41: assert ()"},
		{"no message and no source", "Traceback (most recent call last):\n  File \"/p/a.py\", " +
			"line 9, in <module>\n    f()\n  File \"<string>\", line 1, in " +
			"<module>\nAssertionError\n", "AssertionError (<string>:1)"},
		{"no message, deep", strings.Replace(deep.String(),
			"RecursionError: maximum recursion depth exceeded",
			"  [Previous line repeated 9 more times]\nRecursionError", 1),
			"RecursionError (net.py:9999: return f(x))"},
		{"no message, long source", "Traceback (most recent call last):\n  File \"/p/train.py\", " +
			"line 41, in f\n    assert " + strings.Repeat("ä", 200) + "\nAssertionError\n",
			"AssertionError (train.py:41: assert " + strings.Repeat("ä", 92) + "…)"},
		{"a message that begins with blank lines",
			"Traceback (most recent call last):\n  File \"/p/train.py\", line 41, in f\n    " +
				"raise E\nnet.ShapeError: \n\n\nthe shapes differ\nby 2\n",
			"net.ShapeError: the shapes differ"},
		{"a message of paragraphs", "Traceback (most recent call last):\n  File \"/p/train.py\", " +
			"line 41, in f\n    p.start()\nRuntimeError: \n        An attempt has been made to " +
			"start a new process before the\n        current process has finished its " +
			"bootstrapping phase.\n\n        This probably means that you are not using " +
			"fork:\n\n            if __name__ == '__main__':\n                freeze_support()\n",
			"RuntimeError: An attempt has been made to start a new process before the"},
		{"what the program says next", "Traceback (most recent call last):\n  File " +
			"\"/p/train.py\", line 41, in f\n    p.start()\nRuntimeError: no\nreally\n\ntraining " +
			"failed: no\n", "training failed: no"},
		{"a progress bar", "ValueError: no\n\r 10%|█         | 1/10 [00:01<00:09,  1.00s/it]\r " +
			"20%|██        | 2/10 [00:02<00:08,  1.00s/it]", "ValueError: no"},
		{"behind a progress bar", "\r 10%|█         | 1/10 [00:01<00:09,  1.00s/it]\nno data\n",
			"no data"},
		{"a bar drawn for long", "no data\n" +
			strings.Repeat("\r 10%|█         | 1/10 [00:01<00:09,  1.00s/it]", 10000), "no data"},
		{"colours", "\x1b[1;31mError\x1b[0m: \x1b]8;;http://x\x1b\\no \x1b]0;title\x07data\x1b[K\n",
			"Error: no data"},
		{"control characters", "a\x00b\tc\x7f\u202ed\u200b\n", "ab cd"},
		{"Latin-1", "Fehler: ung\xfcltig\x85\n", "Fehler: ungültig\uFFFD"},
		{"broken UTF-8", "na\xc3\xafve \xe2\x82\n", "naïve "},
		{"a line of 1 MB", "first\nValueError: " + strings.Repeat("ä", 1<<19) + "\n",
			"ValueError: " + strings.Repeat("ä", 506)},
		{"1 MB without a line end", "RuntimeError: " + strings.Repeat("x", 1<<20),
			"RuntimeError: " + strings.Repeat("x", 1010)},
		{"many lines behind it", "KeyError: 1\n" + strings.Repeat("Node.js v20\n", 100),
			"KeyError: 1"},
		{"only noise", "srun: error: gpu1: task 0: Exited with exit code 1\n", ""},
		{"usage", "usage: train.py [-h] [--lr LR]\ntrain.py: error: argument --lr: invalid float " +
			"value: 'x'\n", "train.py: error: argument --lr: invalid float value: 'x'"},
		{"a handled exception", "Traceback (most recent call last):\n  File \"a.py\", line 1, in " +
			"f\nKeyError: 1\n2026-01-02 INFO it goes on\nno more data\n", "no more data"},
		{"a shell", "bash: line 1:  4711 Segmentation fault      (core dumped) ./train --lr=1\n",
			"bash: line 1:  4711 Segmentation fault      (core dumped) ./train --lr=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, piece := range []int{4096, 32<<10 + 1} {
				got := printed(c.printed, piece).Line()
				if strings.TrimRight(got, " ") != strings.TrimRight(c.want, " ") ||
					!utf8.ValidString(got) {
					t.Errorf("in pieces of %d: %q, want %q", piece, got, c.want)
				}
			}
		})
	}
}

func TestErrorLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ printed, want string }{
		{"epoch 3 loss=0.5\n", ""},
		{"epoch 3 val_error=0.5\n", ""},
		{"{\"metrics\": {\"error\": 0.25}}\n", ""},
		{"validation error: 0.25\n", ""},
		{"error: no data\n", "error: no data"},
		{"epoch 3 loss=0.5\nERROR: cannot open data.csv\n", "ERROR: cannot open data.csv"},
		{"Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 1\n",
			"KeyError: 1"},
	} {
		if got := printed(c.printed, 100).ErrorLine(); got != c.want {
			t.Errorf("%q: %q, want %q", c.printed, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{strings.Repeat("ä", 200), strings.Repeat("ä", 200)},
		{strings.Repeat("ä", 201), strings.Repeat("ä", 199) + "…"},
		{strings.Repeat("x", 5000), strings.Repeat("x", 199) + "…"},
	} {
		if got := failure.Cut(c.text); got != c.want {
			t.Errorf("%d bytes: %q", len(c.text), got)
		}
	}
}

// Whatever is printed, and however it is cut, memory is bounded and the line is valid.
func FuzzTail(f *testing.F) {
	f.Add([]byte("a\rb\n\x1b[1mc\xff\n"), 2)
	f.Add([]byte("Traceback (most recent call last):\n  File \"x\", line 1\nE:\n"), 5)
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		piece = max(1, piece%(64<<10))
		whole, cut := printed(string(text), len(text)+1), printed(string(text), piece)
		line := cut.Line()
		if len(text) < 16<<10 && whole.Line() != line { // of more they may keep more or less
			t.Errorf("in one piece %q, in pieces of %d %q", whole.Line(), piece, line)
		}
		if got := failure.Cut(line); !utf8.ValidString(got) || utf8.RuneCountInString(got) > 200 ||
			strings.ContainsAny(got, "\n\r\x1b\x00") {
			t.Errorf("%q", got)
		}
	})
}

func TestTailAllocatesLittle(t *testing.T) {
	lines := []byte(strings.Repeat("epoch 3 step 400 loss 0.123456\n", 100))
	var tail failure.Tail
	for range 100 {
		tail.Add(lines)
	}
	if n := testing.AllocsPerRun(100, func() { tail.Add(lines) }); n > 0.1 {
		t.Errorf("%v allocations for 100 lines", n)
	}
	var none failure.Tail
	if n := testing.AllocsPerRun(100, func() { none.Add(nil); _ = none.Line() }); n > 0 {
		t.Errorf("%v allocations for nothing", n)
	}
}
