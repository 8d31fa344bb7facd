package space_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

// Every fault has its place, its cause and a way out, word for word.
func TestFaults(t *testing.T) {
	t.Parallel()
	const tooMany = "with this parameter there are more than 9223372036854775807 combinations; "
	for name, c := range map[string]struct{ file, want string }{
		"empty list": {"a: 1\nb: []",
			"p.yml:2:4: b: the list is empty; write at least one value, or remove the parameter"},
		"interval of none": {"a: !interval []",
			"p.yml:1:4: a: the interval has 0 elements; write [start, end] or [start, end, step]"},
		"interval of one": {"a: !interval [1]",
			"p.yml:1:4: a: the interval has 1 element; write [start, end] or [start, end, step]"},
		"interval of four": {"a: !interval [1, 2, 3, 4]",
			"p.yml:1:4: a: the interval has 4 elements; write [start, end] or [start, end, step]"},
		"quoted, of one": {"a: \"[1)\"",
			"p.yml:1:4: a: the interval has 1 element; write [start, end] or [start, end, step]; " +
				"write !!str before it if text is meant"},
		"step 0": {"a: !interval [1, 2, 0.0]",
			"p.yml:1:21: a: step is 0; write how far the values are apart, such as 1 or -1"},
		"start is end": {"a: !interval [1, 1.0]",
			"p.yml:1:4: a: the interval [1, 1.0) has no value; the end is not part of it: write " +
				"one beyond the start"},
		"wrong way": {"a: !interval [5, 1]",
			"p.yml:1:4: a: the interval [5, 1) has no value; swap start and end, or add a " +
				"negative step such as -1"},
		"wrong step": {"a: !interval [1, 5, -1]",
			"p.yml:1:4: a: the interval [1, 5, -1) has no value; swap start and end, or change the " +
				"sign of the step"},
		"no numbers": {"a: !interval [x, 5, y]",
			"p.yml:1:15: a: x is not a number; write start, end and step as numbers\np.yml:1:21: " +
				"a: y is not a number; write start, end and step as numbers"},
		"quoted, no number": {"a: '[1, x)'",
			"p.yml:1:4: a: x is not a number; write start, end and step as numbers; write !!str " +
				"before it if text is meant"},
		"unquoted, no number": {"a: [1, x)",
			"p.yml:1:4: a: x is not a number; write start, end and step as numbers"},
		"unquoted, all text": {"a: [x, y)",
			"p.yml:1:4: a: x is not a number; write start, end and step as numbers\np.yml:1:4: " +
				"a: y is not a number; write start, end and step as numbers"},
		"a quoted number": {"a: !interval [1, '5']",
			"p.yml:1:18: a: the text 5 in an interval is not a number; write start, end and step " +
				"as numbers"},
		"a list in it": {"a: !interval [1, [5]]",
			"p.yml:1:18: a: a list in an interval is not a number; write start, end and step as " +
				"numbers"},
		"infinite": {"a: !interval [1, .inf]",
			"p.yml:1:18: a: .inf is not a number; write start, end and step as numbers"},
		"octal or not": {"a: !interval [0, 010]",
			"p.yml:1:18: a: 010 begins with 0, which old YAML reads as octal; write 10, or begin " +
				"with 0o if octal is meant"},
		"exponent": {"a: !interval [0, 1e999999999]",
			"p.yml:1:18: a: 1e999999999 is too large or too small for a number; write start, end " +
				"and step as numbers"},
		"digits": {"a: !interval [0, 1" + strings.Repeat("0", 400) + "]",
			"p.yml:1:18: a: 1" + strings.Repeat("0", 76) +
				"… is too long for a number; write start, end and step as numbers"},
		"tag on one value": {"a: !!python/tuple 5",
			"p.yml:1:4: a: 5 is not an interval; write [start, end] or [start, end, step]"},
		"mapping": {"a: {b: 1}",
			"p.yml:1:4: a: a mapping is not a value; write one value or a list of values; if it " +
				`is one value, write [{"b":1}]`},
		"mapping to merge": {"a: &m {b: 1}\n<<: *m\n",
			"p.yml:1:4: a: a mapping is not a value; write one value or a list of values; if it " +
				`is one value, write [{"b":1}]; a mapping to merge is written where it is merged, ` +
				"<<: {b: 1}"},
		"interval in a value": {"a: [['[1,2)']]",
			"p.yml:1:6: a: an interval inside a value; write out its values, or give it a " +
				"parameter of its own"},
		"range in a value": {"a: [{b: !log [1, 2, 3]}]",
			"p.yml:1:9: a: a range inside a value; write out its values, or give it a parameter " +
				"of its own"},
		"whole numbers in a value": {"a: [[1..3]]",
			"p.yml:1:6: a: a range inside a value; write out its values, or give it a parameter " +
				"of its own"},
		"tag in a value": {"a: [[!foo 1]]", "p.yml:1:6: a: the tag !foo is not known; remove it"},
		"tag of a value": {"a: [!foo [1]]", "p.yml:1:5: a: the tag !foo is not known; remove it"},
		"key twice in a value": {"a: [{b: 1, b: 2}]",
			"p.yml:1:12: b: is there twice, first on line 1; write all of it in one place"},
		"long value": {"a: [1, [" + strings.Repeat("12345678, ", 8000) + "1]]",
			"p.yml:1:8: a: one value of more than 64 KiB; write it to a file and name that"},
		"null, empty": {"a: 1\nb:\nc: 2\n",
			"p.yml:2:1: b: no value; write a value, \"\" for an empty one, null for none, or " +
				"remove the parameter"},
		"null, empty in a list": {"b:\n- 1\n-\n",
			"p.yml:1:1: b: no value; write a value, \"\" for an empty one, null for none, or " +
				"remove the parameter"},
		"duplicate key": {"a: 1\nb: 2\na: 3\n",
			"p.yml:3:1: a: is there twice, first on line 1; write all of it in one place"},
		"duplicate in a merge": {"<<: {a: 1, a: 2}",
			"p.yml:1:12: a: is there twice, first on line 1; write all of it in one place"},
		"duplicate merge": {"<<: {a: 1}\n<<: {b: 2}",
			"p.yml:2:1: <<: is there twice, first on line 1; write all of it in one place"},
		"same text": {"1: a\n\"1\": b\n",
			`p.yml:2:1: 1: is there twice, first on line 1; write all of it in one place`},
		"key with spaces": {"learning rate: 1",
			`p.yml:1:1: "learning rate" cannot be the name of a flag: it has a space; write learning_rate`},
		"key with =": {"a=b: 1",
			`p.yml:1:1: "a=b" cannot be the name of a flag: it has a =; write the value after a colon`},
		"key with a dash": {"--lr: 1",
			`p.yml:1:1: "--lr" cannot be the name of a flag: it begins with -; write it without: the dashes of a flag are added`},
		"empty key": {"'': 1",
			`p.yml:1:1: "" cannot be the name of a flag: it is empty; write a name`},
		"control in a key": {`"a\e": 1`,
			`p.yml:1:1: "a\x1b" cannot be the name of a flag: it has a control character; remove it`},
		"list as a key": {"? [a]\n: 1",
			"p.yml:1:3: a list cannot be the name of a parameter; write a name"},
		"top level list": {"- a\n- b\n",
			"p.yml:1:1: the file is a list, not parameters with their values; write lines such " +
				"as lr: [0.1, 0.01]"},
		"top level value": {"# c\nlr 0.1\n",
			"p.yml:2:1: the file is one value, not parameters with their values; write lines " +
				"such as lr: [0.1, 0.01]"},
		"top level tag": {"!!omap {a: 1}",
			"p.yml:1:1: the tag !!omap is not known; remove it"},
		"unknown in zip": {"a: 1\n---\nzip: [a, lr]\n",
			"p.yml:3:10: zip: there is no parameter lr; name one of a"},
		"too many": {"a: [1, 2]\nb: !interval [0, 4611686018427387904]\nc: [1, 2]\n",
			"p.yml:2:1: b: " + tooMany + "use fewer values, or split the sweep"},
		"too long": {"b: !interval [0, 1e19]\n",
			"p.yml:1:4: b: " + tooMany + "write a shorter interval or a larger step"},
		"unknown tag": {"a: !foo 1\nb: [!!binary eA==]\n",
			"p.yml:1:4: a: the tag !foo is not known; remove it; !log, !uniform, !int, !logint " +
				"make ranges, !interval an interval, !!str text\np.yml:2:5: b: the tag !!binary " +
				"is not known; remove it; !log, !uniform, !int, !logint make ranges, " +
				"!interval an interval, !!str text"},
		"unknown list tag": {"a: !!set [1]",
			"p.yml:1:4: a: the tag !!set is not known; remove it; !log, !uniform, !int, !logint " +
				"make ranges, !interval an interval, !!str text"},
		"not a boolean": {"a: !!bool yes",
			"p.yml:1:4: a: yes is not a boolean; write true or false"},
		"NUL in a value": {`a: "x\0"`,
			"p.yml:1:4: a: the value has a NUL character, which no command line can hold; remove it"},
		"merge of a value": {"<<: 1",
			"p.yml:1:5: <<: one value cannot be merged; name a mapping or a list of mappings"},
		"list that is in itself": {"a: &a [1, *a]",
			"p.yml:1:11: a: a list in itself; write its values out"},
		"mapping in itself": {"&a {b: *a}",
			"p.yml:1:8: b: a mapping is not a value; write one value or a list of values; a " +
				"mapping to merge is written where it is merged, <<: {b: 1}"},
		"all at once": {"a: []\nb c: [1, !foo 2]\nd: !interval [1]\na: {}\n", strings.Join([]string{
			"p.yml:1:4: a: the list is empty; write at least one value, or remove the parameter",
			`p.yml:2:1: "b c" cannot be the name of a flag: it has a space; write b_c`,
			"p.yml:2:10: b c: the tag !foo is not known; remove it; !log, !uniform, !int, " +
				"!logint make ranges, !interval an interval, !!str text",
			"p.yml:3:4: d: the interval has 1 element; write [start, end] or [start, end, step]",
			"p.yml:4:1: a: is there twice, first on line 1; write all of it in one place",
			"p.yml:4:4: a: a mapping is not a value; write one value or a list of values",
		}, "\n")},
		"places are an editor's": {"# \u2028 \u0085\nä: [ü, !!bool x]",
			"p.yml:2:8: ä: x is not a boolean; write true or false"},
		"places after quoting": {"a: [1,2) # x\r\nb: !!bool x\r\n",
			"p.yml:2:4: b: x is not a boolean; write true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, err := space.Read("p.yml", []byte(c.file))
			if err == nil {
				t.Fatalf("%q: no error", c.file)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" || s != nil {
				t.Errorf("%q: want -, got +\n%s", c.file, diff)
			}
		})
	}
}

// A file that is not YAML has one fault, with the line where it is.
func TestNotYAML(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"open list": {"a: [1, 2\nb: 3\nc: 4\n",
			"p.yml:1: not YAML: did not find expected ',' or ']'; close the list that begins " +
				"here with ]"},
		"open list, later": {"# c\n\nx: 1\na: [1, 2\nb: 3\n",
			"p.yml:4: not YAML: did not find expected ',' or ']'; close the list that begins " +
				"here with ]"},
		"open mapping": {"x: 1\n<<: {a: 1\nb: 2\n",
			"p.yml:2: not YAML: did not find expected ',' or '}'; close the mapping that begins " +
				"here with }"},
		"open quotes": {"x: 1\na: \"b\nc: 3\n",
			"p.yml:2: not YAML: found unexpected end of stream; close the quotes that begin here"},
		"quote in a text": {"# c\nx: 1\na: 'it's'\n",
			"p.yml:3: not YAML: did not find expected key; write KEY: VALUE, as far to the right " +
				"as the lines before; text with quotes inside needs quotes around all of it"},
		"no colon": {"a: 1\nb\nc: 2\n",
			"p.yml:2: not YAML: could not find expected ':'; write KEY: VALUE"},
		"two colons": {"a: b: c\n",
			"p.yml:1: not YAML: a second \": \" stands in the line, or the line is indented too " +
				"far; put a value with a colon in quotes; write keys below each other, equally " +
				"far to the right"},
		"too far right": {"# c\n\na: 1\n  b: 2\n",
			"p.yml:4: not YAML: a second \": \" stands in the line, or the line is indented too " +
				"far; put a value with a colon in quotes; write keys below each other, equally " +
				"far to the right"},
		"too far left": {"  a: 1\nb: 2\n",
			"p.yml:2: not YAML: did not find expected <document start>; write KEY: VALUE, as far " +
				"to the right as the lines before"},
		"element": {"a: 1\n- b\n",
			"p.yml:2: not YAML: did not find expected key; write KEY: VALUE, as far to the right " +
				"as the lines before; text with quotes inside needs quotes around all of it"},
		"tab": {"# c\na: 1\nb: 2\n\tc: 3\n",
			"p.yml:4:1: not YAML: the line is indented with a tab; use spaces"},
		"tab first": {"\ta: 1\n",
			"p.yml:1:1: not YAML: the line is indented with a tab; use spaces"},
		"too deep": {"a: " + strings.Repeat("[", 10_001),
			"p.yml:1: not YAML: exceeded max depth of 10000; look at the quotes, brackets and " +
				"indentation there"},
		"at sign": {"x: 1\na: @b\n",
			"p.yml:2: not YAML: a value begins with a character that YAML keeps for itself; put " +
				"the value in quotes"},
		"unknown alias": {"x: 1\na: *b\n",
			"p.yml:2:4: not YAML: *b stands for nothing before it; write &b before the value it " +
				"stands for, or put it in quotes"},
		"after quoting": {"a: [1,2)\nb: [3\n",
			"p.yml:2: not YAML: did not find expected ',' or ']'; close the list that begins " +
				"here with ]"},
		"element interval": {"a: 1\nb:\n- [1,2)\n",
			"p.yml:3:3: not YAML: an interval without a tag is only read as the value of a " +
				"parameter; write !interval [1,2]"},
		"interval in text": {"a: [x, \"[1,2)\"\n",
			"p.yml:1: not YAML: did not find expected ',' or ']'; close the list that begins " +
				"here with ]"},
		"NUL":     {"a: 1\nb: \x00\n", "p.yml:2:4: a NUL byte; save the file as UTF-8"},
		"UTF-16":  {"\xff\xfea\x00", "p.yml:1:1: not UTF-8 text; save the file as UTF-8"},
		"Latin-1": {"gr\xf6\xdfe: 1", "p.yml:1:3: not UTF-8 text; save the file as UTF-8"},
		"control": {"ä: \x1b[0m",
			"p.yml:1:4: a control character; remove it, or write it as an escape in double quotes"},
		"late mark": {"a: 1\n\ufeffb: 2\n",
			"p.yml:2:1: a byte order mark in the middle of the file; remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := space.Read("p.yml", []byte(c.file))
			if err == nil {
				t.Fatalf("%q: no error", c.file)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("%q: want -, got +\n%s", c.file, diff)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	const quote = "; write true or false if a switch is meant, or put it in quotes"
	for name, c := range map[string]struct{ file, want string }{
		"none":          {"a: [1, 2]\nb: 'yes'\nn: y\nc: !interval [1, 2]\nd: !!str '[1,2)'\n", ""},
		"empty":         {"", "p.yml: no parameters: one task without flags"},
		"comments":      {"# c\n", "p.yml: no parameters: one task without flags"},
		"empty mapping": {"{}", "p.yml:1:1: no parameters: one task without flags"},
		"old booleans": {"a: yes\nb: [OFF, 1]\n",
			"p.yml:1:4: a: yes is text, although older readers took it for a boolean" + quote +
				"\np.yml:2:5: b: OFF is text, although older readers took it for a boolean" +
				quote},
		"equal values": {"a: [1, 2, 1]",
			"p.yml:1:11: a: the value 1 is there twice and stays: its combinations run twice"},
		"unequal texts": {"a: [1, 1.0, true, 'true']",
			"p.yml:1:4: a: the list has switches and values: --a is " +
				"once alone, once with a value; write \"true\" and \"false\" in quotes if " +
				"they are " +
				"values\n" +
				"p.yml:1:8: a: 1 and 1.0 are one number in two spellings: both run; write it in " +
				"one way"},
		"quoted interval": {"a: 1\nb: '[5,20,5)'",
			"p.yml:2:4: the quoted text is read as an interval, b: 5, 10, 15; " +
				"write !!str before it if text is meant"},
		"unquoted": {"a: [5,20,5)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, notes, err := space.Read("p.yml", []byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, notes.Error()); diff != "" {
				t.Errorf("%q: want -, got +\n%s", c.file, diff)
			}
		})
	}
}
