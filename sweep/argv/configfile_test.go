package argv_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
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
// one in quotes is quoted text, ~ is null, and one in brackets JSON.
func given(text string) (all []space.Assignment) {
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		p := space.Assignment{Name: name, Value: value}
		if v, is := strings.CutSuffix(value, "!"); is {
			p.Value, p.Kind = v, space.Switch
		} else if value == "~" {
			p.Value, p.Kind = "null", space.Null
		} else if json.Valid([]byte(value)) && strings.ContainsAny(value[:1], "[{") {
			p.Kind = space.JSON
		} else if strings.HasPrefix(value, `"`) {
			p.Value, p.Kind = strings.Trim(value, `"`), space.Text
		}
		all = append(all, p)
	}
	return all
}

// TestFill compares files of YAML as text, as their comments stay, those of JSON but for white
// space, as their order and numbers stay, and those of TOML by what they mean.
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
			"# top\nname: a # the name\nmodel:\n  lr: 0.5 # slow\n  # layers of it\n  " +
				"sizes: [1, 2]\n  opt: {name: 'sgd', on: False}\nid: \"007\"\n"},
		"YAML text that others read otherwise": {"c.yml", "a: x\nb: x\nc: x\nd: x\ne: x\n",
			`a=yes b="10" c=null d=12:30 e=true`, false,
			"a: \"yes\"\nb: \"10\"\nc: \"null\"\nd: \"12:30\"\ne: \"true\"\n"},
		"YAML numbers of both versions": {"c.yaml", "a: 0.1\nb: 1e-4\nc: 1\nd: 1.0e-4\n",
			"a=1e-3 b=1e-3 c=2.5E5 d=1e5", false, "a: 1.0e-3\nb: 1e-3\nc: 2.5E+5\nd: 1.0e+5\n"},
		"YAML element of a list": {"c.yaml", "steps:\n  - size: 1\n  - size: 2\n", "steps.1.size=5",
			false, "steps:\n  - size: 1\n  - size: 5\n"},
		"YAML key with a dot": {"c.yaml", "model.lr: 1\n", "model.lr=2", false, "model.lr: 2\n"},
		"YAML new keys": {"c.yaml", "a: {b: 1}\n", "a.c=2 x.y.z=1 x.y.w=t", true,
			"a: {b: 1, c: 2}\nx:\n  \"y\":\n    z: 1\n    w: t\n"},
		"YAML empty key": {"c.yaml", "\"\": 1\na: 2\n", "a=3 b=4", true, "\"\": 1\na: 3\nb: 4\n"},
		"YAML, nested": {"c.yaml",
			"a: 1 # one\nb:\n  - 1\n  - 2\nc: {d: 3}\ne: 'x'\nf: 0.1\ng: 1\n",
			`a=[64,[1e-3,"10","yes",null,true]] b=[3] c={"d":"a:b","1":[]} e=~ ` +
				`f={"opt":{"lr":0.10}}`, false,
			"a: [64, [1.0e-3, \"10\", \"yes\", null, true]] # one\nb:\n  - 3\nc:\n  d: a:b\n  " +
				"\"1\": []\ne: null\nf: {opt: {lr: 0.10}}\ng: 1\n"},
		"YAML, below what is set": {"c.yaml", "opt: null\n", `opt={"name":"adam","lr":1} opt.lr=2`,
			false, "opt: {name: adam, lr: 2}\n"},
		"JSON, nested": {"c.json", `{"a": 1, "b": {"c": 1}, "d": [1], "e": 2}`,
			`a=[64,{"x":"<"}] b=~ d={"z":1e-3,"y":true} f.g=[[1],[]] e=~`, true,
			`{"a":[64,{"x":"<"}],"b":null,"d":{"z":1e-3,"y":true},"e":null,"f":{"g":[[1],[]]}}`},
		"TOML, nested": {"c.toml", "a = 1\nb = [1]\n[c]\nd = 1\n",
			`a=[64,["x"]] b={"x":[{"y":1e-3}]} c.d={"e":true}`, false,
			"a = [64, [\"x\"]]\nb = {x = [{y = 1e-3}]}\nc = {d = {e = true}}\n"},
		"JSON": {"c.json",
			`{"lr": 0.1, "big": 123456789012345678901, "e": 1E5, "f": 1.0, "model": {"name": "net",
				"on" : true, "n": null}, "list": [1, {"a": "]"}, {}, []], "s": "\ud83d\ude00\ud800"}`,
			"model.name=a\"b model.on=True! lr=1e-3 list.1.a=x model.n=7", false,
			`{"lr": 1e-3, "big": 123456789012345678901, "e": 1E5, "f": 1.0, "model": {"name": "a\"b",
				"on" : true, "n": 7}, "list": [1, {"a": "x"}, {}, []], "s": "\ud83d\ude00\ud800"}`},
		"JSON new keys": {"c.json", `{"a": {}, "b": {"c": 1}}`, "a.x=1 b.d=t x.y=2 x.z=3", true,
			`{"a": {"x": 1}, "b": {"c": 1, "d": "t"}, "x": {"y": 2, "z": 3}}`},
		"JSON escapes in keys": {"c.json", `{"ü\u0061": 1}`, "üa=2", false, `{"üa": 2}`},
		"JSON empty key": {"c.json", `{"": 1, "a": 2}`, "a=3 b=4", true,
			`{"": 1, "a": 3, "b": 4}`},
		"TOML": {"c.toml", `
			name = "net"
			"a.b" = 'x'
			whole = 1.0
			[model]
			lr = 0.1
			opt = {name = 'adam', on = true}
			opt2.lr = 1
			[[step]]
			size = 1
			[[step]]
			size = 2
			[[step.part]]
			sizes = [1, [2, []]]
			[model.deep]
			day = 1979-05-27
			at = 1979-05-27T07:32:00.5-07:00
			text = """
two
lines"""`,
			"name=a model.lr=.5 model.opt.name=sgd model.opt.on=False! model.opt2.lr=2 " +
				`step.1.size=5 step.1.part.0.sizes.1.0=9 a.b="1" model.deep.text=` + "\x7f", false, `
			name = "a"
			"a.b" = "1"
			whole = 1.0
			[model]
			lr = 0.5
			opt = {name = "sgd", on = false}
			opt2.lr = 2
			deep = {day = 1979-05-27, at = 1979-05-27T07:32:00.5-07:00, text = "\u007f"}
			[[step]]
			size = 1
			[[step]]
			size = 5
			part = [{sizes = [1, [9, []]]}]`},
		"TOML new keys": {"c.toml", "a = 1\n[model]\nlr = 1\nd = {x = 1}\n[x]\n",
			"b=2 model.y=t x.z=1 new.k=0.5 model.d.y=2", true, "a = 1\nb = 2\nnew.k = 0.5\n" +
				"[model]\nlr = 1\ny = \"t\"\nd = {x = 1, y = 2}\n[x]\nz = 1\n"},
		"taken by the command": {"c.json", `{"lr": 1}`, "lr=2 named=3", false, `{"lr": 2}`},
	} {
		got, _, err := argv.Fill(task.File{From: c.file, To: c.file, NewKeys: c.keys},
			[]byte(c.text), given(c.of), []string{"named"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(meaning(t, c.file, c.want), meaning(t, c.file, string(got))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Values that nobody sets keep their meaning, whatever their style.
func TestFillKeepsOtherValues(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"null in a flow":      "lr: 1\nopt: {sched: , wd: 1}\nset: {a, b}\n",
		"time in a flow":      "lr: 1\nopt: {at: 2001-12-14 21:59:43, list: [2001-12-14 21:59:43]}\n",
		"folded text":         "lr: 1\ntext: >\n  one\n  line\n\n    further in\n    again\n\n  end\n",
		"folded text, kept":   "lr: 1\ntext: >+\n  one\n  line\n\nend: 1\n",
		"folded text, spaces": "lr: 1\ntext: >2\n   one\n   line\n",
	} {
		var want, got map[string]any
		if err := yaml.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		want["lr"] = 2
		filled, _, err := argv.Fill(task.File{From: "c.yaml", To: "c.yaml"}, []byte(text),
			given("lr=2"), nil)
		if err != nil || yaml.Unmarshal(filled, &got) != nil {
			t.Fatalf("%s: %s, %v", name, filled, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s\nwant -, got +\n%s", name, filled, diff)
		}
	}
}

// Files as public training programs have them keep all but what is set.
func TestFillPublicFiles(t *testing.T) {
	t.Parallel()
	for file, c := range map[string]struct {
		of     string
		values []string // before and after
	}{
		"train.yaml": {"seed=1 model.dropout=0.0 teacher.n_layer=24 optimizer.learning_rate=6e-4 " +
			"optimizer.betas.1=0.99 data.0.weight=1.0 compile=False! resume=last",
			[]string{"1337", "1", "0.2 ", "0.0 ", "12", "24", "1e-3", "6e-4", "0.95", "0.99",
				"0.7", "1.0", "yes", "False", "~", "last"}},
		"config.json": {"hidden_size=1024 id2label.1=good initializer_range=1e-2 pad_token_id=0 " +
			"rope_scaling.factor=4.0", []string{"768", "1024", `"positive"`, `"good"`, "2e-2", "1e-2",
			"null", "0", "2.0", "4.0"}},
		"pyproject.toml": {"project.version=0.4.0 tool.train.lr=1e-4 tool.train.clip=1.0 " +
			"tool.train.dataset.size.1=512 tool.train.stage.1.augment=False!", []string{
			"0.3.0", "0.4.0", "3e-4", "1e-4", "inf", "1.0", "256]", "512]", "true", "false"}},
	} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := argv.Fill(task.File{From: file, To: file}, text, given(c.of), nil)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		want := meaning(t, file, strings.NewReplacer(c.values...).Replace(string(text)))
		have := meaning(t, file, string(got))
		if file == "train.yaml" { // comments and all, but for white space
			want, have = strings.Fields(want.(string)), strings.Fields(have.(string))
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

// meaning is what counts of a file.
func meaning(t *testing.T, file, text string) (m any) {
	t.Helper()
	var err error
	switch path.Ext(file) {
	case ".json":
		var b bytes.Buffer
		err = json.Compact(&b, []byte(text))
		m = b.String()
	case ".toml":
		err = toml.Unmarshal([]byte(text), &m)
	default:
		err = yaml.Unmarshal([]byte(text), &m)
		m = text
	}
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return m
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
			"c.yaml:2:5: lr: is a list, into which no single value goes; name a key below it, " +
				"rename the parameter, or write a list as one value, lr: [[64, 64]]"},
		"mapping": {"c.json", "{\n \"model\": {\"lr\": 1}}", "model=2", false,
			"c.json:2:11: model: is a mapping, into which no single value goes; name a key below " +
				"it, rename the parameter, or write a mapping as one value, model: [{name: adam}]"},
		"part of an alias": {"c.yaml", "a: [&x 1, 2]\nb: *x\n", "a=[3]", false,
			"c.yaml:2:4: a: the alias *x has a part of its value, which is replaced; write the " +
				"value out here"},
		"part of a merge": {"c.yaml", "a: {b: &x {c: 1}}\nd: {<<: *x}\n", "a=~", false,
			"c.yaml:2:9: a: the alias *x has a part of its value, which is replaced"},
		"TOML null": {"c.toml", "a = 1\n", "a=~", false,
			"c.toml:1:5: a: TOML has no null; leave the key out of the file, and the parameter " +
				"out where it is null (when), or use a file in YAML or JSON"},
		"TOML null within": {"c.toml", "a = 1\n", `b=[{"c":null}]`, true,
			"c.toml: b: TOML has no null"},
		"one below before": {"c.json", `{"a": {"b": 1}}`, `a.b=2 a={"c":1}`, false,
			"c.json:1:7: a: replaces a parameter below it; put a before it in the parameters file"},
		"TOML table": {"c.toml", "[model]\nlr = 1\n", "model=2", false,
			"c.toml:1:2: model: is a mapping, into which no single value goes"},
		"TOML list": {"c.toml", "x = 1\nlr = [1]\n", "lr=2", false,
			"c.toml:2:1: lr: is a list"},
		"TOML tables": {"c.toml", "[[s]]\na = 1\n", "s=2", false, "c.toml:1:3: s: is a list"},
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

// TestNestedTypes notes lists where the file has one value, and the text "null" where it has null.
func TestNestedTypes(t *testing.T) {
	t.Parallel()
	of := []argv.Values{{"wd", given("wd=0.1 wd=null")}, {"lr", given("lr=~ lr=1 lr=[1]")},
		{"layers", given("layers=[1] layers=~")}}
	for text, want := range map[string]string{
		`{"wd": null, "lr": 1, "layers": [64]}`: `c.json:1:8: wd is null, and becomes the text ` +
			`"null"; for null write it without quotes; c.json:1:20: lr is a whole number, and ` +
			`becomes a list with "[1]"`,
		`{"wd": null, "lr": [1], "layers": null}`: `! c.json:1:20: lr: is a list, into which no ` +
			`single value goes; name a key below it, rename the parameter, or write a list as ` +
			`one value, lr: [[64, 64]]`,
	} {
		notes, err := argv.CheckFile(task.File{From: "c.json"}, []byte(text), of, nil)
		var all []string
		for _, n := range notes {
			all = append(all, n.String())
		}
		got := strings.Join(all, "; ")
		if err != nil {
			got = "! " + err.Error()
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

// TestNestedValuesKeepTheirMeaning puts lists and mappings of odd texts into files of each format.
func TestNestedValuesKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	texts := []any{"a, b", "x: y", "#c", " # d", "- e", "[", "{f", "", "two\nlines\n", "yes",
		"null", "~", "12:30", "2020-01-01", "1e-3", "0x10", "'", `"`, "\\", "&a", "*a", "!t", "%",
		"@", "`", "|", ">", "\t", " g ", "é", "\u2028", "\x7f", "<<"}
	want := map[string]any{"list": texts, "n": 1.5, "on": true, "empty": []any{},
		"none": map[string]any{}, "deep": []any{[]any{map[string]any{"a": texts}}}}
	for _, s := range texts {
		want["key "+s.(string)] = s
		want[s.(string)] = s
	}
	value, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"c.yaml": "a: 1\nb: {c: 2}\nd:\n  e: [1]\n",
		"c.json": `{"a": 1, "b": {"c": 2}, "d": {"e": [1]}}`,
		"c.toml": "a = 1\nb = {c = 2}\n[d]\ne = [1]\n"} {
		var of []space.Assignment
		for _, name := range []string{"a", "b.c", "d.e", "new.key"} {
			of = append(of, space.Assignment{Name: name, Value: string(value), Kind: space.JSON})
		}
		filled, _, err := argv.Fill(task.File{From: file, NewKeys: true}, []byte(text), of, nil)
		var got map[string]any
		switch {
		case err != nil:
		case file == "c.json":
			err = json.Unmarshal(filled, &got)
		case file == "c.toml":
			err = toml.Unmarshal(filled, &got)
		default:
			err = yaml.Unmarshal(filled, &got)
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		all := map[string]any{"a": want, "b": map[string]any{"c": want},
			"d": map[string]any{"e": want}, "new": map[string]any{"key": want}}
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("%s: want -, got +\n%s", file, diff)
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
