package failure_test

import (
	"os"
	"strings"
	"testing"
)

// The frame of a failure is the innermost of the user's own files, of the traceback that the reason
// is of.
func TestFrame(t *testing.T) {
	t.Parallel()
	trace := func(exception string, frames ...string) string {
		text := "Traceback (most recent call last):\n"
		for _, f := range frames {
			text += "  File " + f + ", in f\n    f(x)\n    ^^^^\n"
		}
		return text + exception + "\n"
	}
	const (
		main    = `"/out/run-1/7/train.py", line 41`
		module  = `"/out/run-1/7/nets/conv.py", line 9`
		torch   = `"/usr/lib/python3/dist-packages/torch/nn/functional.py", line 12`
		venv    = `"/out/run-1/7/.venv/lib/python3.12/site-packages/numpy/core.py", line 3`
		stdlib  = `"/usr/lib/python3.12/json/decoder.py", line 338`
		builtin = `"<frozen importlib._bootstrap>", line 1266`
		shared  = `"/home/anna/common/data.py", line 5`
		old     = `"train.py", line 7`
		above   = `"../tools/run.py", line 2`
	)
	for _, c := range []struct{ name, printed, want string }{
		{"its own file", trace("KeyError: 'a'", main), "train.py:41"},
		{"below the folder", trace("KeyError: 'a'", main, module), "nets/conv.py:9"},
		{"above libraries", trace("RuntimeError: shapes", main, module, torch, torch),
			"nets/conv.py:9"},
		{"an environment in the folder", trace("ValueError: x", main, venv), "train.py:41"},
		{"the standard library", trace("JSONDecodeError: x", main, stdlib, builtin),
			"train.py:41"},
		{"code beside the folder, called by its own", trace("OSError: x", main, shared),
			"train.py:41"},
		{"code beside the folder alone", trace("OSError: x", stdlib, shared, torch), "data.py:5"},
		{"a relative path", trace("OSError: x", old, torch), "train.py:7"},
		{"a relative path above", trace("OSError: x", above), "run.py:2"},
		{"libraries alone", trace("OSError: x", stdlib, torch), ""},
		{"a chain", trace("KeyError: 'a'", main) +
			"\nDuring handling of the above exception, another exception occurred:\n\n" +
			trace("ValueError: b", module), "nets/conv.py:9"},
		{"a syntax error", "  File \"/out/run-1/7/train.py\", line 3\n    if x\n        ^\n" +
			"SyntaxError: expected ':'\n", "train.py:3"},
		{"a launcher's traceback below", trace("KeyError: 'a'", main) +
			trace("subprocess.CalledProcessError: Command 'x' returned non-zero exit status 1.",
				`"/out/run-1/7/launch.py", line 8`), "train.py:41"},
		{"what the program printed later", trace("KeyError: 'a'", main) + "\nERROR: giving up\n", ""},
		{"no traceback", "error: no data\n", ""},
		{"nothing", "", ""},
	} {
		if got := printed(c.printed, 1000).Frame("/out/run-1/7", "/elsewhere/"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Whatever a program prints, the frame is of a line that it printed.
func FuzzFrame(f *testing.F) {
	data, err := os.ReadFile("testdata/chained.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Fuzz(func(t *testing.T, text string) {
		frame := printed(text, len(text)+1).Frame("/p")
		if file, _, found := strings.Cut(frame, ":"); frame != "" && !found || strings.Contains(file,
			"\n") {
			t.Errorf("%q", frame)
		}
	})
}
