package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// contract asks a server what docs/api.yaml describes, at the edges and just outside, and holds its
// answers to it.
type contract struct {
	description
	s      *site
	client *http.Client
	bad    map[string]bool // differences that were told
	asked  int
}

// TestContract makes requests from docs/api.yaml: what is valid there is never refused as
// malformed, what is not always is, with a 4xx, and every answer has a status, a type and a body
// that are described.
func TestContract(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.hire("w1", 1, well)
	h.prints("printed\n")
	id := s.submit(3)
	s.becomes(id, map[string]int64{"succeeded": 3})
	c := &contract{
		description: describe(t),
		s:           s,
		bad:         map[string]bool{},
		client: &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", s.socket())
			}}},
	}
	defer c.client.CloseIdleConnections()
	paths := c.all["paths"].(object)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		c.methods(path, paths[path].(object))
		for _, method := range []string{"get", "post", "delete"} { // reads before writes
			if op := c.at(paths[path], method); op != nil {
				c.operation(path, strings.ToUpper(method), op.(object),
					c.at(paths[path], "parameters"))
			}
		}
	}
	t.Logf("%d requests", c.asked)
}

// call is one request.
type call struct {
	method, path string
	inPath       map[string]string
	query        url.Values
	header       http.Header
	body         []byte
}

// names of what there is, so that only what is varied is wrong.
var there = map[string]string{"sweep": "train-1", "index": "0", "worker": "w1"}

func (c *contract) call(method, path string) call {
	q := url.Values{}
	if strings.HasSuffix(path, "/slots") || strings.HasSuffix(path, "/priority") {
		q.Set("n", "1") // required
	}
	k := call{method, path, maps.Clone(there), q, http.Header{}, nil}
	op := c.at(c.all["paths"], path, strings.ToLower(method))
	if schema := c.at(op, "requestBody", "content", "application/json", "schema"); schema != nil {
		k.body = c.body(path)
		k.header.Set("Content-Type", "application/json")
	}
	return k
}

// body is a valid one.
func (c *contract) body(path string) []byte {
	sub := submission(c.t, 2)
	var v any = sub
	switch {
	case strings.HasSuffix(path, "/extend"):
		v = map[string]any{"space": sub.Record.Space}
	case strings.HasSuffix(path, "/measure"):
		v = object{"metrics": []any{}, "tasks": []any{}}
	case strings.HasSuffix(path, "/prune"), strings.HasSuffix(path, "/size"):
		v = object{"tasks": []any{object{"from": 0, "to": 1}}}
	case strings.HasSuffix(path, "/reread"):
		v = object{"metrics": []any{}}
	case strings.HasSuffix(path, "/resume"), strings.HasSuffix(path, "/retry"),
		strings.HasSuffix(path, "/cancel"):
		v = object{}
	}
	text, err := json.Marshal(v)
	c.s.must(err)
	return text
}

// methods asks with those that are not described.
func (c *contract) methods(path string, item object) {
	var allowed []string
	for _, method := range []string{"DELETE", "GET", "POST"} {
		if item[strings.ToLower(method)] != nil {
			allowed = append(allowed, method)
		}
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		if slices.Contains(allowed, method) {
			continue
		}
		status, h, _ := c.ask(call{method: method, path: path, inPath: there})
		got := strings.Split(h.Get("Allow"), ", ")
		if status != http.StatusMethodNotAllowed || !slices.Equal(got, allowed) ||
			len(h.Values("Allow")) != 1 {
			c.differs("%s %s: %d, Allow %q; want 405, %v", method, path, status, h.Values("Allow"),
				allowed)
		}
	}
}

// operation varies each parameter, and the body.
func (c *contract) operation(path, method string, op object, shared any) {
	c.judge(op, c.call(method, path), "as described", true, false)
	unknown := c.call(method, path)
	unknown.query.Set("banana", "1")
	c.judge(op, unknown, "a parameter that is not described", false, false)
	own, _ := op["parameters"].([]any)
	common, _ := shared.([]any)
	for _, p := range append(slices.Clone(own), common...) {
		c.parameter(path, method, op, c.at(p).(object))
	}
	schema := c.at(op, "requestBody", "content", "application/json", "schema")
	if schema == nil {
		return
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded"} {
		wrong := c.call(method, path)
		wrong.header.Set("Content-Type", kind)
		c.judge(op, wrong, "a body of "+kind, false, false)
	}
	for what, text := range map[string]string{"no JSON": "{", "two values": "{} {}",
		"an array": "[]"} {
		wrong := c.call(method, path)
		wrong.body = []byte(text)
		c.judge(op, wrong, "a body that is "+what, false, false)
	}
	if required, _ := c.at(op, "requestBody", "required").(bool); required {
		none := c.call(method, path)
		none.body = nil
		c.judge(op, none, "no body", false, false)
	}
	var whole any
	c.s.must(json.Unmarshal(c.body(path), &whole))
	c.mutations(schema, whole, "", func(what string, body any) {
		text, err := json.Marshal(body)
		c.s.must(err)
		k := c.call(method, path)
		k.body = text
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var v any
		c.s.must(d.Decode(&v))
		fault := c.check(schema, v, true)
		c.judge(op, k, "body "+what, fault == "", false)
	})
}

// texts are tried as every parameter: the schema says which are valid.
var texts = []string{"", "0", "1", "-1", "+1", "1.5", "7", "20", "1000", "1001", "-1000", "-1001",
	"4096", "4097", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808",
	"99999999999999999999", "true", "false", "TRUE", "yes", "x", "a b", "ü", "newest", "train-1",
	"train-9", "banana", "../x", "json", "csv", "stdout", "stderr", "both", "counts", "tasks",
	"output", "succeeded", "succeeded,failed", "succeeded,,failed", "succeeded,tired",
	strings.Repeat("k", 128), strings.Repeat("k", 129)}

func (c *contract) parameter(path, method string, op, p object) {
	name, in, schema := p["name"].(string), p["in"].(string), c.at(p, "schema")
	_, semantic := c.at(schema, "format").(string) // what a schema cannot say may be refused
	for _, text := range texts {
		k := c.call(method, path)
		switch in {
		case "query":
			k.query.Set(name, text)
		case "path":
			if text == "" || text == "../x" { // another path
				continue
			}
			k.inPath[name] = text
		case "header":
			k.header[http.CanonicalHeaderKey(name)] = []string{text}
		}
		c.judge(op, k, fmt.Sprintf("%s %q", name, text),
			c.check(schema, parsed(schema.(object), text), true) == "", semantic)
	}
	if in == "query" {
		twice := c.call(method, path)
		twice.query[name] = []string{"1", "1"}
		c.judge(op, twice, name+" twice", false, false)
	}
	if required, _ := p["required"].(bool); required && in == "query" {
		none := c.call(method, path)
		none.query.Del(name)
		c.judge(op, none, "no "+name, false, false)
	}
}

// parsed is what a text stands for, by the type of its schema; the text itself when it stands for
// nothing of that type.
func parsed(schema object, text string) any {
	switch schema["type"] {
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil &&
			strconv.FormatInt(n, 10) == text {
			return json.Number(text)
		}
	case "boolean":
		if text == "true" || text == "false" {
			return text == "true"
		}
	case "array": // style form, not exploded
		var all []any
		for part := range strings.SplitSeq(text, ",") {
			all = append(all, part)
		}
		return all
	}
	return text
}

// malformed are the refusals of a request for its form.
var malformed = []int{http.StatusBadRequest, http.StatusMethodNotAllowed,
	http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}

// judge asks, and compares the answer with the description.
func (c *contract) judge(op object, k call, what string, valid, semantic bool) {
	status, h, body := c.ask(k)
	where := fmt.Sprintf("%s %s, %s", k.method, k.path, what)
	switch {
	case valid && slices.Contains(malformed, status) &&
		!(semantic && status == http.StatusBadRequest):
		c.differs("%s is valid, and refused: %d %s", where, status, body)
	case !valid && (status < 400 || status >= 500):
		c.differs("%s is not valid, and taken: %d", where, status)
	}
	response := c.at(op, "responses", strconv.Itoa(status))
	if response == nil {
		if response = c.at(op, "responses", "default"); response == nil || status < 400 {
			c.differs("%s: the status %d is not described: %s", where, status, body)
			return
		}
	}
	c.answer(where, response, status, h, body)
}

func (c *contract) answer(where string, response any, status int, h http.Header, body string) {
	content, _ := c.at(response, "content").(object)
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	described, ok := content[kind]
	if len(content) == 0 && kind == "" && body == "" {
		return
	}
	if !ok {
		c.differs("%s: %d with %q is not described: %s", where, status, h.Get("Content-Type"), body)
		return
	}
	schema := c.at(described, "schema")
	values := []string{body}
	switch kind {
	case "application/x-ndjson":
		values = slices.DeleteFunc(strings.Split(body, "\n"),
			func(l string) bool { return l == "" })
	case "application/json", "text/event-stream":
	default:
		return // text and bytes
	}
	for _, text := range values {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			c.differs("%s: %d is no JSON: %v: %s", where, status, err, text)
		} else if fault := c.check(schema, v, false); fault != "" {
			c.differs("%s: %d is not as described: %s: %s", where, status, fault, text)
		}
	}
}

// differs tells of a difference, once.
func (c *contract) differs(format string, args ...any) {
	c.t.Helper()
	text := fmt.Sprintf(format, args...)
	text = text[:min(len(text), 500)]
	if !c.bad[text] {
		c.bad[text] = true
		c.t.Error(text)
	}
}

// ask sends a request. Of a stream of events it reads the data of the first.
func (c *contract) ask(k call) (status int, h http.Header, body string) {
	c.asked++
	ctx, cancel := context.WithTimeout(c.t.Context(), limit)
	defer cancel()
	path := k.path
	for name, value := range k.inPath {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	target := "http://master/v1" + path
	if len(k.query) > 0 {
		target += "?" + k.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, k.method, target, strings.NewReader(string(k.body)))
	c.s.must(err)
	if k.header != nil {
		r.Header = k.header
	}
	begin := time.Now()
	answer, err := c.client.Do(r)
	if err != nil {
		c.t.Fatalf("%s %s after %v: %v", k.method, target, time.Since(begin), err)
	}
	defer answer.Body.Close()
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") &&
		k.method == "GET" {
		lines := bufio.NewScanner(answer.Body)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return answer.StatusCode, answer.Header, data
			}
		}
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.differs("%s %s breaks off: %v", k.method, target, err)
	}
	return answer.StatusCode, answer.Header, strings.TrimSuffix(string(text), "\n")
}
