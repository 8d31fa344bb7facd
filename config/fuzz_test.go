package config_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"mlframework/config"
	"mlframework/infra/host"
	"mlframework/sweep/fault"
)

// Whatever the text, there are options or there are faults, each in one printable line; options
// that do not change leave every byte as it is; and others are either saved as they are or refused.
func FuzzConfig(f *testing.F) {
	f.Add(example(f))
	for _, text := range faulty {
		f.Add(text)
	}
	for _, e := range edits {
		f.Add(e.before)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := config.OptionsOf(".", "/home/anna", []byte(text))
		if err != nil {
			checkFaults(t, err)
			return
		}
		after, err := config.Edit(".", "/home/anna", []byte(text), o)
		if err != nil || string(after) != text {
			t.Fatalf("nothing changes, and %q becomes %q, %v", text, after, err)
		}
		o.Hosts, o.Workers, o.Image, o.Name = []host.Address{{User: "anna", Name: "::1", Port: 1}},
			nil, "null", "n"
		after, err = config.Edit(".", "/home/anna", []byte(text), o)
		if err != nil {
			checkFaults(t, err)
			return
		}
		again, err := config.Edit(".", "/home/anna", after, o)
		if err != nil || string(again) != string(after) {
			t.Fatalf("%q becomes %q and then %q, %v", text, after, again, err)
		}
	})
}

func checkFaults(t *testing.T, err error) {
	t.Helper()
	faults, ok := errors.AsType[fault.List](err)
	if !ok || len(faults) == 0 {
		t.Fatalf("%T: %v", err, err)
	}
	for _, f := range faults {
		if strings.ContainsFunc(f.String(), unicode.IsControl) || f.Problem == "" || f.File == "" ||
			f.Column > 0 && f.Line < 1 {
			t.Fatalf("%+v", f)
		}
	}
}

// Nothing that stands in a config.sh ends the reader, or brings a control character to a terminal.
func FuzzShell(f *testing.F) {
	for _, s := range scripts {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, warnings := config.ReadShell(text)
		for name, words := range values {
			if len(words) == 0 {
				t.Fatalf("%s has no words", name)
			}
		}
		for _, w := range warnings {
			if strings.ContainsFunc(w, unicode.IsControl) {
				t.Fatalf("%q", w)
			}
		}
	})
}
