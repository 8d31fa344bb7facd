package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/table"
)

// object is a mapping of the description.
type object = map[string]any

// description is docs/api.yaml.
type description struct {
	t   *testing.T
	all object
}

func describe(t *testing.T) description {
	t.Helper()
	text, err := os.ReadFile("../../../docs/api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d := description{t, object{}}
	if err := yaml.Unmarshal(text, &d.all); err != nil {
		t.Fatal(err)
	}
	return d
}

// at follows $ref, and finds a member; nil when there is none.
func (d description) at(v any, path ...string) any {
	d.t.Helper()
	for {
		m, _ := v.(object)
		if ref, ok := m["$ref"].(string); ok {
			v = d.at(d.all, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
			if v == nil {
				d.t.Fatalf("%s leads notFound", ref)
			}
			continue
		}
		if len(path) == 0 {
			return v
		}
		v, path = m[path[0]], path[1:]
	}
}

// names lists the parameters of one kind.
func (d description) names(in string, lists ...any) (names []string) {
	for _, list := range lists {
		all, _ := list.([]any)
		for _, p := range all {
			if d.at(p, "in") == in {
				names = append(names, d.at(p, "name").(string))
			}
		}
	}
	slices.Sort(names)
	return names
}

// schema finds the schema of some content, whatever its type.
func (d description) schema(content any) any {
	for _, of := range []string{"application/json", "application/x-ndjson", "text/event-stream"} {
		if s := d.at(content, "content", of, "schema"); s != nil {
			return d.at(s)
		}
	}
	return nil
}

func TestDescription(t *testing.T) {
	t.Parallel()
	d := describe(t)
	paths := d.all["paths"].(object)
	found := map[string]bool{}
	for _, r := range server.Routes() {
		what := r.Method + " " + r.Path
		found[what] = true
		op := d.at(paths[r.Path], strings.ToLower(r.Method))
		if op == nil {
			t.Errorf("docs/api.yaml does not describe %s", what)
			continue
		}
		own, shared := d.at(op, "parameters"), d.at(paths[r.Path], "parameters")
		d.same(what+": query", slices.Sorted(slices.Values(r.Query)), d.names("query", own, shared))
		d.same(what+": path", inBraces(r.Path), d.names("path", own, shared))
		headers := []string(nil)
		if !r.Asks {
			headers = []string{"Idempotency-Key", "User"}
		} else if strings.HasSuffix(r.Path, "/events") {
			headers = []string{"Last-Event-ID"}
		}
		d.same(what+": headers", headers, d.names("header", own, shared))
		d.fields(what+": body", reflect.TypeOf(r.Body), d.schema(d.at(op, "requestBody")))
		for status, answer := range d.at(op, "responses").(object) {
			if status == "default" {
				d.fields(what+": refusal", reflect.TypeFor[api.Error](), d.schema(answer))
			} else {
				d.fields(what+": "+status, reflect.TypeOf(r.Answer), d.schema(answer))
			}
		}
	}
	for path, item := range paths {
		for method := range item.(object) {
			if what := strings.ToUpper(method) + " " + path; method != "parameters" &&
				!found[what] {
				t.Errorf("docs/api.yaml describes %s, which is no route", what)
			}
		}
	}
}

func inBraces(path string) (names []string) {
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	slices.Sort(names)
	return names
}

func (d description) same(what string, want, got []string) {
	d.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		d.t.Errorf("%s (-code +docs/api.yaml):\n%s", what, diff)
	}
}

// fields compares the fields of a type with the properties of its schema, all the way down.
func (d description) fields(what string, of reflect.Type, schema any) {
	d.t.Helper()
	if of == nil || schema == nil {
		if of != nil || schema != nil {
			d.t.Errorf("%s: the code has %v, docs/api.yaml %v", what, of, schema)
		}
		return
	}
	schema = d.at(schema)
	if one, ok := d.at(schema, "oneOf").([]any); ok { // something, or null
		schema = d.at(one[0])
	}
	if all, ok := d.at(schema, "allOf").([]any); ok { // the others only narrow it
		schema = d.at(all[0])
	}
	switch of.Kind() {
	case reflect.Pointer:
		d.fields(what, of.Elem(), schema)
	case reflect.Slice:
		if _, text := reflect.Zero(of).Interface().(json.Marshaler); !text {
			d.fields(what+"[]", of.Elem(), d.at(schema, "items"))
		}
	case reflect.Struct:
		d.structFields(what, of, schema)
	}
}

// opaque are structs that write themselves, and what stands in their JSON; nil: not to be looked
// into.
var opaque = map[reflect.Type]any{
	reflect.TypeFor[time.Time]():   nil,
	reflect.TypeFor[space.Space](): nil,
	reflect.TypeFor[metric.Sample](): metric.Sample{Name: "x", Value: math.Inf(1), Step: new(int64),
		Stream: "stdout"},
}

// beside are what the JSON of structs that write themselves has beside their fields.
var beside = map[reflect.Type][]string{reflect.TypeFor[table.Row](): {"infinite", "steps",
	"positions", "value_attempts"}}

func (d description) structFields(what string, of reflect.Type, schema any) {
	if full, ok := opaque[of]; ok {
		if full != nil {
			d.same(what, jsonNames(d.t, full), properties(schema))
		}
		return
	}
	types := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.IsExported() && !f.Anonymous &&
			name != "-" {
			types[name] = f.Type
		}
	}
	names := slices.AppendSeq(slices.Clone(beside[of]), maps.Keys(types))
	slices.Sort(names)
	d.same(what, names, properties(schema))
	for name, t := range types {
		if inner := d.at(schema, "properties", name); inner != nil {
			d.fields(fmt.Sprintf("%s.%s", what, name), t, inner)
		}
	}
}

func properties(schema any) []string {
	all, _ := schema.(object)["properties"].(object)
	return slices.Sorted(maps.Keys(all))
}

func jsonNames(t *testing.T, v any) []string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var all object
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(all))
}
