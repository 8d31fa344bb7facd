package monitor_test

import (
	"encoding/json"
	"testing"

	"mlframework/sweep/monitor"
)

// A text is made of the one before line by line.
func TestEdit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{"", "a", `["a"]`},
		{"", "a\n\nb", `["a","","b"]`},
		{"a\nb\nc", "a\nb\nc", `[[0,3]]`},
		{"a\nb\nc", "a\nx\nc", `[[0,1],"x",[2,1]]`},
		{"a\nb\nc", "c\na\nb", `[[2,1],[0,2]]`},
		{"a\nb\nc\nd", "b\nd\ne", `[[1,1],[3,1],"e"]`},
		{"a\nb", "a\nb\na\nb", `[[0,2],[0,2]]`},
	} {
		got, err := json.Marshal(monitor.Edit(c.before, c.after))
		if err != nil || string(got) != c.want {
			t.Errorf("%q to %q: %s, %v; want %s", c.before, c.after, got, err, c.want)
		}
	}
}

// What a browser says that it has goes into events: only names and hashes do.
func TestReadShown(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"head=0a1b,table=2c":          "head=0a1b,table=2c",
		"table=2c,head=0a1b":          "head=0a1b,table=2c",
		"":                            "",
		"a=0\ndata: x,b=1":            "b=1",
		"=0a,x,head=,<b>=1,head=00,é": "head=00",
	} {
		if got := monitor.ReadShown(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
