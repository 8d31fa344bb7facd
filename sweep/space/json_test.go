package space_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

// The stored form is a contract: what it stands for changes with its version only.
func TestStoredForm(t *testing.T) {
	t.Parallel()
	s := read(t,
		"gpu: -1\naugment: [true, false]\nname: '<a & \"b\">'\nlr: [1e-3, 'true']\nepoch: "+
			"!interval [0, 1e12, 0.5]\non: true\n")
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"parameters":[{"name":"gpu","value":"-1"},{"name":"augment","values":[true,false]},` +
		`{"name":"name","value":"\u003ca \u0026 \"b\"\u003e"},{"name":"lr","values":["1e-3","true"]},` +
		`{"name":"epoch","interval":["0","1e12","0.5"]},{"name":"on","value":true}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	checkRoundTrip(t, s)
	checkRoundTrip(t, new(space.Space))
}

// So is that of rules.
func TestStoredFormOfRules(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"a: [1, 2]\nb: [1, 2]\no: [sgd, adam]\nm: '7'\ns: [1, 2]\n---\nzip: [[a, b]]\nwhere: a * " +
			"s <= 2\nwhen: {m: o == 'sgd'}\nexclude: [{o: [adam], s: 2}, a = 9]\n" +
			"include: [{a: 0.5, b: 1, o: adam, s: 1}]\nrepeat: s\nsample: 3\nseed: 7\n": `{"version":1,"parameters":[{"name":"a","values":["1","2"]},` +
			`{"name":"b","values":["1","2"]},{"name":"o","values":["sgd","adam"]},{"name":"m","value":{"text":"7"}},{"name":"s","values":["1","2"]}],` +
			`"zip":[["a","b"]],"rules":[{"where":"a * s \u003c= 2"},{"when":"o == 'sgd'","parameter":"m"},{"values":[{"parameter":"o","values":["adam"]},` +
			`{"parameter":"s","values":["2"]}]},{"exclude":"a = 9"}],"include":[["0.5","1","adam",null,"1"]],"repeat":["s"],"sample":{"points":3,"seed":7},"count":5}`,
		"- {a: 1, b: true}\n- {a: 2}\n": `{"version":1,"parameters":[{"name":"a","values":["1","2"]},{"name":"b","values":[true]}],` +
			`"listed":{"parameters":["a","b"],"rows":[[0,0],[1,-1]]},"count":2}`,
	} {
		s := read(t, file)
		got, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("want -, got +\n%s", diff)
		}
		checkRoundTrip(t, s)
	}
	parts, err := read(t, "a: !interval [0, 100]\n").Without(space.Style{},
		read(t, "a: !interval [0, 1000]\n---\nwhere: a > 3 and a != 50\n"))
	if err != nil || len(parts) != 1 {
		t.Fatalf("%d parts: %v", len(parts), err)
	}
	got, err := json.Marshal(parts[0])
	if want :=
		`{"version":1,"parameters":[{"name":"a","interval":["0","100"]}],"kept":"AAQuAQ","count":5}`; err != nil || string(got) != want {
		t.Errorf("a part is %s, want %s: %v", got, want, err)
	}
}

func TestStoredRulesAreRefused(t *testing.T) {
	t.Parallel()
	const a = `{"version":1,"parameters":[{"name":"a","values":["1","2"]},{"name":"b","values":["1","2","3"]}],`
	for stored, want := range map[string]string{
		a + `"rules":[{"where":"a > 1"}],"count":6}`:                                       "this program makes 3 points of it, the one that stored it made 6",
		a + `"rules":[{"where":"c > 1"}],"count":6}`:                                       `it has no parameter "c"`,
		a + `"rules":[{"where":"a >"}],"count":6}`:                                         "a value is missing",
		a + `"rules":[{"where":"a > 5"}],"count":6}`:                                       "leaves no combination",
		a + `"rules":[{}],"count":6}`:                                                      "a rule is empty",
		a + `"rules":[{"when":"b = 1","parameter":"x"}]}`:                                  `it has no parameter "x"`,
		a + `"rules":[{"when":"b = 1","parameter":"a"},{"when":"a = 1","parameter":"b"}]}`: "conditions look at each other",
		a + `"zip":[["a","b"]],"count":6}`:                                                 `parameter "b" cannot be in its group of zip`,
		a + `"zip":[["a"]],"count":6}`:                                                     "a group of zip has fewer than two parameters",
		a + `"zip":[["a","x"]],"count":6}`:                                                 `it has no parameter "x"`,
		a + `"listed":{"parameters":["a"],"rows":[[2]]}}`:                                  `value 2 of "a" is not there`,
		a + `"listed":{"parameters":["a"],"rows":[[0,1]]}}`:                                "has not as many values as parameters",
		a + `"listed":{"parameters":["a"],"rows":[]}}`:                                     "its list of points is empty",
		a + `"listed":{"parameters":["a","a"],"rows":[[0,1]]}}`:                            `parameter "a" cannot be in its list of points`,
		a + `"include":[["1"]],"count":6}`:                                                 "has not as many values as there are parameters",
		a + `"repeat":["x"],"count":6}`:                                                    `it has no parameter "x"`,
		a + `"sample":{"points":0,"seed":1},"count":6}`:                                    "out of range",
		a + `"limit":-1,"count":6}`:                                                        "out of range",
		a + `"kept":"!","count":6}`:                                                        "illegal base64",
		a + `"kept":"AA","count":6}`:                                                       "its list of kept points is not one",
		a + `"kept":"AAk","count":9}`:                                                      "it has not all the points that it keeps",
	} {
		var s space.Space
		if err := json.Unmarshal([]byte(stored), &s); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", stored, err, want)
		}
	}
}

// checkRoundTrip stores and reopens a space and compares all that can be seen of both.
func checkRoundTrip(t *testing.T, s *space.Space) {
	t.Helper()
	stored, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again space.Space
	if err := json.Unmarshal(stored, &again); err != nil {
		t.Fatalf("%s: %v", stored, err)
	}
	if again.Len() != s.Len() {
		t.Fatalf("%d points, stored %d", s.Len(), again.Len())
	}
	describe := func(s *space.Space) (lines []string) {
		for _, p := range s.Parameters() {
			lines = append(lines, string(p.Kind())+" "+p.String())
		}
		return lines
	}
	if diff := cmp.Diff(describe(s), describe(&again)); diff != "" {
		t.Errorf("before -, after +\n%s", diff)
	}
	for _, i := range []int64{0, s.Len() / 2, s.Len() - 1} {
		if diff := cmp.Diff(s.Point(i), again.Point(i)); diff != "" {
			t.Errorf("point %d: before -, after +\n%s", i, diff)
		}
	}
	if twice, err := json.Marshal(&again); err != nil || string(twice) != string(stored) {
		t.Errorf("stored again: %s, %v", twice, err)
	}
}

func TestStoredFormRefusesWhatItDidNotWrite(t *testing.T) {
	t.Parallel()
	parameter := func(p string) string { return `{"version":1,"parameters":[` + p + `]}` }
	for stored, want := range map[string]string{
		`null`:                    "it has no version",
		`{}`:                      "it has no version",
		`[]`:                      "cannot unmarshal array",
		`{"version":"1"}`:         "cannot unmarshal string",
		`{"version":4}`:           "its version is 4, this program knows 1",
		`{"version":1,"x":1}`:     `unknown field "x"`,
		parameter(`{"name":"a"}`): `parameter "a": it must have one of value, values and interval`,
		parameter(
			`{"name":"a","value":"1","values":["2"]}`): "it must have one of",
		parameter(
			`{"name":"a","values":[]}`): "it must have one of",
		parameter(
			`{"name":"a","value":null}`): "it must have one of",
		parameter(
			`{"name":"a","values":[null]}`): "null is not a value",
		parameter(
			`{"name":"a","value":1}`): "1 is not a value",
		parameter(`{"name":"a","value":"\u0000"}`): "NUL",
		parameter(
			`{"name":"-a","value":"1"}`): "it begins with -",
		parameter(
			`{"value":"1"}`): "it is empty",
		parameter(
			`{"name":"a","interval":[]}`): "0 elements",
		parameter(
			`{"name":"a","interval":["1","x"]}`): "x is not a number",
		parameter(
			`{"name":"a","interval":["1","2","0"]}`): "step is 0",
		parameter(
			`{"name":"a","value":"1"},{"name":"a","value":"1"}`): `parameter "a": it is there twice`,
		parameter(
			`{"name":"a","interval":["0","9e18"]},{"name":"b","values":["1","2"]}`): `parameter "b": with this parameter`,
	} {
		s := *read(t, "kept: [1, 2]")
		err := json.Unmarshal([]byte(stored), &s)
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "read stored space: ") {
			t.Errorf("%s: got %v, want %s", stored, err, want)
		}
		if s.Len() != 2 {
			t.Errorf("%s: the space was changed", stored)
		}
	}
	var s space.Space
	if err := s.UnmarshalJSON([]byte(`{"version":1,"parameters":[]} {}`)); err == nil {
		t.Error("trailing content: no error")
	}
}

func TestPointAsJSON(t *testing.T) {
	t.Parallel()
	s := read(t, "lr: 0.10\naugment: true\n\"a\\\"b\": \"<\\n\"\n")
	got, err := json.Marshal(s.Point(0))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"lr":"0.10","augment":"true","a\"b":"\u003c\n"}`,
		string(got)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	if got, _ := json.Marshal(new(space.Space).Point(0)); string(got) != "{}" {
		t.Errorf("the empty point is %s", got)
	}
	if _, err := json.Marshal(space.Point{{Name: "a", Value: "\xff"}}); err == nil {
		t.Error("invalid UTF-8: no error")
	}
}

func FuzzStored(f *testing.F) {
	f.Add([]byte(
		`{"version":1,"parameters":[{"name":"gpu","value":"-1"},{"name":"a","values":[true,"5"]}]}`))
	f.Add([]byte(`{"version":1,"parameters":[{"name":"e","interval":["0","1e12","0.5"]}]}`))
	f.Add([]byte(`{"version":1,"parameters":null}`))
	f.Add([]byte(
		`{"version":1,"parameters":[{"name":"a","values":["1","2"]},{"name":"b","values":["1","2"]}],"rules":[{"where":"a < b"}],"kept":"AAE","count":1}`))
	f.Add([]byte(
		`{"version":1,"parameters":[{"name":"a","values":["1","2"]}],"listed":{"parameters":["a"],"rows":[[0],[1],[-1]]},"limit":2,"count":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s space.Space
		if err := json.Unmarshal(data, &s); err != nil {
			return
		}
		checkRoundTrip(t, &s)
		for i := range min(s.Len(), 50) {
			checkArguments(t, &s, i)
			checkArguments(t, &s, s.Len()-1-i)
		}
	})
}
