package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// check holds a value to a schema, as far as docs/api.yaml uses JSON Schema: "" when it fits, else
// what does not. A request may have no fields that are not described.
func (d description) check(schema, v any, request bool) string {
	s, _ := d.at(schema).(object)
	if s == nil {
		return ""
	}
	if all, ok := s["allOf"].([]any); ok {
		for i, part := range all {
			if fault := d.check(part, v, request && i == 0); fault != "" {
				return fault
			}
		}
		return ""
	}
	if one, ok := s["oneOf"].([]any); ok {
		for _, o := range one {
			if d.check(o, v, request) == "" {
				return ""
			}
		}
		return fmt.Sprintf("%v is none of oneOf", v)
	}
	if not := s["not"]; not != nil && d.check(not, v, request) == "" {
		return fmt.Sprintf("%v is what it must not be", v)
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		return fmt.Sprintf("%v is none of %v", v, enum)
	}
	if !hasType(s["type"], v) {
		return fmt.Sprintf("%v is no %v", v, s["type"])
	}
	switch v := v.(type) {
	case string:
		return checkText(s, v)
	case json.Number, float64:
		return checkNumber(s, number(v))
	case []any:
		return d.checkArray(s, v, request)
	case map[string]any:
		return d.checkObject(s, v, request)
	}
	return ""
}

func number(v any) *big.Float {
	f, _, err := big.ParseFloat(fmt.Sprint(v), 10, 128, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return f
}

func hasType(types any, v any) bool {
	if types == nil {
		return true
	}
	all, many := types.([]any)
	if !many {
		all = []any{types}
	}
	is := "null"
	switch v := v.(type) {
	case string:
		is = "string"
	case bool:
		is = "boolean"
	case json.Number, float64:
		is = "number"
		if number(v).IsInt() && slices.Contains(all, any("integer")) {
			is = "integer"
		}
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	}
	return slices.Contains(all, any(is))
}

func checkText(s object, v string) string {
	if n, ok := s["minLength"].(int); ok && utf8.RuneCountInString(v) < n {
		return fmt.Sprintf("%q is too short", v)
	}
	if n, ok := s["maxLength"].(int); ok && utf8.RuneCountInString(v) > n {
		return fmt.Sprintf("%q is too long", v)
	}
	if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
		return fmt.Sprintf("%q does not match %s", v, p)
	}
	if _, err := regexp.Compile(v); s["format"] == "regex" && err != nil {
		return fmt.Sprintf("%q is not a regular expression", v)
	}
	if _, err := time.Parse(time.RFC3339, v); s["format"] == "date-time" &&
		(err != nil || !strings.HasSuffix(v, "Z")) {
		return fmt.Sprintf("%q is no time in UTC", v)
	}
	return ""
}

func checkNumber(s object, v *big.Float) string {
	if least := s["minimum"]; least != nil && v.Cmp(number(least)) < 0 {
		return fmt.Sprintf("%v is less than %v", v, least)
	}
	if most := s["maximum"]; most != nil && v.Cmp(number(most)) > 0 {
		return fmt.Sprintf("%v is more than %v", v, most)
	}
	return ""
}

func (d description) checkArray(s object, v []any, request bool) string {
	if n, ok := s["minItems"].(int); ok && len(v) < n {
		return "there are too few items"
	}
	if n, ok := s["maxItems"].(int); ok && len(v) > n {
		return "there are too many items"
	}
	first, _ := s["prefixItems"].([]any)
	for i, item := range v {
		schema := s["items"]
		if i < len(first) {
			schema = first[i]
		}
		if fault := d.check(schema, item, request); fault != "" {
			return fmt.Sprintf("[%d]: %s", i, fault)
		}
	}
	return ""
}

func (d description) checkObject(s object, v map[string]any, request bool) string {
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Sprintf("%s is missing", name)
		}
	}
	dependent, _ := s["dependentRequired"].(object)
	for name, all := range dependent {
		given := v[name] != nil && v[name] != "" // an empty text says as much as none
		for _, other := range all.([]any) {
			if on, _ := v[other.(string)].(string); given && on == "" {
				return fmt.Sprintf("%s without %s", name, other)
			}
		}
	}
	known, _ := s["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		schema, ok := known[name]
		if !ok {
			schema = s["additionalProperties"]
			if fault := d.check(s["propertyNames"], name, request); fault != "" {
				return fault
			}
		}
		if !ok && schema == nil && known != nil && request {
			return name + " is not described"
		}
		if fault := d.check(schema, v[name], request); fault != "" {
			return name + ": " + fault
		}
	}
	return ""
}

// mutations calls each with changes of a valid value: fields that are missing, unknown or of
// another type, and the edges of numbers and texts.
func (d description) mutations(schema, v any, where string, each func(what string, v any)) {
	s, _ := d.at(schema).(object)
	if all, ok := s["allOf"].([]any); ok { // the first has the fields
		s = d.at(all[0]).(object)
	}
	for _, c := range candidates(s) {
		each(fmt.Sprintf("%s: %.80v", where, c), c)
	}
	m, ok := v.(map[string]any)
	known, _ := s["properties"].(object)
	if !ok || known == nil {
		return
	}
	with := func(name string, value any, there bool) map[string]any {
		changed := maps.Clone(m)
		if changed[name] = value; !there {
			delete(changed, name)
		}
		return changed
	}
	each(where+": with banana", with("banana", true, true))
	for _, name := range slices.Sorted(maps.Keys(known)) {
		inner := where + "." + name
		if _, ok := m[name]; ok {
			each(inner+" is missing", with(name, nil, false))
		}
		d.mutations(known[name], m[name], inner,
			func(what string, v any) { each(what, with(name, v, true)) })
	}
}

// candidates are values for a schema, most of another type. What may be null in Go may be in JSON:
// nil is no candidate.
func candidates(s object) (all []any) {
	long := func(n int) string { return strings.Repeat("a", n) }
	all = []any{true, "x", json.Number("1.5"), []any{}, []any{json.Number("7")}}
	switch s["type"] {
	case "string":
		all = append(all, "", "a b", "ü", "a\x00b", "../x", "train-1", long(64), long(65),
			long(128), long(129), json.Number("7"))
		if s["format"] == "regex" {
			all = append(all, "(", "*", "^NVIDIA (L4|T4)$", `[a-c]+\s?$`)
		}
	case "integer", "number":
		for _, n := range []string{"-1", "0", "1", "2", "3", "1000", "1001", "-1000", "-1001",
			"9223372036854775807", "9223372036854775808"} {
			all = append(all, json.Number(n))
		}
	case "array":
		all = append(all, []any{"a"}, []any{""}, []any{"a", ""}, []any{"a/b"}, []any{"a\x00b"},
			[]any{json.Number("-1")}, map[string]any{})
	case "object":
		if s["additionalProperties"] != nil {
			all = append(all, map[string]any{"A": "b"}, map[string]any{"A": json.Number("7")},
				map[string]any{"A=B": "x"}, map[string]any{"A": "\x00"}, map[string]any{})
		}
	}
	return all
}
