package cli_test

import (
	"strings"
	"testing"
	"unicode"

	"mlframework/cmd/internal/cli"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, one, lines, output string }{
		"plain":      {"a b", "a b", "a b", "a b"},
		"Unicode":    {"é 漢 🙂", "é 漢 🙂", "é 漢 🙂", "é 漢 🙂"},
		"a tab":      {"a\tb", "a\tb", "a\tb", "a\tb"},
		"a line end": {"a\nb", `a\nb`, "a\nb", "a\nb"},
		"a return":   {"a\rb", `a\rb`, `a\rb`, "a\rb"},
		"colours": {"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`,
			`\x1b[31mred\x1b[0m`},
		"a bell":           {"\a", `\a`, `\a`, `\a`},
		"no UTF-8":         {"\xff\xc3", `\xff\xc3`, `\xff\xc3`, `\xff\xc3`},
		"an 8-bit control": {"\u009b31m", `\u009b31m`, `\u009b31m`, `\u009b31m`},
		"right to left":    {"\u202e", `\u202e`, `\u202e`, `\u202e`},
		"nothing":          {"", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := [3]string{cli.Visible(c.text), cli.VisibleLines(c.text),
				cli.VisibleOutput(c.text)}
			if want := [3]string{c.one, c.lines, c.output}; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"", "a\tb\nc\rd", "\x1b]0;title\a", "\xff\xfe",
		"\u009b\u202e\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []struct{ shown, kept string }{
			{cli.Visible(text), "\t"}, {cli.VisibleLines(text), "\t\n"}, {cli.VisibleOutput(text),
				"\t\n\r"},
		} {
			for _, r := range c.shown {
				if !unicode.IsPrint(r) && !strings.ContainsRune(c.kept, r) {
					t.Errorf("%q is shown as %q, which holds %q", text, c.shown, r)
				}
			}
		}
	})
}
