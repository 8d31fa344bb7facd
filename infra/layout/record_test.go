package layout_test

import (
	"reflect"
	"strings"
	"testing"

	"mlframework/infra/layout"
)

const record = `{"version":1,"cluster":"c","owner":"anna","master":"gpu1","hosts":[{"name":"gpu1","address":"anna@gpu1","worker":false},` +
	`{"name":"gpu2","address":"anna@[2001:db8::2]:2222","worker":true},` +
	`{"name":"this","address":"local","worker":true}],"broker_port":5671,"monitor_port":5555,` +
	`"images":[{"ref":"python","digest":"sha256:` + digits + `",` +
	`"ids":{"amd64":["sha256:` + digits + `"]}}]}`

const digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// A record is the word of the master's host.
func TestRecordsThatCannotBe(t *testing.T) {
	if r, err := layout.ParseRecord(record, "cluster.json"); err != nil || len(r.Hosts) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, c := range []struct{ was, is string }{
		{`"name":"gpu2"`, `"name":"../gpu2"`}, {`"name":"gpu2"`, `"name":"gpu1"`},
		{`"name":"gpu2"`, `"name":"-o"`}, {`"name":"gpu2"`, `"name":""`},
		{`"anna@gpu1"`, `"-oProxyCommand=x"`}, {`"anna@gpu1"`, `"anna@gpu1 x"`},
		{`"anna@gpu1"`, `"a\u001b[31m"`},
		{`5671`, `70000`}, {`5555`, `-1`}, {`"master":"gpu1"`, `"master":"gpu9"`},
		{`"version":1`, `"version":2`},
		{`"digest":"sha256:`, `"digest":"sha256:x`}, {`"digest":"sha256:`, `"digest":":`},
		{`"amd64":["sha256:`, `"amd64":["@`}, {`{"version"`, `["version"`},
	} {
		changed := strings.Replace(record, c.was, c.is, 1)
		if changed == record {
			t.Fatalf("%s is not there", c.was)
		}
		if r, err := layout.ParseRecord(changed, "cluster.json"); err == nil {
			t.Errorf("%s for %s: %+v", c.is, c.was, r)
		}
	}
}

// FuzzRecord: what is taken for a record is written and read again as the same.
func FuzzRecord(f *testing.F) {
	f.Add(record)
	f.Add("")
	f.Add(`{"version":1}`)
	f.Add(`{"version":1,"images":[]}`)
	f.Add(`{"version":1,"images":[{"ref":"x","ids":{}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := layout.ParseRecord(text, "cluster.json")
		if err != nil || text == "" {
			return
		}
		again := string(r.Encode())
		if second, err := layout.ParseRecord(again, "cluster.json"); err != nil ||
			!reflect.DeepEqual(r, second) {
			t.Fatalf("%+v was %+v, %v", second, r, err)
		}
	})
}

// Two records differ when an image does, also where its digest is the same.
func TestRecordsThatDiffer(t *testing.T) {
	t.Parallel()
	with := func(digest, id string) layout.Record {
		return layout.Record{Images: []layout.RecordImage{{Ref: "python", Digest: digest,
			IDs: map[string][]string{"amd64": {id}}}}}
	}
	a := with("sha256:"+digits, "sha256:"+digits)
	last := digits[1:] + "0" // what people are shown of it differs at the end alone
	if !a.Equal(with("sha256:"+digits, "sha256:"+digits)) {
		t.Error("a record differs from itself")
	}
	for _, b := range []layout.Record{{}, with("", "sha256:"+digits), with("sha256:"+digits,
		"sha256:"+last),
		with("sha256:"+digits[:63]+"0", "sha256:"+digits)} {
		if a.Equal(b) || b.Equal(a) {
			t.Errorf("%+v", b)
		}
	}
	if text := a.Images[0].String(); text != "sha256:0123456789ab" {
		t.Error(text)
	}
	if text := with("", "sha256:"+
		digits).Images[0].String(); text != "sha256:0123456789ab (amd64)" {
		t.Error(text)
	}
}
