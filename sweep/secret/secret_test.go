package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/secret"
)

const value = "recognisable-value"

func TestNobodyWhoPrintsValuesSeesThem(t *testing.T) {
	t.Parallel()
	v := secret.Values{"KEY": value}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("look", "secrets", v, "in",
		struct{ V secret.Values }{v})
	for what, text := range map[string]string{
		"v": fmt.Sprintf("%v", v), "+v": fmt.Sprintf("%+v", v), "#v": fmt.Sprintf("%#v", v),
		"s": fmt.Sprintf("%s", v), "q": fmt.Sprintf("%q", v),
		"x": fmt.Sprintf("%x", v), "in": fmt.Sprintf("%+v", struct{ V secret.Values }{v}),
		"log": log.String(),
	} {
		if strings.Contains(text, value) || strings.Contains(text, fmt.Sprintf("%x", value)) ||
			!strings.Contains(text, "1 secrets") {
			t.Errorf("%s: %s", what, text)
		}
	}
	var back secret.Values
	if text, err := json.Marshal(v); err != nil || json.Unmarshal(text, &back) != nil ||
		back["KEY"] != value {
		t.Errorf("%s, %v", text, err)
	}
	if err := json.Unmarshal([]byte(`{"KEY": ["`+value+`"]}`), &back); err == nil ||
		strings.Contains(err.Error(), value) {
		t.Errorf("%v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	names := []string{"A", "B"}
	long := strings.Repeat("x", secret.MaxValueBytes)
	for want, v := range map[string]secret.Values{
		"":                           {"A": value, "B": long},
		"B has no value":             {"A": value},
		"A has no value":             {"A": "", "B": value},
		"holds a zero byte":          {"A": value + "\x00", "B": value},
		"longer than 64 KiB":         {"A": long + "x", "B": value},
		`"C", which is not a secret`: {"A": value, "B": value, "C": value},
	} {
		err := v.Check(names)
		if (err == nil) != (want == "") || err != nil &&
			(!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), value)) {
			t.Errorf("%s: %v", want, err)
		}
	}
	many := secret.Values{}
	var all []string
	for n := range 5 {
		all = append(all, fmt.Sprint("N", n))
		many[all[n]] = long
	}
	if err := many.Check(all); err == nil || !strings.Contains(err.Error(), "256 KiB together") {
		t.Error(err)
	}
}

func TestOnlyWhoAskedOpensAnAnswer(t *testing.T) {
	t.Parallel()
	key, other := secret.NewKey(), secret.NewKey()
	v := secret.Values{"KEY": value}
	sealed, err := secret.Seal(key.Public(), "train-1", v)
	if err != nil || bytes.Contains(sealed, []byte(value)) ||
		bytes.Contains(sealed, []byte("KEY")) {
		t.Fatalf("%q, %v", sealed, err)
	}
	if got, err := key.Open(sealed, "train-1"); err != nil ||
		!cmp.Equal(map[string]string(got), map[string]string(v)) {
		t.Errorf("%v, %v", map[string]string(got), err)
	}
	for what, open := range map[string]func() (secret.Values, error){
		"another key":    func() (secret.Values, error) { return other.Open(sealed, "train-1") },
		"another matter": func() (secret.Values, error) { return key.Open(sealed, "train-2") },
		"a changed byte": func() (secret.Values, error) {
			return key.Open(append(bytes.Clone(sealed[:len(sealed)-1]), sealed[len(sealed)-1]^1),
				"train-1")
		},
		"nothing at all": func() (secret.Values, error) { return key.Open(nil, "train-1") },
	} {
		if got, err := open(); err == nil || got != nil {
			t.Errorf("%s: %v", what, got)
		}
	}
	if _, err := secret.Seal([]byte("no key"), "", v); err == nil {
		t.Error("sealed to what is no key")
	}
}

func TestVault(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "secrets")
	open := func(needed ...string) *secret.Vault {
		t.Helper()
		v, err := secret.OpenVault(folder, func(s string) bool {
			return cmp.Equal([]string{s}, needed)
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := open()
	keep := func(sweep, text string) string {
		t.Helper()
		d, err := v.Stage(secret.Values{"KEY": text})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Discard()
		edition, err := d.Commit(sweep)
		if err != nil {
			t.Fatal(err)
		}
		return edition
	}
	first, second, third := keep("train-1", value), keep("train-1", "other"), keep("train-2", value)
	if got, err := v.Get("train-1"); err != nil || got.Edition != second || first == second ||
		second == third || got.Values["KEY"] != "other" {
		t.Errorf("%v, %v", got.Edition, err)
	}
	for path, want := range map[string]fs.FileMode{folder: fs.ModeDir | 0o700,
		filepath.Join(folder, "train-1"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	// of a process that is killed now
	if _, err := v.Stage(secret.Values{"KEY": value}); err != nil {
		t.Fatal(err)
	}
	v = open("train-2")
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 ||
		entries[0].Name() != "train-2" {
		t.Errorf("%v, %v", entries, err)
	}
	if err := errors.Join(v.Remove("train-2"), v.Remove("train-2")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"train-1", "train-2"} {
		if _, err := v.Get(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", ".new-1", "a\x00"} {
		d, err := v.Stage(secret.Values{"KEY": value})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Commit(name); err == nil {
			t.Errorf("%q is kept", name)
		}
		d.Discard()
		if v.Remove(name) == nil {
			t.Errorf("%q is removed", name)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "broken-1"), []byte("{"+value),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Get("broken-1"); !errors.Is(err, fs.ErrNotExist) ||
		strings.Contains(err.Error(), value) {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}
