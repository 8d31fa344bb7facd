package config_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"mlframework/config"
	"mlframework/infra/host"
)

// block is a part of a file: an option in some style, or something that is none.
type block struct{ option, text string }

// styles are ways to write options; each value differs from the one that change gives.
var styles = []block{
	{"hosts", "hosts: [gpu1, anna@gpu2]\n"}, {"hosts",
		"hosts:\n  - gpu1  # one\n  # two\n  - gpu2\n"}, {"hosts", "hosts: gpu1,gpu2 # both\n"},
	{"hosts", "hosts: [\n  gpu1, \"gpu2\", # [\n  ]\n"}, {"hosts", "hosts:\n- gpu1\n- 'gpu2'\n"},
	{"folder", "folder: ml\n"}, {"folder", "folder: \"m # l\" # here\n"}, {"folder",
		"folder: 'm''l'\n"},
	{"name", "name: anna # me\n"}, {"name", "name:   \"anna\"\n"}, {"name", "name:\n  anna\n"},
	{"slots", "slots: 2\n"}, {"slots", "slots: !!int 2 # two\n"}, {"slots", "slots: \"2\"\n"},
	{"image", "image: &image \"a:b\"\n"}, {"image", "\"image\": python:3.12-slim\n"},
	{"drain-timeout", "drain-timeout: 90m\n"}, {"expose-monitor", "expose-monitor: TRUE\n"},
}

var others = []string{"# words: of a person\n", "\n", "  # far in\n", "#slots: 9\n\n"}

const overrides = "overrides: # hosts\n  gpu1: &one\n    slots: 1 # of its own\n    labels: {a: " +
	"\"#\"}\n\n  gpu2: *one\n  # no more\n"

// randomFile has each option at most once, in any order, with other things between.
func randomFile(r *rand.Rand) (blocks []block) {
	used := map[string]bool{}
	for _, i := range r.Perm(len(styles)) {
		if s := styles[i]; !used[s.option] && r.IntN(3) > 0 {
			used[s.option] = true
			blocks = append(blocks, s)
		}
		if r.IntN(4) == 0 {
			blocks = append(blocks, block{"", others[r.IntN(len(others))]})
		}
	}
	at := r.IntN(len(blocks) + 1)
	return append(blocks[:at:at], append([]block{{"", overrides}}, blocks[at:]...)...)
}

// change gives some options other values, or none, and tells which.
func change(r *rand.Rand, o config.Options) (config.Options, map[string]bool) {
	changed := map[string]bool{}
	changes := map[string]func(*config.Options){
		"hosts": func(o *config.Options) {
			o.Hosts = []host.Address{{Name: "gpu0"}, {Name: "gpu2", Port: 22}}
		},
		"folder":         func(o *config.Options) { o.Folder = "other: folder" },
		"name":           func(o *config.Options) { o.Name = "ben" },
		"slots":          func(o *config.Options) { o.Slots = r.IntN(2) * 7 },
		"image":          func(o *config.Options) { o.Image = []string{"", "x"}[r.IntN(2)] },
		"drain-timeout":  func(o *config.Options) { o.DrainTimeout = 10 * time.Minute },
		"expose-monitor": func(o *config.Options) { o.ExposeMonitor = false },
	}
	for _, s := range styles {
		if f, left := changes[s.option]; left && r.IntN(3) == 0 {
			f(&o)
			changed[s.option] = true
		}
		delete(changes, s.option)
	}
	return o, changed
}

// comment is one in a block: none has a # in quotes that is followed by a space and a word.
var comment = regexp.MustCompile(`(?m)(^ *)?#[^",\n]*$`)

// Saving changes options, and keeps all else: the other options, what hosts have of their own, and
// every comment but the one behind an option that goes.
func TestSavingKeepsTheRest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		blocks := randomFile(r)
		var b strings.Builder
		for _, one := range blocks {
			b.WriteString(one.text)
		}
		text := b.String()
		if r.IntN(3) == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if r.IntN(3) == 0 {
			text = strings.TrimSpace(text)
		}
		if err := checkSaving(r, text, blocks); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func checkSaving(r *rand.Rand, text string, blocks []block) error {
	was, err := config.OptionsOf(".", "", []byte(text))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	same, err := config.Edit(".", "", []byte(text), was)
	if err != nil || string(same) != text {
		return fmt.Errorf("nothing changes, and the text does: %w\n%s\n--- after\n%s", err, text,
			same)
	}
	o, changed := change(r, was)
	after, err := config.Edit(".", "", []byte(text), o)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	// That options and overrides are the same is what Edit checks.
	for _, b := range blocks {
		for _, c := range comment.FindAllString(b.text, -1) {
			ownLine := strings.HasPrefix(strings.TrimLeft(b.text, " "), c) ||
				strings.Contains(b.text, "\n"+c)
			if !changed[b.option] || ownLine {
				if c = strings.TrimSpace(c); !bytes.Contains(after, []byte(c)) {
					return fmt.Errorf("%q is not there any more\n%s\n--- after\n%s", c, text, after)
				}
			}
		}
	}
	if again, err := config.Edit(".", "", after, o); err != nil || !bytes.Equal(again, after) {
		return fmt.Errorf("saving again changes the text: %w\n%s\n--- after\n%s", err, after,
			again)
	}
	return nil
}
