package space_test

import (
	"encoding/json"
	"strings"
	"testing"

	"mlframework/sweep/space"
)

// TestValuesKeepTheirSpelling has switches in every spelling of YAML 1.2, in every style.
func TestValuesKeepTheirSpelling(t *testing.T) {
	t.Parallel()
	s := read(t, "bias: [True, FALSE]\nlr: 1e-3\nsize: 0.10\n")
	for style, want := range map[space.Style]string{
		{}: "--bias --lr=1e-3 --size=0.10 | --lr=1e-3 --size=0.10",
		{Switch: space.SwitchValue}: "--bias=True --lr=1e-3 --size=0.10 | --bias=FALSE " +
			"--lr=1e-3 --size=0.10",
		{Form: space.Hydra}: "bias=True lr=1e-3 size=0.10 | bias=FALSE lr=1e-3 " +
			"size=0.10",
		{Form: space.Hydra,
			Space: true}: "bias=True lr=1e-3 size=0.10 | bias=FALSE lr=1e-3 size=0.10",
		{Form: space.None}: " | ",
	} {
		if got := argvs(s, style); got != want {
			t.Errorf("%+v: %s, want %s", style, got, want)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back space.Space
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if got := argvs(&back, space.Style{Switch: space.SwitchValue}); got != argvs(s,
		space.Style{Switch: space.SwitchValue}) {
		t.Errorf("kept as %s, read as %s", text, got)
	}
}

// TestFlagsWithout leaves parameters out that a program gets otherwise, also where flags are made
// one by one.
func TestFlagsWithout(t *testing.T) {
	t.Parallel()
	s := read(t, "a: [1, 2]\nb: !interval [0, 5000]\nc: [True, False]\n")
	flags := s.Flags(space.Style{}, "b", "x")
	if got := strings.Join(flags.Append(nil, s.Len()-1), " "); got != "--a=2" {
		t.Errorf("got %s", got)
	}
	for i, want := range []string{"p --a=1 --c", "p --a=1"} {
		argv := flags.Append([]string{"p"}, 9998+int64(i))
		if got := strings.Join(argv, " "); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}

// TestQuotedNumbersAreText tells text that looks like a number from a number, also after it was
// kept.
func TestQuotedNumbersAreText(t *testing.T) {
	t.Parallel()
	s := read(t, "a: ['10', 10, x, '007', 2020-01-01, !!str 1e3]\n")
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back space.Space
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	for _, of := range []*space.Space{s, &back} {
		var got []string
		for i := range of.Len() {
			if a := of.Point(i)[0]; a.Kind == space.Text {
				got = append(got, a.Value)
			}
		}
		if strings.Join(got, " ") != "10 1e3" {
			t.Errorf("text that looks like a number: %q", got)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1": "1", "-1": "-1", "+1": "1", "0": "0", "0.10": "0.10", ".5": "0.5", "-.5": "-0.5",
		"5.": "5.0", "1e-3": "1e-3", "1.E5": "1.0E5",
		"007": "", "0x10": "", "1_000": "", ".inf": "", "nan": "", "": "", "-": "", ".": "",
		"e5": "", "1e": "", "--1": "", "1 ": "", "12:30": "",
	} {
		got, ok := space.Number(text)
		if got != want || ok != (want != "") || ok && !json.Valid([]byte(got)) {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}
