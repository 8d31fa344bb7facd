package argv_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"gopkg.in/yaml.v3"

	"mlframework/sweep/argv"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// given are parameters written as "name=value name=value": a value that ends with ! is a switch,
// one in quotes is quoted text.
func given(text string) (all []space.Assignment) {
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		p := space.Assignment{Name: name, Value: value}
		if v, is := strings.CutSuffix(value, "!"); is {
			p.Value, p.Kind = v, space.Switch
		} else if strings.HasPrefix(value, `"`) {
			p.Value, p.Kind = strings.Trim(value, `"`), space.Text
		}
		all = append(all, p)
	}
	return all
}

func TestFill(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text, of string
		keys           bool
		want           string
	}{
		"YAML": {"c.yaml",
			"# top\nname: net # the name\nmodel:\n    lr: 0.1 # slow\n    # layers of it\n    " +
				"sizes: [1, 2]\n    opt: {name: 'adam', on: true}\nid: 3\n",
			"model.lr=.5 name=a model.opt.name=sgd model.opt.on=False! id=007", false,
			"# top\nname: a # the name\nmodel:\n    lr: 0.5 # slow\n    # layers of it\n    " +
				"sizes: [1, 2]\n    opt: {name: 'sgd', on: False}\nid: \"007\"\n"},
		"YAML text that others read otherwise": {"c.yml", "a: x\nb: x\nc: x\nd: x\ne: x\n",
			`a=yes b="10" c=null d=12:30 e=true`, false,
			"a: \"yes\"\nb: \"10\"\nc: \"null\"\nd: \"12:30\"\ne: \"true\"\n"},
		"YAML numbers of both versions": {"c.yaml", "a: 0.1\nb: 1e-4\nc: 1\nd: 1.0e-4\n",
			"a=1e-3 b=1e-3 c=2.5E5 d=1e5", false, "a: 1.0e-3\nb: 1e-3\nc: 2.5E+5\nd: 1.0e+5\n"},
		"YAML element of a list": {"c.yaml", "steps:\n  - size: 1\n  - size: 2\n", "steps.1.size=5",
			false, "steps:\n  - size: 1\n  - size: 5\n"},
		"YAML key with a dot": {"c.yaml", "model.lr: 1\n", "model.lr=2", false, "model.lr: 2\n"},
		"YAML anchor and alias": {"c.yaml", "a: &x 1\nb: *x\nc: *x\n", "a=2 b=3 c=4", false,
			"a: &x 2\nb: 3\nc: 4\n"},
		"YAML new keys": {"c.yaml", "a: {b: 1}\n", "a.c=2 x.y.z=1 x.y.w=t", true,
			"a: {b: 1, c: 2}\nx:\n  \"y\":\n    z: 1\n    w: t\n"},
		"JSON": {"c.json",
			"{\n\t\"lr\": 0.1,\n\t\"model\": {\"name\":\"net\", \"on\" : true, \"n\": " +
				"null},\n\t\"list\": [1, {\"a\": \"]\"}]\n}\n",
			"model.name=a\"b model.on=True! lr=1e-3 list.1.a=x model.n=7", false,
			"{\n\t\"lr\": 1e-3,\n\t\"model\": {\"name\":\"a\\\"b\", \"on\" : true, \"n\": " +
				"7},\n\t\"list\": [1, {\"a\": \"x\"}]\n}\n"},
		"JSON new keys": {"c.json", "{\n  \"a\": {},\n  \"b\": {\n    \"c\": 1\n  }\n}",
			"a.x=1 b.d=t x.y=2 x.z=3", true,
			"{\n  \"a\": {\"x\": 1},\n  \"b\": {\n    \"c\": 1,\n    \"d\": \"t\"\n  },\n  " +
				"\"x\": {\"y\": 2, \"z\": 3}\n}"},
		"JSON escapes in keys": {"c.json", `{"ü\u0061": 1}`, "üa=2", false, `{"ü\u0061": 2}`},
		"JSON empty key": {"c.json", `{"": 1, "a": 2}`, "a=3 b=4", true,
			`{"": 1, "a": 3, "b": 4}`},
		"YAML empty key": {"c.yaml", "\"\": 1\na: 2\n", "a=3 b=4", true, "\"\": 1\na: 3\nb: 4\n"},
		"TOML": {"c.toml",
			"# top\nname = \"net\" # name\n\n[model]\nlr = 0.1 # slow\nopt = {name = 'adam', on " +
				"= true}\nopt2.lr = 1\n[[step]]\nsize = 1\n[[step]]\nsize = 2\nsizes = [1,\n 2] " +
				"# two\n[model.deep]\nx = 1979-05-27\n",
			"name=a model.lr=.5 model.opt.name=sgd model.opt.on=False! model.opt2.lr=2 " +
				"step.1.size=5 step.1.sizes.1=9", false,
			"# top\nname = \"a\" # name\n\n[model]\nlr = 0.5 # slow\nopt = {name = \"sgd\", on = " +
				"false}\nopt2.lr = 2\n[[step]]\nsize = 1\n[[step]]\nsize = 5\nsizes = [1,\n 9] # " +
				"two\n[model.deep]\nx = 1979-05-27\n"},
		"TOML new keys": {"c.toml", "a = 1\n[model] # m\nlr = 1 # slow\n[x]\n",
			"b=2 model.y=t x.z=1 new.k=0.5", true,
			"a = 1\nb = 2\nnew.k = 0.5\n[model] # m\nlr = 1 # slow\ny = \"t\"\n[x]\nz = 1\n"},
		"TOML new key in an empty file": {"c.toml", "[t]\n", "a=1", true, "a = 1\n[t]\n"},
		"TOML brackets in comments": {"c.toml", "x = [1 # ]\n]\n", "y=2", true,
			"x = [1 # ]\n]\ny = 2\n"},
		"TOML lists in lists": {"c.toml",
			"[t]\n\"x\" = [ # ]\n [1], # ]\n [[], [2]\n],\n # ]\n]\n[u]\n", "t.y=2 t.x.1.1.0=3",
			true,
			"[t]\n\"x\" = [ # ]\n [1], # ]\n [[], [3]\n],\n # ]\n]\ny = 2\n[u]\n"},
		"TOML inline table of several lines": {"c.toml",
			"d = {a = [{}, { # }\n}], # }\n b = 1 # }\n}\n", "d.b=3 y=2", true,
			"d = {a = [{}, { # }\n}], # }\n b = 3 # }\n}\ny = 2\n"},
		"taken by the command": {"c.json", `{"lr": 1}`, "lr=2 named=3", false, `{"lr": 2}`},
	} {
		got, _, err := argv.Fill(task.File{From: c.file, To: c.file, NewKeys: c.keys},
			[]byte(c.text), given(c.of), []string{"named"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var any map[string]any
		switch argv.Format(c.file) {
		case "YAML":
			err = yaml.Unmarshal(got, &any)
		case "JSON":
			err = json.Unmarshal(got, &any)
		case "TOML":
			err = toml.Unmarshal(got, &any)
		}
		if err != nil {
			t.Errorf("%s: %v of %s", name, err, got)
		}
	}
}

func TestFillFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text, of string
		keys           bool
		want           string
	}{
		"no key, near": {"c.yaml", "model:\n  lr: 1\n", "model.lt=2", false,
			`c.yaml: has no key model.lt; did you mean "model.lr"? Otherwise add the key to the file, write {model.lt} in the command, or set new-keys: true to have it added`},
		"no key, far": {"c.json", `{"a": 1}`, "zzzzzz=2", false,
			"c.json: has no key zzzzzz; add the key to the file, write {zzzzzz} in the command, " +
				"or set new-keys: true to have it added"},
		"list": {"c.yaml", "a: 1\nlr: [1, 2]\n", "lr=2", false,
			"c.yaml:2:5: lr: is a list, into which no single value goes; name a key below it, or " +
				"rename the parameter"},
		"mapping": {"c.json", "{\n \"model\": {\"lr\": 1}}", "model=2", false,
			"c.json:2:11: model: is a mapping, into which no single value goes; name a key below " +
				"it, or rename the parameter"},
		"TOML table": {"c.toml", "[model]\nlr = 1\n", "model=2", false,
			"model: is a mapping, into which no single value goes"},
		"TOML list": {"c.toml", "x = 1\nlr = [1]\n", "lr=2", false,
			"c.toml:2:6: lr: is a list"},
		"TOML tables": {"c.toml", "[[s]]\na = 1\n", "s=2", false, "s: is a list"},
		"alias": {"c.yaml", "a: &a {lr: 1}\nb: *a\n", "b.lr=2", false,
			"c.yaml:1:12: b.lr: is part of an alias: its value would change wherever that " +
				"stands; write the value out"},
		"inline table": {"c.toml", "d = {lr = 1}\n", "d.x=2", true,
			"c.toml: d.x: d is an inline table, into which no key is added; write x = VALUE " +
				"between its braces, or make it a table with a header, [d]"},
		"alias in itself": {"c.yaml", "x: 1\na: &a {b: *a}\n", "x=2", false,
			"c.yaml:2:11: has an alias in what it stands for, *a; write the value out"},
		"long aliases": {"c.yaml", "x: 1\na: &a\n  ? " + strings.Repeat("k", 5000) +
			"\n  : 1\nb: [*a" + strings.Repeat(",*a", 30000) + "]\n", "x=2", false,
			"c.yaml: has aliases that repeat too much"},
		"twice": {"c.yaml", "a.b: 1\na:\n  b: 2\n", "a.b=2", false,
			"c.yaml:1:6: a.b: is there twice, the second time in line 3; keep one of them"},
		"not YAML": {"c.yaml", "a: 1\nb: [\n", "a=1", false, "c.yaml:2: not YAML: "},
		"not JSON": {"c.json", "{\n  \"a\": 1,\n}", "a=1", false,
			"c.json:3:1: is not JSON: invalid character '}' looking for beginning of object key " +
				"string; correct it; JSON has no comments"},
		"JSON, cut": {"c.json", "{\"a\": 1", "a=1", false,
			"is not JSON: unexpected end of JSON input"},
		"JSON, two":  {"c.json", "{} {}", "a=1", false, "c.json:1:4: is not JSON: "},
		"JSON list":  {"c.json", "[1]", "a=1", false, "c.json:1:1: is a list, not a mapping"},
		"not TOML":   {"c.toml", "a = 1\nb = \n", "a=1", false, "c.toml:2:"},
		"empty YAML": {"c.yaml", "", "a=1", false, "c.yaml: is empty; write its keys"},
		"YAML text":  {"c.yaml", "hello\n", "a=1", false, "c.yaml:1:1: is text, not a mapping"},
		"two YAML": {"c.yaml", "a: 1\n---\na: 2\n", "a=1", false,
			"has a second document; keep one document in it"},
		"other format": {"c.ini", "a=1", "a=1", false,
			"c.ini: is of no known format; name a file that ends with .yaml, .yml, .json or .toml"},
		"below a value": {"c.yaml", "a: 1\n", "a.b=1", true,
			"c.yaml: a.b: a is a whole number; write the key into the file"},
		"long": {"c.yaml", "a: " + strings.Repeat("x", argv.MaxFile), "a=1", false,
			"c.yaml: is longer than 4 MiB; keep data in files of their own"},
	} {
		_, _, err := argv.Fill(task.File{From: c.file, To: c.file, NewKeys: c.keys}, []byte(c.text),
			given(c.of), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !argv.IsFault(err) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

func TestTypesThatChange(t *testing.T) {
	t.Parallel()
	file := map[string]string{
		"c.yaml": "n: 1\nx: 0.5\ns: adam\nb: true\nnothing: null\nd: 2020-01-01\n",
		"c.json": `{"n": 1, "x": 0.5, "s": "adam", "b": true, "nothing": null, "d": "x"}`,
		"c.toml": "n = 1\nx = 0.5\ns = \"adam\"\nb = true\nnothing = \"\"\nd = \"x\"\n",
	}
	for name, text := range file {
		of := []argv.Values{{"n", given("n=2 n=0.5")}, {"x", given("x=1 x=0.1")},
			{"s", given("s=sgd s=5")}, {"b", given("b=False! b=no")}, {"nothing",
				given("nothing=x")}, {"d", given("d=x")}}
		notes, err := argv.CheckFile(task.File{From: name, To: name}, []byte(text), of, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range notes {
			got = append(got, n.Problem)
			if n.Line == 0 {
				t.Errorf("%s: %s has no place", name, n)
			}
		}
		want := []string{`n is a whole number, and becomes a decimal number with "0.5"`,
			`s is text, and becomes a whole number with "5"`,
			`b is a boolean, and becomes text with "no"`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// FuzzFill: whatever a file holds, it is refused, or what comes out has the value at its key.
func FuzzFill(f *testing.F) {
	for _, text := range []string{"a: {b: 1}", `{"a": {"b": 1}}`, "[a]\nb = 1", "a.b = 1\n[c]\n",
		"a:\n- b: 1\n", "a: &x {b: 1}\nc: *x", "<<: {a: {b: 2}}", "x: &x {a: {b: 2}}\n<<: *x\n",
		"x: &x 1\na: {b: *x}\n", "a: {b: &x 1}\nc: *x\n", "a = [1 # ]\n]\n", "a = {b = 1}",
		"[[a]]\nb=1\n"} {
		for format := range 3 {
			f.Add(text, format, "a.b", "1e-3", true)
			f.Add(text, format, "a.0.b", "x: y", false)
		}
	}
	f.Add("a: 1", 0, "\n", "\n", true)
	f.Fuzz(func(t *testing.T, text string, format int, name, value string, keys bool) {
		if !utf8.ValidString(name) || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			t.Skip("no parameters file has it")
		}
		file := task.File{From: []string{"c.yaml", "c.json", "c.toml"}[uint(format)%3],
			NewKeys: keys}
		of := []space.Assignment{{Name: name, Value: value}}
		got, _, err := argv.Fill(file, []byte(text), of, nil)
		if err != nil {
			if !argv.IsFault(err) {
				t.Skip(err) // of the library, about what no file can hold
			}
			return
		}
		if _, _, err := argv.Fill(task.File{From: file.From}, got, of, nil); err != nil {
			t.Errorf("%q, %s=%q became %q: %v", text, name, value, got, err)
		}
	})
}
