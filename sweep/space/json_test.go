package space_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

// The stored form is a contract: sweeps are reopened years later.
func TestStoredForm(t *testing.T) {
	t.Parallel()
	s := read(t, "gpu: -1\naugment: [true, false]\nname: '<a & \"b\">'\nlr: [1e-3, 'true']\nepoch: !interval [0, 1e12, 0.5]\non: true\n")
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
		`{"version":3}`:           "its version is 3, this program knows 1 to 2",
		`{"version":1,"x":1}`:     `unknown field "x"`,
		parameter(`{"name":"a"}`): `parameter "a": it must have one of value, values and interval`,
		parameter(`{"name":"a","value":"1","values":["2"]}`):                              "it must have one of",
		parameter(`{"name":"a","values":[]}`):                                             "it must have one of",
		parameter(`{"name":"a","value":null}`):                                            "it must have one of",
		parameter(`{"name":"a","values":[null]}`):                                         "null is not a value",
		parameter(`{"name":"a","value":1}`):                                               "1 is not a value",
		parameter(`{"name":"a","value":"\u0000"}`):                                        "NUL",
		parameter(`{"name":"-a","value":"1"}`):                                            "it begins with -",
		parameter(`{"value":"1"}`):                                                        "it is empty",
		parameter(`{"name":"a","interval":[]}`):                                           "0 elements",
		parameter(`{"name":"a","interval":["1","x"]}`):                                    "x is not a number",
		parameter(`{"name":"a","interval":["1","2","0"]}`):                                "step is 0",
		parameter(`{"name":"a","value":"1"},{"name":"a","value":"1"}`):                    `parameter "a": it is there twice`,
		parameter(`{"name":"a","interval":["0","9e18"]},{"name":"b","values":["1","2"]}`): `parameter "b": with this parameter`,
	} {
		s := *read(t, "kept: [1, 2]")
		err := json.Unmarshal([]byte(stored), &s)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "read stored space: ") {
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
	if diff := cmp.Diff(`{"lr":"0.10","augment":"true","a\"b":"\u003c\n"}`, string(got)); diff != "" {
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
	f.Add([]byte(`{"version":1,"parameters":[{"name":"gpu","value":"-1"},{"name":"a","values":[true,"5"]}]}`))
	f.Add([]byte(`{"version":1,"parameters":[{"name":"e","interval":["0","1e12","0.5"]}]}`))
	f.Add([]byte(`{"version":1,"parameters":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s space.Space
		if err := json.Unmarshal(data, &s); err != nil {
			return
		}
		checkRoundTrip(t, &s)
		checkIteration(t, &s, 0, min(s.Len(), 50), min(s.Len(), 50))
		checkIteration(t, &s, max(s.Len()-50, 0), math.MaxInt64, min(s.Len(), 50))
	})
}
