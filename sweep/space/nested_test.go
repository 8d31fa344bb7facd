package space_test

import (
	"strings"
	"testing"

	"mlframework/sweep/space"
)

// TestNestedValues has lists, mappings and null as values in every style.
func TestNestedValues(t *testing.T) {
	t.Parallel()
	const file = `layers: [[64, 64], &l [128]]
opt:
  - {name: adam, lr: 1e-3, betas: [.9, 0.999], "the: key": "1"}
  - name: "s, g'd"
    nested: {on: True, off: null, layers: *l}
wd: [null, 0.1]
`
	s := read(t, file)
	checkRoundTrip(t, s)
	const adam, sgd = `{"name":"adam","lr":1e-3,"betas":[0.9,0.999],"the: key":"1"}`,
		`{"name":"s, g'd","nested":{"on":true,"off":null,"layers":[128]}}`
	for style, want := range map[space.Style][2]string{
		{}: {"--layers=[64,64] --opt=" + adam, "--layers=[128] --opt=" + sgd + " --wd=0.1"},
		{Space: true}: {"--layers [64,64] --opt " + adam,
			"--layers [128] --opt " + sgd + " --wd 0.1"},
		{Form: space.Hydra}: {
			`layers=[64,64] opt={name:adam,lr:1e-3,betas:[0.9,0.999],the\:\ key:'1'} wd=null`,
			`layers=[128] opt={name:'s, g\'d',nested:{on:true,off:null,layers:[128]}} wd=0.1`},
		{Form: space.None}: {"", ""},
	} {
		flags := s.Flags(style)
		for i, point := range []int64{0, s.Len() - 1} {
			if got := strings.Join(flags.Append(nil, point), " "); got != want[i] {
				t.Errorf("%+v: %s\nwant %s", style, got, want[i])
			}
		}
	}
	var lines []string
	for _, p := range s.Parameters() {
		lines = append(lines, p.String())
	}
	if want := "layers: [64,64], [128]\nopt: " + adam + ", " + sgd +
		"\nwd: null, 0.1"; strings.Join(lines, "\n") != want {
		t.Errorf("%s\nwant %s", strings.Join(lines, "\n"), want)
	}
}

// TestNestedValuesInRules looks for values that rules and points name.
func TestNestedValuesInRules(t *testing.T) {
	t.Parallel()
	const values = "a: [[1, 2], {b: 1}, null, \"null\", x]\n---\n"
	for file, want := range map[string]string{
		values + "exclude: {a: [[1, 2], null]}\n":     `{"b":1} null x`,
		values + "exclude: {a: [{b: 1}, \"null\"]}\n": "[1,2] null x",
		values + "where: a != null\n":                 `[1,2] {"b":1} x`,
		values + "where: a = \"[1,2]\"\n":             "[1,2]",
		values + "include: [{a: [[1, 2]]}, {a: [[3]]}]\nexclude: {a: x}\n": "[1,2] [3] " +
			`{"b":1} null null`,
		"- {a: [[1, 2]]}\n- {a: [{b: 1}]}\n- {a: null}\n- {a: [[1, 2]]}\n": `[1,2] {"b":1} null`,
		"a: [[1, 2], [1, 2], 1]\n":  "[1,2] [1,2] 1",
		"a: [[1, 2]]\n":             "[1,2]",
		"a: null\n":                 "null",
		"a: [{<<: {b: 1}, c: 2}]\n": `{"b":1,"c":2}`,
		"a: [[1, 2], [3]]\nb: [x, y]\n---\nzip: [a, b]": "[1,2] [3]",
	} {
		s := read(t, file)
		checkRoundTrip(t, s)
		var got []string
		for i := range s.Len() {
			got = append(got, s.Point(i)[0].Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s\nwant %s", file, strings.Join(got, " "), want)
		}
	}
}

// TestNestedValuesAdded compares a file with an earlier one, by flags and in files.
func TestNestedValuesAdded(t *testing.T) {
	t.Parallel()
	for _, rules := range []string{"", "---\nrepeat: seed\n"} {
		before := read(t, "a: [[1, 2], {b: 1}]\nseed: [1, 2]\n"+rules)
		after := read(t, "a: [{b: 1}, [1,2], [1, 2, 3], null, \"null\"]\nseed: [1, 2]\n"+rules)
		fresh := func(style space.Style, others ...*space.Space) (all []string) {
			parts, err := after.Without(style, others...)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range parts {
				for i := range p.Len() {
					if point := p.Point(i); point[1].Value == "1" {
						all = append(all, point[0].Value+string(point[0].Kind))
					}
				}
			}
			return all
		}
		for _, form := range []space.Form{"", space.Hydra, space.None} {
			const want = "[1,2,3]json nullnull null"
			if got := strings.Join(fresh(space.Style{Form: form}, before), " "); got != want {
				t.Errorf("%q %s: %s, want %s", rules, form, got, want)
			}
		}
		none := read(t, "seed: [1, 2]\n"+rules)
		if got := strings.Join(fresh(space.Style{}, before, none), " "); got != "[1,2,3]json null" {
			t.Errorf("%q: %s: null is no flag", rules, got)
		}
	}
}

// TestHydraText quotes text that Hydra would not read as itself.
func TestHydraText(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"x": "x", "a b": "'a b'", "a,b": "'a,b'", "x=y": "'x=y'", "50%": "50%", "a@b": "'a@b'",
		"#1": "'#1'", " s": "' s'", "介绍": "'介绍'", "it's": `'it\'s'`, `a\`: `'a\\'`,
		`\'\n`: `'\\\'\n'`, "": "", "[64]": "[64]", "[64, 64]": "[64, 64]", "{a: 1}": "{a: 1}",
		"null": "null", "'a, b'": "'a, b'", `"a, b"`: `"a, b"`, "${a.b}": "${a.b}",
		"choice(a,b)": "choice(a,b)", "f(x)": "'f(x)'", "data/x.csv": "data/x.csv",
		"http://h:80": "http://h:80", "2020-01-01": "2020-01-01",
	} {
		quoted := strings.ReplaceAll(value, "'", "''")
		s := read(t, "a: !!str '"+quoted+"'\n")
		if got := argvs(s, space.Style{Form: space.Hydra}); got != "a="+want {
			t.Errorf("%q: %s, want a=%s", value, got, want)
		}
	}
	s := read(t, "a: ['10', 10, True, null, 1e-3]\n")
	if got, want := argvs(s, space.Style{Form: space.Hydra}),
		"a='10' | a=10 | a=True | a=null | a=1e-3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
