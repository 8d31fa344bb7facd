package space_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

func of(n int64) *int64 { return &n }

// What a command line changes of a file: its points, or what is wrong; notes before them.
func TestChanges(t *testing.T) {
	t.Parallel()
	const grid = "lr: [0.1, 0.2]\nepoch: 5\naugment: [true, false]\n"
	const zipped = "lr: [0.1, 0.2]\nm: [1, 2]\n---\nzip: [[lr, m]]\n"
	const listed = "- {lr: 0.1, unit: 32}\n- {lr: 0.2, unit: 64}\n---\ndefaults: {epoch: 3}\n"
	const tag = "the tag !foo is not known; remove it; !log, !uniform, !int, !logint make ranges, " +
		"!interval an interval, !!str text"
	set := func(all ...string) space.Change { return space.Change{Set: all} }
	for name, c := range map[string]struct {
		file   string
		change space.Change
		want   string
	}{
		"one value": {grid, set("lr=0.3", "augment=false"),
			"lr=0.3 epoch=5 augment=false"},
		"a list": {grid, set("epoch=1,2", "augment=true", "lr=1e-3"),
			"lr=1e-3 epoch=1 augment=true | lr=1e-3 epoch=2 augment=true"},
		"a list in brackets":   {"a: 1", set("a=[1, x]"), "a=1 | a=x"},
		"an interval":          {"a: 1", set("a=[1,4)"), "a=1 | a=2 | a=3"},
		"a range":              {"a: 1", set("a=!log [1e-3, 1e-1, 3]"), "a=1e-3 | a=0.01 | a=1e-1"},
		"text with a comma":    {"a: 1", set(`a="x,y"`), "a=x,y"},
		"text in a list":       {"a: 1", set(`a="x,y",z`), "a=x,y | a=z"},
		"text with =":          {"a: 1", set("a=b=c"), "a=b=c"},
		"a comma in brackets":  {"a: 1", set("a=f(1,2)"), "a=f(1,2)"},
		"an apostrophe":        {"a: 1", set("a=it's"), "a=it's"},
		"a name of several":    {"model.lr: 1", set("model.lr=2"), "model.lr=2"},
		"zip leaves one value": {zipped, set("lr=7"), "lr=7 m=1 | lr=7 m=2"},
		"zip of other lengths": {zipped, set("lr=7,8,9"),
			"! p.yml:4:7: zip: as many values are needed of each: lr has 3, m has 2; write lists " +
				"of one length, or leave one out of the group"},
		"a list of points": {listed, set("lr=1,2"),
			"unit=32 epoch=3 lr=1 | unit=32 epoch=3 lr=2 | unit=64 epoch=3 lr=1 | unit=64 " +
				"epoch=3 lr=2"},
		"equal points then": {"- {lr: 1, s: 1}\n- {lr: 2, s: 1}\n", set("lr=3"),
			"note p.yml:2:3: the point is the same as that on line 1: it is run once | s=1 lr=3"},
		"values of rules gone": {
			"a: [x, y]\nb: [1, 2]\n---\nwhere: a != y or b in [2, 3]\nexclude: {a: x, b: 7}\n",
			set("a=z,x", "b=1"),
			"note p.yml:4:8: where: a != y or b in [2, 3] holds for every combination: " +
				"it removes nothing | note p.yml:5:10: exclude: {a: x, b: 7} matches no " +
				"combination: it removes nothing | a=z b=1 | a=x b=1"},
		"a rule goes on": {"a: [1, 2]\nb: [1, 2]\n---\nwhere: a < b\n", set("b=3,1"),
			"a=1 b=3 | a=2 b=3"},
		"a faulty file": {"a: []\nb: 1\n", set("a=1"), "a=1 b=1"},

		"unknown": {grid, set("lrr=1"),
			"! lrr=1: there is no parameter lrr; did you mean lr?"},
		"twice": {grid, set("lr=1", "lr=2"),
			"! lr=2: lr is set twice; set it once; several values stand in one: lr=1,2"},
		"no value": {grid, set("lr="),
			`! lr=: lr: no value; write one, or "" for an empty text: lr='""'`},
		"no name": {grid, set("=1"),
			`! =1: "" cannot be the name of a flag: it is empty; write a name`},
		"a comment": {grid, set("lr=1 # x"),
			`! lr=1 # x: lr: # begins a comment; put the value in quotes of its own if it is text: lr='"1 # x"'`},
		"an empty list": {grid, set("lr=[]"),
			"! lr=[]: lr: the list is empty; write at least one value, or remove the parameter"},
		"a mapping": {grid, set("lr={a: 1}"),
			"! lr={a: 1}: lr: a mapping is not a value; write one value or a list of values; if " +
				`it is one value, write [{"a":1}]`},
		"lists":    {"a: 1", set("a=[64,64],[128]"), "a=[64,64] | a=[128]"},
		"one list": {"a: 1", set("a=[[64,64]]"), "a=[64,64]"},
		"mappings": {"a: 1", set("a={b: x, c: 0.10},{b: y}"),
			`a={"b":"x","c":0.10} | a={"b":"y"}`},
		"null": {"a: 1", set("a=null,0.1"), "a=null | a=0.1"},
		"not YAML": {grid, set("lr=[1"),
			`! lr=[1: lr: not YAML: did not find expected ',' or ']'; put the value in quotes of its own if it is text: lr='"1"'`},
		"a place": {grid, set("lr=1,x,[2,!foo [3]]"),
			`! lr=1,x,[2,!foo [3]], column 11: lr: the tag !foo is not known; remove it`},
		"a place after spaces": {grid, set("lr=  1,!foo 2"),
			"! lr=  1,!foo 2, column 8: lr: " + tag},
		"a place of repeats": {grid, space.Change{Repeat: []string{"seed=1,!foo 2"}},
			"! --repeat seed=1,!foo 2, column 17: seed: " + tag},
		"a place behind letters": {"é: 1", set("é=ü,!foo 2"),
			"! é=ü,!foo 2, column 5: é: " + tag},
		"lines": {grid, set("lr=1\nb: 2"),
			"! lr=1\nb: 2: lr: the value has several lines; write it into the parameters file"},
		"a slip": {"a: 1", set("a=1-3"),
			"note a=1-3: a: 1-3 is read as one text; write 1..3 if several values " +
				"are meant, or put it in quotes | a=1-3"},
		"whole numbers": {"a: 1", set("a=1..3"), "a=1 | a=2 | a=3"},
		"no count": {"a: 1", set("a=!log [1, 2]"),
			"! a=!log [1, 2]: a: the range !log [1, 2] does not say which of its values; write " +
				"!log [1, 2, 5] for 5 values, or a list of values"},
		"all are told of": {grid, set("x=1", "lr=[]"),
			"! lr=[]: lr: the list is empty; write at least one value, or remove the " +
				"parameter\nx=1: there is no parameter x; name one of lr, epoch or augment, or add it to the file"},

		"repeat": {"a: 1\nseed: [1, 2]", space.Change{Repeat: []string{"seed"}},
			"repeat seed | a=1 seed=1 | a=1 seed=2"},
		"repeat adds": {"a: 1", space.Change{Repeat: []string{"seed=1,2"}},
			"repeat seed | a=1 seed=1 | a=1 seed=2"},
		"repeat replaces": {"seed: 4\na: 1", space.Change{Repeat: []string{"seed=1,2"}},
			"repeat seed | seed=1 a=1 | seed=2 a=1"},
		"repeat unknown": {"seed: 4", space.Change{Repeat: []string{"sead"}},
			"! --repeat sead: there is no parameter sead; did you mean seed?"},
		"repeat zipped": {zipped, space.Change{Repeat: []string{"m"}},
			"! --repeat m: m varies together with others, so that its values do not repeat one " +
				"combination; take it out of zip"},
		"repeat points": {listed, space.Change{Repeat: []string{"seed=1,2"}},
			"repeat seed | lr=0.1 unit=32 epoch=3 seed=1 | lr=0.1 unit=32 epoch=3 seed=2 | " +
				"lr=0.2 unit=64 epoch=3 seed=1 | lr=0.2 unit=64 epoch=3 seed=2"},

		"repeat in place of a default": {"- {lr: 1}\n- {lr: 2}\n---\ndefaults: {seed: 3}\n",
			space.Change{Repeat: []string{"seed=1,2"}},
			"repeat seed | lr=1 seed=1 | lr=1 seed=2 | lr=2 seed=1 | lr=2 seed=2"},
		"in place of a default": {
			"- {lr: 1}\n- {lr: 2, seed: 4}\n---\ndefaults: {seed: 3, b: 5}\n", set("seed=1"),
			"lr=1 b=5 seed=1 | lr=2 b=5 seed=1"},
		"a default alone is known": {"- {lr: 1}\n---\ndefaults: {seed: 3}\n", set("sead=1"),
			"! sead=1: there is no parameter sead; did you mean seed?"},
		"included points, too": {
			"lr: [1, 2]\no: [adam, sgd]\ns: [0, 1]\n---\ninclude: [{lr: 3, o: sgd, s: 7}, {lr: " +
				"3, o: adam, s: 7}]\n", set("o=adam", "s=0"),
			"note p.yml:5:34: include: the point is the same as that on line 5: it is " +
				"run once | lr=3 o=adam s=0 | lr=1 o=adam s=0 | lr=2 o=adam s=0"},
		"included points, each value": {
			"lr: [1, 2]\ns: 0\n---\ninclude: [{lr: 3, s: 7}, {lr: 1}]\ndefaults: {s: 5}\n",
			set("s=1,2"),
			"note p.yml:4:26: include: the combinations have this point, too: it is run " +
				"once, first | lr=3 s=1 | lr=3 s=2 | lr=1 s=1 | lr=1 s=2 | lr=2 s=1 | " +
				"lr=2 s=2"},
		"included points, a list": {
			"- {lr: 1, s: 5}\n- {lr: 2, s: 5}\n---\ninclude: [{lr: 3, s: 7}, {s: 7}, {s: 5}]\n",
			set("lr=8,9"),
			"note p.yml:2:3: the point is the same as that on line 1: it is run once | " +
				"note p.yml:4:26: include: the point is the same as that on line 4: it " +
				"is run once | note p.yml:4:34: include: the combinations have this " +
				"point, too: it is run once, first | s=7 lr=8 | s=7 lr=9 | s=5 " +
				"lr=8 | s=5 lr=9"},
		"included points, many": {"lr: [1, 2]\n---\ninclude: {lr: 3}\n",
			set("lr=!interval [0, 100001]"),
			"! p.yml:3:10: include: with all values of lr there are more than 100000 points; " +
				"set fewer values of it"},
		"included points, a condition": {
			"lr: [1, 2]\nm: [3, 4]\n---\nwhen: {m: lr = 1}\ninclude: [{lr: 1, m: 9}, {lr: 2}]\n",
			set("lr=1,2", "m=5"),
			"note p.yml:5:11: include: the combinations have 1 of the 2 points that this " +
				"stands for, too: each is run once, first | note p.yml:5:26: include: 1 " +
				"of the 2 points that this stands for are there already: each is run " +
				"once | note p.yml:5:26: include: the combinations have this " +
				"point, too: it is run once, first | lr=1 m=5 | lr=2 m=5 " +
				"| lr=2"},
		"repeats of included points": {"lr: 1\n---\ninclude: [{lr: 3}, {lr: 4, seed: 7}]\n",
			space.Change{Repeat: []string{"seed=1,2"}},
			"repeat seed | lr=3 seed=1 | lr=3 seed=2 | lr=4 seed=1 | lr=4 seed=2 | lr=1 " +
				"seed=1 | lr=1 seed=2"},
		"marked repeats": {
			"lr: 1\nseed: [1, 2]\n---\ninclude: [{lr: 3}, {lr: 4, seed: 7}]\n",
			space.Change{Repeat: []string{"seed"}},
			"repeat seed | lr=3 seed=1 | lr=3 seed=2 | lr=4 seed=7 | lr=1 seed=1 | lr=1 " +
				"seed=2"},
		"a default for nothing": {"lr: 1\n---\ndefaults: {sed: 3}\ninclude: {lr: 2}\n",
			set("sed=1"), "! sed=1: there is no parameter sed; name one of lr, or add it to the file"},

		"sample": {"a: !interval [0, 1000000]",
			space.Change{Sample: of(2)}, "a=431528 | a=883310"},
		"sample wins": {
			"a: !interval [0, 1000000]\n---\nsample: 9\nseed: 7\n",
			space.Change{Sample: of(1), Seed: of(0)}, "a=883310"},
		"seed alone": {"a: 1", space.Change{Seed: of(3)},
			"note --sample-seed 3: nothing is drawn without a sample | a=1"},
		"sample greater": {"a: [1, 2]", space.Change{Sample: of(3)},
			"note --sample 3: there are only 2 combinations, and all of them are run | a=1 | a=2"},
		"sample 0": {"a: [1, 2]",
			space.Change{Sample: of(0), Seed: of(-1)},
			"! --sample 0: it must be at least 1; write a greater number\n--sample-seed -1: it must " +
				"be at least 0; write a greater number"},
		"limit": {grid, space.Change{Limit: 3},
			"lr=0.1 epoch=5 augment=true | lr=0.1 epoch=5 augment=false | lr=0.2 epoch=5 " +
				"augment=true"},
		"limit beyond": {"a: [1, 2]", space.Change{Limit: 3}, "a=1 | a=2"},
		"limit below 0": {"a: [1, 2]", space.Change{Limit: -3},
			"! --limit -3: it must be at least 0; write a greater number"},
		"limit of a sample with included ones": {
			"a: !interval [0, 1000]\n---\nsample: 3\ninclude: {a: x}\n", space.Change{Limit: 2},
			"a=x | a=28"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, notes, err := space.Read("p.yml", []byte(c.file), c.change)
			var got []string
			for _, n := range notes {
				got = append(got, "note "+n.String())
			}
			if err != nil {
				got = append(got, "! "+err.Error())
			} else {
				for _, name := range s.Repeats() {
					got = append(got, "repeat "+name)
				}
				for _, p := range pointsFrom(s, 0) {
					got = append(got, textOf(p))
				}
				checkRoundTrip(t, s)
				checkInverse(t, s)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " | ")); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}
