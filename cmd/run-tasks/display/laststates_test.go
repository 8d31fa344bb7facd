package display_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/cmd/run-tasks/display"
)

// TestLastStates writes lines with carriage returns to a file, in two pieces.
func TestLastStates(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	for text, want := range map[string]string{
		"":                          "",
		"a\nb\n":                    "a\nb\n",
		"no end":                    "no end",
		"\r 0%\r 50%\r100%\ndone\n": "100%\ndone\n",
		"a\n 0%\r 50%\r":            "a\n 50%",
		"windows\r\nlines\r\n":      "windows\r\nlines\r\n",
		"\r\r\n1%\r\r2%\r\n":        "\r\n2%\r\n",
		"a\r\n\nb\rc\n":             "a\r\n\nc\n",
		long + "\n" + long:          long + "\n" + long,
		"\x1b[31mred\x1b[0m\nb\n":   "\x1b[31mred\x1b[0m\nb\n",
	} {
		for cut := 0; cut <= len(text); cut += 1 + cut/8 {
			if got := visible(t, text[:cut], text[cut:]); got != want {
				t.Errorf("%.80q cut at %d: %.80q, want %.80q", text, cut, got, want)
			}
		}
	}
}

// visible returns what pieces of output are in a file.
func visible(t *testing.T, pieces ...string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	w := display.Visibly(f)
	for _, piece := range pieces {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(f.Name())
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	return string(got)
}

// TestNestedBars writes bars below each other, as tqdm does. Where output is cut, at most one older
// state of the outer bar is left.
func TestNestedBars(t *testing.T) {
	t.Parallel()
	text, want := "begin\n", "begin\n"
	for outer := range 3 {
		text += fmt.Sprintf("\router %d", outer)
		for inner := range 20 {
			text += fmt.Sprintf("\n\rinner %d\x1b[A", inner)
		}
		text += "\rinner done\n" // a bar that ends stands above those that go on
		want += "inner done\n"
	}
	text, want = text+"\router done\nend\n", want+"outer done\nend\n"
	if got := visible(t, text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for cut := range text {
		got := visible(t, text[:cut], text[cut:])
		if strings.Count(got, "\n") > strings.Count(want, "\n")+1 || !strings.HasSuffix(got,
			"inner done\nouter done\nend\n") {
			t.Errorf("cut at %d: %q, want %q", cut, got, want)
		}
	}
	three := "\ra 0\n\rb 0\x1b[A\n\n\rc 0\x1b[A\x1b[A\n\n\rc 1\x1b[A\x1b[A\ra 1\n\n\n"
	if got, want := visible(t, three), "a 1\nb 0\nc 1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
