package worker_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/worker"
)

const stars = "********"

func TestMask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, secrets, text, want string
	}{
		{"nothing to hide", "password1", "plain text", "plain text"},
		{"one", "password1", "a password1 b", "a " + stars + " b"},
		{"at both ends", "password1", "password1 password1", stars + " " + stars},
		{"touching", "password1", "password1password1", stars},
		{"the beginning of one at the end", "password1", "a password", "a password"},
		{"one within another", "password1 password1-long", "password1-long password1-lo",
			stars + " " + stars + "-lo"},
		{"one within another, the other order", "password1-long password1",
			"password1-long password1-lo", stars + " " + stars + "-lo"},
		{"overlapping", "12345678ab 78abXXXX", "<12345678abXXXX>", "<" + stars + ">"},
		{"overlapping itself", "abababab", "xabababababy", "x" + stars + "y"},
		{"across lines", "line-one\nline-two", "a line-one\nline-two b", "a " + stars + " b"},
		{"not text", "\xff\x00\xfe12345", "\xff\xff\x00\xfe12345\x00", "\xff" + stars + "\x00"},
		{"a colour in it", "password1", "a pass\x1b[31mword1 b", "a " + stars + " b"},
		{"a colour of its own", "password1", "a \x1b[01;31m\x1b[Kpassword1\x1b[m\x1b[K b",
			"a \x1b[01;31m\x1b[K" + stars + "\x1b[m\x1b[K b"},
		{"a colour for each letter", "password1",
			"\x1b[1mp\x1b[2ma\x1b[3ms\x1b[4ms\x1b[5mw\x1b[6mo\x1b[7m\x1b[8mr\x1b[9md" +
				"\x1b[0m1\x1b[0m",
			"\x1b[1m" + stars + "\x1b[0m"},
		{"a colour in the beginning of one", "password1", "pass\x1b[31mwordy", "pass\x1b[31mwordy"},
		{"an unfinished colour", "password1", "pass\x1b[31", "pass\x1b[31"},
		{"an escape that is no colour", "password1", "pass\x1bword1", "pass\x1bword1"},
		{"overlapping, in colour", "12345678ab 78abXXXX", "<1234\x1b[1m5678a\x1b[0mbXXXX>",
			"<" + stars + ">"},
		{"a colour that a value has", "pass\x1b[1mword", "pass\x1b[1mword", stars},
		{"stars", stars + "*", "x*********y", "x" + stars + "y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			secrets := strings.Split(c.secrets, " ")
			for cut := range len(c.text) + 1 {
				got, _ := worker.Mask(secrets, []byte(c.text[:cut]), []byte(c.text[cut:]))
				if string(got) != c.want {
					t.Errorf("cut at %d: %q; want %q", cut, got, c.want)
				}
			}
			var single [][]byte
			for i := range len(c.text) {
				single = append(single, []byte(c.text[i:i+1]))
			}
			if got, _ := worker.Mask(secrets, single...); string(got) != c.want {
				t.Errorf("byte by byte: %q; want %q", got, c.want)
			}
		})
	}
}

// TestMaskedForms masks secrets that programs print in a different form.
func TestMaskedForms(t *testing.T) {
	t.Parallel()
	const pem = "-----BEGIN KEY-----\nMIIEvQIBADANBg==\n  kqhkiG9w0BAQEF \n-----END KEY-----\n"
	for _, c := range []struct{ secret, text, want string }{
		{"supersecretvalue\n", "value: supersecretvalue end", "value: " + stars + " end"},
		{pem, "line 2 is MIIEvQIBADANBg==, line 3 kqhkiG9w0BAQEF.",
			"line 2 is " + stars + ", line 3 " + stars + "."},
		{pem, "['-----BEGIN KEY-----\\nMIIEvQIBADANBg==\\n  kqhkiG9w0BAQEF \\n-----END KEY-----\\n']",
			"['" + stars + "']"},
		{`pass"word\1`, `{"token": "pass\"word\\1"}`, `{"token": "` + stars + `"}`},
		{`pass"word\1`, `['pass"word\\1']`, `['` + stars + `']`},
		{"a&b<c>d1", `{"token": "a\u0026b\u003cc\u003ed1"}`, `{"token": "` + stars + `"}`},
		{"pässwörter", `{"token": "p\u00e4ssw\u00f6rter"}`, `{"token": "` + stars + `"}`},
		{"pässwörter", "pässwörter", stars},
	} {
		if got := worker.MaskText(c.secret, c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.secret, got, c.want)
		}
	}
}

// masked returns the plain statement of what a mask does: every byte of every value is hidden.
func masked(secrets []string, text string) string {
	covered := make([]bool, len(text)+1)
	for _, s := range secrets {
		for at := range len(text) {
			if strings.HasPrefix(text[at:], s) {
				for i := range len(s) {
					covered[at+i] = true
				}
			}
		}
	}
	var out strings.Builder
	for i := range len(text) {
		if !covered[i] {
			out.WriteByte(text[i])
		} else if !covered[i+1] {
			out.WriteString(stars)
		}
	}
	return out.String()
}

func checkMask(t *testing.T, secrets []string, text string, cuts []byte) {
	t.Helper()
	var pieces [][]byte
	longest := 0
	rest := []byte(text)
	for _, c := range cuts {
		n := min(int(c), len(rest))
		pieces, rest = append(pieces, rest[:n]), rest[n:]
	}
	for _, s := range secrets {
		longest = max(longest, len(s))
	}
	got, held := worker.Mask(secrets, append(pieces, rest)...)
	if want := masked(secrets, text); string(got) != want {
		t.Errorf("secrets %q, text %q, cuts %v:\n got %q\nwant %q", secrets, text, cuts, got, want)
	}
	if held >= longest && held > 0 {
		t.Errorf("%d bytes held back for values of up to %d", held, longest)
	}
}

// TestMaskHoldsBackLittle prints the first letter of a value and codes without end.
func TestMaskHoldsBackLittle(t *testing.T) {
	t.Parallel()
	text := "p" + strings.Repeat("\x1b[0m", 1000)
	var pieces [][]byte
	for i := range len(text) {
		pieces = append(pieces, []byte(text[i:i+1]))
	}
	got, held := worker.Mask([]string{"password1"}, pieces...)
	if string(got) != text {
		t.Errorf("%q; want %q", got, text)
	}
	if held > 32*len("password1") {
		t.Errorf("%d bytes held back", held)
	}
}

func TestMaskHidesWhateverTheCuts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string { // of few letters, so that values overlap
		b := make([]byte, n)
		for i := range b {
			b[i] = "aab"[random.IntN(3)]
		}
		return string(b)
	}
	for range 20000 {
		var secrets []string
		for range 1 + random.IntN(3) {
			secrets = append(secrets, word(2+random.IntN(6)))
		}
		cuts := make([]byte, random.IntN(12))
		for i := range cuts {
			cuts[i] = byte(random.IntN(6))
		}
		checkMask(t, secrets, word(random.IntN(40)), cuts)
		if t.Failed() {
			return
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("password1", "password1-long", "a password1-long b", []byte{3, 4})
	f.Fuzz(func(t *testing.T, a, b, text string, cuts []byte) {
		if a == "" || b == "" || len(text) > 1<<12 || strings.Contains(text, "\x1b[") {
			t.Skip()
		}
		checkMask(t, []string{a, b}, text, cuts)
	})
}

func BenchmarkMask(b *testing.B) {
	piece := bytes.Repeat([]byte("epoch 3 loss 0.125 accuracy 0.75\n"), 2000)
	b.SetBytes(int64(len(piece)))
	for b.Loop() {
		worker.Mask([]string{"s3cr3t-value", strings.Repeat("k", 4096)}, piece)
	}
}

// BenchmarkMaskOfColours has a colour in each line.
func BenchmarkMaskOfColours(b *testing.B) {
	piece := bytes.Repeat([]byte("epoch 3 loss \x1b[32m0.125\x1b[0m accuracy 0.75\n"), 2000)
	b.SetBytes(int64(len(piece)))
	for b.Loop() {
		worker.Mask([]string{"s3cr3t-value", strings.Repeat("k", 4096)}, piece)
	}
}

// repeated returns a long value that is one byte again and again, and output that is all but that:
// a search that begins anew at each byte compares most of the value each time.
func repeated() (value string, almost []byte) {
	const long = 64 << 10
	return strings.Repeat("a", long), []byte(strings.Repeat("a", long-1) + "b")
}

// BenchmarkMaskOfRepeatedBytes shows whether the time grows with the output alone.
func BenchmarkMaskOfRepeatedBytes(b *testing.B) {
	value, almost := repeated()
	b.SetBytes(int64(len(almost)))
	for b.Loop() {
		worker.Mask([]string{value}, almost)
	}
}

func TestAMaskOfRepeatedBytes(t *testing.T) {
	t.Parallel()
	const pieces = 4
	value, almost := repeated()
	for name, c := range map[string]struct {
		piece []byte
		want  int
	}{
		"the value again and again": {[]byte(value), len(stars)},
		"all but its last byte":     {almost, pieces * len(almost)},
	} {
		if shown, _ := worker.Mask([]string{value},
			slices.Repeat([][]byte{c.piece}, pieces)...); len(shown) != c.want {
			t.Errorf("%s: %d bytes are shown, want %d", name, len(shown), c.want)
		}
	}
}
