package space_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

// read reads a file that must be good.
func read(t testing.TB, text string) *space.Space {
	t.Helper()
	s, _, err := space.Read("parameters.yml", []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

// argvs returns every command line of a space, with spaces between the arguments and | between the
// lines.
func argvs(s *space.Space, style space.Style) string {
	var lines []string
	flags := s.Flags(style)
	for i := range s.Len() {
		lines = append(lines, strings.Join(flags.Append(nil, i), " "))
	}
	return strings.Join(lines, " | ")
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"one value": {"gpu: -1\nlr: 0.001\nname: \"a b\"\n",
			"--gpu=-1 --lr=0.001 --name=a b"},
		"list": {"batchsize: [100, 500]",
			"--batchsize=100 | --batchsize=500"},
		"block list": {"batchsize:\n- 100\n- 500\n",
			"--batchsize=100 | --batchsize=500"},
		"list of one": {"batchsize: [100]", "--batchsize=100"},
		"python list": {"b: !!python/list [1, 2]", "--b=1 | --b=2"},
		"tuple with a step": {"epoch: !!python/tuple [5, 20, 5]",
			"--epoch=5 | --epoch=10 | --epoch=15"},
		"tuple without a step": {"epoch: !!python/tuple [5, 8]",
			"--epoch=5 | --epoch=6 | --epoch=7"},
		"tuple as PyYAML dumps it": {"epoch: !!python/tuple\n- 5\n- 20\n- 5\n",
			"--epoch=5 | --epoch=10 | --epoch=15"},
		"tuple by its full tag": {"epoch: !<tag:yaml.org,2002:python/tuple> [5, 7]",
			"--epoch=5 | --epoch=6"},
		"interval tag": {"epoch: !interval [5, 20, 5]",
			"--epoch=5 | --epoch=10 | --epoch=15"},
		"interval tag on text": {"epoch: !interval \"[5,7)\"", "--epoch=5 | --epoch=6"},
		"quoted interval": {"epoch: \"[5,20,5)\"",
			"--epoch=5 | --epoch=10 | --epoch=15"},
		"single quotes":             {"epoch: ' [ 5 , 7 ) '", "--epoch=5 | --epoch=6"},
		"unquoted interval":         {"epoch: [5,20,5)", "--epoch=5 | --epoch=10 | --epoch=15"},
		"tagged text":               {"name: !!str \"[1,2)\"", "--name=[1,2)"},
		"tagged plain text":         {"name: !!str true", "--name=true"},
		"tagged empty text":         {"name: !!str", "--name="},
		"text in brackets":          {"name: \"[sic, sic)\"", "--name=[sic, sic)"},
		"block text is no interval": {"name: |-\n  [1,2)\n", "--name=[1,2)"},
		"negative step":             {"e: !interval [5, 0, -2]", "--e=5 | --e=3 | --e=1"},
		"switch on":                 {"augment: true", "--augment"},
		"switch off":                {"augment: false", ""},
		"switch both":               {"augment: [true, false]", "--augment | "},
		"switch spellings":          {"a: True\nb: TRUE\nc: False\nd: FALSE\n", "--a --b"},
		"switch by tag":             {"a: !!bool true", "--a"},
		"switch and value":          {"a: [true, false, 5]", "--a |  | --a=5"},
		"quoted booleans":           {"a: \"true\"\nb: 'false'\n", "--a=true --b=false"},
		"old booleans":              {"a: yes\nb: Off\nn: y\n", "--a=yes --b=Off --n=y"},
		"text is kept": {"a: [1e-3, 0.10, 007, 0x10, 1_000, .5, +1]",
			"--a=1e-3 | --a=0.10 | --a=007 | --a=0x10 | --a=1_000 | --a=.5 | --a=+1"},
		"large numbers": {"a: 123456789012345678901234567890",
			"--a=123456789012345678901234567890"},
		"infinity": {"a: [.inf, .nan]", "--a=.inf | --a=.nan"},
		"dates": {"a: [2024-01-02, 2024-01-02 03:04:05]",
			"--a=2024-01-02 | --a=2024-01-02 03:04:05"},
		"unicode": {"größe: [klein, 大]\n", "--größe=klein | --größe=大"},
		"escapes": {`a: "x\ty\u00e9"`, "--a=x\tyé"},
		"shell characters": {"a: $HOME `x` \"q\" 'p' ; rm",
			"--a=$HOME `x` \"q\" 'p' ; rm"},
		"empty text":        {"a: \"\"\nb: ['', x]\n", "--a= --b= | --a= --b=x"},
		"folded plain text": {"a: one\n  two\n", "--a=one two"},
		"literal text":      {"a: |\n  one\n  two\n", "--a=one\ntwo\n"},
		"keys that are not text": {"1: a\ntrue: b\n2.5: c\nno: d\n",
			"--1=a --true=b --2.5=c --no=d"},
		"dashes and underscores": {"a-b: 1\na_b: 2\n", "--a-b=1 --a_b=2"},
		"python scalars": {
			"a: !!python/unicode 'x'\nb: !!python/str y\nc: !!python/bool True\n",
			"--a=x --b=y --c"},
		"alias": {"a: &v [1, 2]\nb: *v\nc: &w 7\nd: [*w, 8]\n",
			"--a=1 --b=1 --c=7 --d=7 | --a=1 --b=1 --c=7 --d=8 | --a=1 --b=2 --c=7 --d=7 | --a=1 " +
				"--b=2 --c=7 --d=8 | --a=2 --b=1 --c=7 --d=7 | --a=2 --b=1 --c=7 --d=8 | --a=2 " +
				"--b=2 --c=7 --d=7 | --a=2 --b=2 --c=7 --d=8"},
		"alias of an interval": {"a: &v \"[1,2)\"\nb: *v\n", "--a=1 --b=1"},
		"alias as a key":       {"a: &k b\n*k : 2\n", "--a=b --b=2"},
		"merge keys stand at their <<": {"a: 1\n<<: {b: 2, c: 3}\nd: 4\n",
			"--a=1 --b=2 --c=3 --d=4"},
		"own keys win over merged ones": {"<<: {b: 2, c: 3}\nc: 4\nd: 5\n", "--b=2 --c=4 --d=5"},
		"earlier merged mappings win": {"<<: [{a: 1, b: 2}, {b: 3, c: 4}]\n",
			"--a=1 --b=2 --c=4"},
		"a merge within a merge": {"<<: {a: 1, <<: {a: 2, b: 3}}\n", "--a=1 --b=3"},
		"a merge of itself":      {"<<: &m {a: 1, <<: *m}\n", "--a=1"},
		"quoted << is a name":    {"\"<<\": 1", "--<<=1"},
		"byte order mark":        {"\ufeffa: 1\n", "--a=1"},
		"windows lines":          {"a: 1\r\nb: [2, 3]\r\n", "--a=1 --b=2 | --a=1 --b=3"},
		"flow mapping":           {"{a: 1, b: [2, 3]}", "--a=1 --b=2 | --a=1 --b=3"},
		"document markers":       {"# c\n---\na: 1\n...\n", "--a=1"},
		"empty file":             {"", ""},
		"only comments":          {"# nothing\n\n# here\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, argvs(read(t, c.file), space.Style{})); diff != "" {
				t.Errorf("%q: want -, got +\n%s", c.file, diff)
			}
		})
	}
}

func TestStyles(t *testing.T) {
	t.Parallel()
	s := read(t, "lr: 0.1\naugment: [true, false]\nname: ''\n")
	for style, want := range map[space.Style]string{
		{}:                       "--lr=0.1 --augment --name= | --lr=0.1 --name=",
		{Space: true}:            "--lr 0.1 --augment --name  | --lr 0.1 --name ",
		{Switch: space.SwitchNo}: "--lr=0.1 --augment --name= | --lr=0.1 --no-augment --name=",
		{Switch: space.SwitchValue}: "--lr=0.1 --augment=true --name= | --lr=0.1 " +
			"--augment=false --name=",
		{Space: true,
			Switch: space.SwitchValue}: "--lr 0.1 --augment true --name  | --lr 0.1 --augment false " +
			"--name ",
	} {
		if diff := cmp.Diff(want, argvs(s, style)); diff != "" {
			t.Errorf("%+v: want -, got +\n%s", style, diff)
		}
	}
	got := s.Flags(space.Style{Space: true}).Append([]string{"train"}, 1)
	if diff := cmp.Diff([]string{"train", "--lr", "0.1", "--name", ""}, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// Only a file that is not YAML is read again with its intervals quoted.
func TestUnquotedIntervals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"several with comments": {"a: [1,3) # one\nb: x\nc: [ 0, 0.2, 0.1 )   \n",
			"--a=1 --b=x --c=0.0 | --a=1 --b=x --c=0.1 | --a=2 --b=x --c=0.0 | --a=2 --b=x " +
				"--c=0.1"},
		"windows lines": {"a: [1,3)\r\nb: 2\r\n", "--a=1 --b=2 | --a=2 --b=2"},
		"old mac lines": {"a: [1,3)\rb: 2\r", "--a=1 --b=2 | --a=2 --b=2"},
		"all indented":  {"  a: [1,3)\n  b: 2\n", "--a=1 --b=2 | --a=2 --b=2"},
		"quoted key":    {"\"a\": [1,3)\n'b': [5,6)\n", "--a=1 --b=5 | --a=2 --b=5"},
		"anchor":        {"a: &v [1,2)\nb: *v\n", "--a=1 --b=1"},
		"tag": {
			"a: !interval [1,2)\nb: !!python/tuple [3,4)\nc: !!str [5,6)\n",
			"--a=1 --b=3 --c=[5,6)"},
		"inside of a text": {"a: |-\n  b: [1,2)\nc: [3,4)\n", "--a=b: [1,2) --c=3"},
		"valid YAML keeps its meaning": {"a: [1,2\n  , b)\n  , 3]\n",
			"--a=1 | --a=2 | --a=b) | --a=3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, argvs(read(t, c.file), space.Style{})); diff != "" {
				t.Errorf("%q: want -, got +\n%s", c.file, diff)
			}
		})
	}
}
