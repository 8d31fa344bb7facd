package space_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

func spaceOf(t *testing.T, text string) *space.Space {
	t.Helper()
	s, _, err := space.Read("parameters.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lines returns the flags of all points, those of one point in the order of the alphabet, each as
// one word.
func lines(style space.Style, spaces ...*space.Space) (all []string) {
	style.Space = false
	for _, s := range spaces {
		for i := range s.Len() {
			flags := s.Flags(style).Append(nil, i)
			slices.Sort(flags)
			all = append(all, strings.Join(flags, " "))
		}
	}
	return all
}

func TestWithout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, now, before, want string }{
		{"the same", "a: [1, 2]", "a: [1, 2]", ""},
		{"fewer", "a: [1]", "a: [1, 2]", ""},
		{"another order of values and parameters", "b: 3\na: [2, 1]", "a: [1, 2]\nb: 3", ""},
		{"a value more", "a: [1, 2, 3]\nb: [4, 5]", "a: [1, 2]\nb: [4, 5]", "a: 3 b: 4, 5"},
		{"values more of both", "a: [1, 2]\nb: [4, 5]", "a: 1\nb: 4", "a: 2 b: 4, 5; a: 1 b: 5"},
		{"others", "a: [3, 4]\nb: [4, 5]", "a: [1, 2]\nb: [4, 5]", "a: 3, 4 b: 4, 5"},
		{"a new parameter", "a: [1, 2]\nb: 1", "a: [1, 2]", "a: 1, 2 b: 1"},
		{"a parameter fewer", "a: [1, 2]", "a: [1, 2]\nb: 1", "a: 1, 2"},
		{"a new switch", "a: 1\nb: [false, true]", "a: 1", "a: 1 b: true (switch)"},
		{"a switch fewer", "a: 1", "a: 1\nb: [false, true]", ""},
		{"text is no switch", "b: ['true', true]", "b: true", `b: true`},
		{"a longer interval", "a: !interval [0, 10]", "a: !interval [0, 8]",
			"a: 8, 9"},
		{"longer at both ends", "a: !interval [-2, 10, 2]", "a: !interval [2, 8, 2]",
			"a: -2, 0; a: 8"},
		{"backwards", "a: !interval [5, -2, -1]", "a: !interval [5, 0, -1]",
			"a: 0, -1"},
		{"decimals", "a: !interval [0, 0.5, 0.1]", "a: !interval [0, 0.3, 0.1]",
			"a: 0.3, 0.4"},
		{"beside each other", "a: !interval [1, 9, 2]", "a: !interval [0, 9, 2]",
			"a: 1, 3, 5, 7"},
		{"a finer step", "a: !interval [0, 5]", "a: !interval [0, 5, 2]", "a: 1, 3"},
		{"more decimals are other texts", "a: !interval [0, 1, 0.50]", "a: !interval [0, 1, 0.5]",
			"a: 0.00, 0.50"},
		{"a list to an interval", "a: !interval [0, 4]", "a: [1, 2.0, 3]", "a: 0, 2"},
		{"an interval to a list", "a: [3, 4, 004, 1e0]", "a: !interval [0, 4]", "a: 4, 004, 1e0"},
		{"huge", "a: !interval [0, 2000000000000]\nb: [1, 2]",
			"a: !interval [0, 1000000000000]\nb: 1",
			"a: 1000000000000, 1000000000001, 1000000000002, …, 1999999999999 (1000000000000 " +
				"values) b: 1, 2; " +
				"a: 0, 1, 2, …, 999999999999 (1000000000000 values) b: 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			parts, err := spaceOf(t, c.now).Without(space.Style{}, spaceOf(t, c.before))
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, part := range parts {
				var one []string
				for _, p := range part.Parameters() {
					one = append(one, p.String())
				}
				all = append(all, strings.Join(one, " "))
			}
			if diff := cmp.Diff(c.want, strings.Join(all, "; ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// However spaces are made, what is new is found by looking at every point, and is kept and read as
// it is.
func TestWithoutIsTheDifference(t *testing.T) {
	t.Parallel()
	values := []string{"1", "2", "3", "4", "true", "false", "'true'", "2.0"}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 7))
		style := space.Style{Space: r.IntN(2) == 0, Switch: []space.SwitchForm{"", "", "value", "no"}[r.IntN(4)]}
		random := func() *space.Space {
			text := ""
			for _, name := range []string{"a", "b", "c"} {
				switch r.IntN(4) {
				case 0: // not there
				case 1:
					start, step := r.IntN(4), 1+r.IntN(2)
					text += fmt.Sprintf("%s: !interval [%d, %d, %d]\n", name, start,
						start+1+r.IntN(5), step)
				default:
					r.Shuffle(len(values), func(i, j int) {
						values[i], values[j] = values[j], values[i]
					})
					text += fmt.Sprintf("%s: [%s]\n", name,
						strings.Join(values[:1+r.IntN(4)], ", "))
				}
			}
			return spaceOf(t, text)
		}
		now := random()
		var before []*space.Space
		for range r.IntN(4) {
			before = append(before, random())
		}
		parts, err := now.Without(style, before...)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range parts {
			text, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			parts[i] = new(space.Space)
			if err := json.Unmarshal(text, parts[i]); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		had := map[string]bool{}
		for _, line := range lines(style, before...) {
			had[line] = true
		}
		want := slices.DeleteFunc(lines(style, now), func(line string) bool { return had[line] })
		got := lines(style, parts...)
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			t.Fatalf("seed %d: -want +got:\n%s", seed, diff)
		}
	}
}

func TestWithoutOfWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	_, err := spaceOf(t, "seed: !interval [0, 1000000]").Without(space.Style{},
		spaceOf(t, "seed: !interval [0, 1000000, 2]"))
	if want := "parameter seed: its 1000000 values cannot be compared one by one with those that " +
		"it had, 100000 is the most"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	var now strings.Builder
	before := make([]*space.Space, 12)
	for i := range before {
		var text strings.Builder
		for p := range before {
			fmt.Fprintf(&text, "p%d: [%d, %d, %d]\n", p, (p+i)%4, (p+i+1)%4, (p+i+2)%4)
		}
		before[i] = spaceOf(t, text.String())
		fmt.Fprintf(&now, "p%d: [0, 1, 2, 3]\n", i)
	}
	if _, err := spaceOf(t, now.String()).Without(space.Style{}, before...); err == nil ||
		err.Error() != "what is new falls into more than 1000 parts" {
		t.Errorf("got %v", err)
	}
}

// What is new beside spaces with rules is found point by point, and keeps its order; the result is
// stored compactly.
func TestWithoutPoints(t *testing.T) {
	t.Parallel()
	const optimizers = "o: [sgd, adam]\nm: [1, 2]\n---\nwhen: {m: o = sgd}\n"
	for _, c := range []struct{ name, now, before, want string }{
		{"a rule less", "a: [1, 2, 3]\nb: [1, 2]\n", "a: [1, 2, 3]\nb: [1, 2]\n---\nwhere: a > b\n",
			"--a=1 --b=1 | --a=1 --b=2 | --a=2 --b=2"},
		{"a rule more", "a: [1, 2, 3]\nb: [1, 2]\n---\nwhere: a > b\n", "a: [1, 2, 3]\nb: [1, 2]\n",
			""},
		{"another order", "b: [1, 2]\na: [3, 2, 1]\n---\nwhere: a > b\n",
			"a: [1, 2]\nb: [1, 2]\n---\nwhere: a > b\n", "--a=3 --b=1 | --a=3 --b=2"},
		{"nothing in common", "a: [1, 2]\n---\nwhere: a = 1\n", "a: [1, 2]\n---\nwhere: a = 2\n",
			"--a=1"},
		{"a value more of what may be absent",
			"o: [sgd, adam]\nm: [1, 2, 3]\n---\nwhen: {m: o = sgd}\n", optimizers, "--m=3 --o=sgd"},
		{"absent before", "o: [sgd, adam]\nm: [1, 2]\n", optimizers,
			"--m=1 --o=adam | --m=2 --o=adam"},
		{"absent now", optimizers, "o: [sgd, adam]\nm: [1, 2]\n", "--o=adam"},
		{"absent is as a switch that is off", "o: [sgd, adam]\nm: [false, true]\n",
			"o: [sgd, adam]\nm: true\n---\nwhen: {m: o = sgd}\n", "--o=sgd | --m --o=adam"},
		{"a switch that is off is as absent", "- {o: 1}\n- {o: 2, m: true}\n- {o: 3, m: false}\n",
			"o: [1, 2, 3]\nm: [false, true]\n", ""},
		{"a list of points", "- {a: 1, b: 1}\n- {a: 2}\n- {b: 1, a: 3}\n", "a: [1, 2]\nb: 1\n",
			"--a=2 | --a=3 --b=1"},
		{"zip", "a: [1, 2, 3]\nb: [1, 2, 3]\n---\nzip: [a, b]\n", "a: [1, 2]\nb: [1, 3]\n",
			"--a=2 --b=2 | --a=3 --b=3"},
		{"a larger sample", "a: !interval [0, 100]\n---\nsample: 100\n",
			"a: !interval [0, 100]\n---\nwhere: a > 2\n", "--a=0 | --a=1 | --a=2"},
		{"an included point", "a: [1, 2]\n---\ninclude: [{a: 5}, {a: 2}]\n", "a: [1, 2]\n",
			"--a=5"},
		{"an included one before", "a: [1, 2, 5]\n", "a: [1, 2]\n---\ninclude: [{a: 5}]\n", ""},
		{"several before", "a: [1, 2, 3, 4]\n", "a: [1, 2]\n---\nwhere: a = 1\n| a: [3]\n",
			"--a=2 | --a=4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var before []*space.Space
			for _, text := range strings.Split(c.before, "| ") {
				before = append(before, spaceOf(t, text))
			}
			parts, err := spaceOf(t, c.now).Without(space.Style{}, before...)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(lines(space.Style{}, parts...), " | "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			for _, part := range parts {
				checkRoundTrip(t, part)
				checkInverse(t, part)
				if left, err := part.Without(space.Style{}, part); err != nil || len(left) > 0 {
					t.Errorf("without itself: %v, %v", left, err)
				}
			}
		})
	}
	large := spaceOf(t, "a: !interval [0, 1000001]\n---\nwhere: a >= 0\n")
	if _, err := large.Without(space.Style{}, spaceOf(t, "a: 1")); err == nil ||
		!strings.Contains(err.Error(), "1000001 points cannot be compared one by one") {
		t.Errorf("1,000,001 points: %v", err)
	}
}

// A point of a sample is found where another looks like it on a command line: without a switch, and
// with one that is off.
func TestWithoutSampledSwitches(t *testing.T) {
	t.Parallel()
	sampled := spaceOf(t, "- {a: 1}\n- {a: 1, f: false}\n- {a: 2}\n- {a: 2, f: false}\n- {a: 3}\n"+
		"- {a: 3, f: false}\n---\nsample: 3\n")
	for i := range sampled.Len() {
		one := spaceOf(t, fmt.Sprintf("a: %s\n", sampled.Point(i)[0].Value))
		left, err := one.Without(space.Style{}, sampled)
		if err != nil || len(left) > 0 {
			t.Errorf("point %d of the sweep would run again: %v, %v", i, left, err)
		}
	}
}
