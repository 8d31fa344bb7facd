package filesync_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/filesync"
	"mlframework/infra/filesync/server"
	"mlframework/projects"
)

const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestManifestsThatLeadOutAreRefused(t *testing.T) {
	t.Parallel()
	file := func(path string) projects.Entry {
		return projects.Entry{Path: path, Kind: projects.File, Mode: 0o644, Hash: emptyHash}
	}
	link := func(path, target string) projects.Entry {
		return projects.Entry{Path: path, Kind: projects.Symlink, Link: target}
	}
	folder := func(path string) projects.Entry {
		return projects.Entry{Path: path,
			Kind: projects.Dir}
	}
	for name, entries := range map[string][]projects.Entry{
		"up":                  {file("../x")},
		"up later":            {folder("a"), file("a/../../x")},
		"absolute":            {file("/tmp/x")},
		"dot":                 {file("./x")},
		"twice":               {file("a"), file("a")},
		"not sorted":          {file("b"), file("a")},
		"no folder":           {file("a/b")},
		"empty":               {file("")},
		"a NUL":               {file("a\x00b")},
		"below a link":        {link("a", "b"), file("a/x"), folder("b")},
		"below a file":        {file("a"), file("a/x")},
		"link out":            {link("a", "../x")},
		"absolute link":       {link("a", "/etc")},
		"link through a link": {link("s", "."), link("x", "s/s/../..")},
		"link without target": {link("a", "")},
		"no hash":             {{Path: "a", Kind: projects.File}},
		"sizes that disagree": {file("a"), {Path: "b", Kind: projects.File, Size: 1,
			Hash: emptyHash}},
		"a folder with a hash": {{Path: "a", Kind: projects.Dir, Hash: emptyHash}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			above := writable(t)
			root := filepath.Join(above, "root")
			_, err := connect(t, root).Push(t.Context(), &projects.Manifest{Entries: entries},
				filesync.PushOptions{})
			refused(t, err, "")
			if _, err := os.Lstat(root); err == nil && len(names(t, root)) > 1 {
				t.Errorf("made: %v", names(t, root))
			}
		})
	}
}

// A host that offers what was not asked for, or what would lead out, is not believed.
func TestOffersThatLeadOutAreRefused(t *testing.T) {
	t.Parallel()
	entry := func(kind byte, path, link string) string {
		text := func(s string) string {
			return string(binary.AppendUvarint(nil,
				uint64(len(s)))) + s
		}
		return string(kind) + text(path) + "\xa4\x03\x00\x00\x00" + text("") + text(link) +
			"\x00\x00\x00"
	}
	for name, offer := range map[string]string{
		"up":             entry('d', "0", "") + entry('f', "0/../../x", ""),
		"absolute":       entry('f', "/tmp/x", ""),
		"our own folder": entry('d', ".mlframework", ""),
		"another task":   entry('d', "1", ""),
		"no folder":      entry('f', "0/x", ""),
		"a task's link":  entry('l', "0", "../.."),
		"below a link":   entry('d', "0", "") + entry('l', "0/l", "/tmp") + entry('f', "0/l/x", ""),
		"cut off":        entry('d', "0", "")[:4],
		"unknown kind":   entry('x', "0", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, err := filesync.NewClient(&played{list: offer + "\x00"}, "/root",
				anna).Fetch(t.Context(),
				filesync.FetchOptions{Sweep: "run-1", Tasks: []int64{0}, Dir: dir})
			if cut := name == "cut off"; err == nil || strings.Contains(err.Error(),
				"broke off") != cut {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff([]string{"run-1"}, names(t, dir)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{".mlframework", ".mlframework-results"},
				names(t, filepath.Join(dir, "run-1"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzFarSide asks the far side for anything: it neither panics nor touches what is not below its
// root. ROOT in a body of JSON is the root.
func FuzzFarSide(f *testing.F) {
	dir := f.TempDir()
	tree(f, dir, map[string]string{"a": "one", "b/c": "two", "l": "-> b"})
	m := scan(f, dir)
	f.Add("PUT", m.Revision(), append(filesync.AppendEntries(nil, m.Entries), "onetwo"...))
	const of = `{"root":"ROOT","owner":"anna","cluster":"ml","folder":"outputs","sweep":"run-1",`
	f.Add("POST", "", []byte(of+`"all":true,"without":["`+m.Revision()+`"]}`))
	f.Add("POST", "files",
		[]byte(of+
			`"files":[{"path":"MC9h","size":3,"offset":1,"sum":""},{"path":"Li4v","size":1}]}`))
	f.Add("DELETE", "",
		[]byte(`{"root":"ROOT","owner":"anna","cluster":"ml","keep":["x"],"older":1}`))
	f.Add("GET", m.Revision(), []byte(nil))
	f.Fuzz(func(t *testing.T, method, name string, sent []byte) {
		above := writable(t)
		root := filepath.Join(above, "in", "root")
		tree(t, above, map[string]string{"in/beside": "x", "outside": "y"})
		tree(t, root,
			map[string]string{".mlframework-root": `{"version":1,"owner":"anna","cluster":"ml"}`,
				"outputs/run-1/0/a": "one"})
		path := "/releases"
		if method == "POST" {
			path = "/outputs"
		}
		if name != "" {
			path += "/" + url.PathEscape(name)
		}
		if method == "POST" || method == "DELETE" {
			var of struct{ Root string }
			sent = bytes.ReplaceAll(sent, []byte("ROOT"), []byte(root))
			if _ = json.Unmarshal(sent, &of); of.Root != root {
				return // the agent does what it is told where it is told to
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		q := url.Values{"root": {root}, "owner": {"anna"}, "cluster": {"ml"}, "wait": {"0s"},
			"current": {"true"}}
		r, err := http.NewRequestWithContext(ctx, method, path+"?"+q.Encode(),
			bytes.NewReader(sent))
		if err != nil {
			return
		}
		mux := http.NewServeMux()
		server.Handle(mux, server.Options{Fail: func(w http.ResponseWriter,
			err error) {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		}})
		mux.ServeHTTP(httptest.NewRecorder(), r)
		if ctx.Err() != nil {
			t.Error("it did not end")
		}
		if diff := cmp.Diff([]string{"in", "outside"}, names(t, above)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"beside", "root"}, names(t, filepath.Join(above,
			"in"))); diff != "" {
			t.Error(diff)
		}
	})
}
