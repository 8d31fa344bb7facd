package task_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"mlframework/sweep/task"
)

// work is what a key is made of.
type work struct {
	argv        []string
	image, code string
	env         map[string]string
	workdir     string
	links       map[string]string
}

func (w work) key() task.Key {
	return task.KeyOf(w.argv, w.image, task.Recipe{Env: w.env, Workdir: w.workdir, Links: w.links},
		w.code, nil)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	seen := map[task.Key]work{}
	for _, w := range []work{
		{}, {argv: []string{""}}, {argv: []string{"", ""}}, {argv: []string{"ab"}},
		{argv: []string{"a", "b"}}, {argv: []string{"b", "a"}},
		{argv: []string{"a"}, image: "b"}, {argv: []string{"a"}, code: "b"},
		{image: "a", code: "b"}, {image: "ab"}, {code: "ab"},
		{env: map[string]string{"a": "b"}}, {env: map[string]string{"ab": ""}},
		{env: map[string]string{"": "ab"}},
		{env: map[string]string{"a": "", "b": ""}}, {image: "a", env: map[string]string{"b": "c"}},
		{image: "a", code: "b", env: map[string]string{"c": "d"}},
		{workdir: "a"}, {links: map[string]string{"a": "b"}},
		{workdir: "a", links: map[string]string{"b": "c"}}, {env: map[string]string{"a": ""}},
	} {
		if other, have := seen[w.key()]; have {
			t.Errorf("%+v and %+v have one key", w, other)
		}
		seen[w.key()] = w
	}
	if got := fmt.Sprintf("%x", work{argv: []string{"a", "--lr=1"}, image: "img", code: "c",
		env: map[string]string{"B": "2",
			"A": "1"}}.key()); got != "67f04497c091c37995af1c7dfa6d8e16" {
		t.Errorf("keys of stores before are not these: %s", got)
	}
	if (work{}).key() != (work{argv: []string{}, env: map[string]string{}}).key() {
		t.Error("nothing and none differ")
	}
}

// TestKeyBoundaries cuts one text in many ways into the parts of a key: no two ways have one key.
func TestKeyBoundaries(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	seen := map[task.Key]string{}
	for range 20_000 {
		w, rest := work{}, []byte("\x00\x01aab\x02\x01a\x00")
		cut := func() string {
			n := random.IntN(len(rest) + 1)
			part := string(rest[:n])
			rest = rest[n:]
			return part
		}
		for range random.IntN(4) {
			w.argv = append(w.argv, cut())
		}
		w.image, w.code = cut(), cut()
		w.env = map[string]string{}
		if random.IntN(2) == 0 {
			w.env[cut()] = cut()
		}
		text := fmt.Sprintf("%q %q %q %q", w.argv, w.image, w.code, w.env)
		if other, have := seen[w.key()]; have && other != text {
			t.Fatalf("%s and %s have one key", text, other)
		}
		seen[w.key()] = text
	}
}
