package space

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// version is that of the form in which spaces are stored: it counts up with each change of the form
// below, or of the points that it stands for. Others are refused.
const version = 1

// persisted is a space as it is stored, not expanded.
type persisted struct {
	Version    int                  `json:"version"`
	Parameters []persistedParameter `json:"parameters"`
	storedRules
}

// persistedParameter has exactly one of its last three fields: one value, a list, or an interval's
// operands as written. A value is a string, a switch a boolean, but for those that have to be
// spelled.
type persistedParameter struct {
	Name     string   `json:"name"`
	Value    *value   `json:"value,omitempty"`
	Values   []value  `json:"values,omitempty"`
	Interval []string `json:"interval,omitempty"`
}

// MarshalJSON gives the form in which a space is stored. It is not expanded: an interval of 10^12
// values is three numbers.
func (s *Space) MarshalJSON() ([]byte, error) {
	all := make([]persistedParameter, len(s.plan.parameters))
	for i, p := range s.plan.parameters {
		all[i].Name = p.name
		switch {
		case p.span != nil:
			all[i].Interval = p.span.operands
		case p.single:
			all[i].Value = &p.values[0]
		default:
			all[i].Values = p.values
		}
	}
	form := persisted{Version: version, Parameters: all}
	if !s.plain() || len(s.plan.repeats) > 0 {
		form.storedRules = s.stored()
	}
	return json.Marshal(form)
}

// UnmarshalJSON replaces the space by one that MarshalJSON wrote. Content of another version and
// content that it cannot have written is an error, and leaves the space as it was. No other method
// may run at the same time.
func (s *Space) UnmarshalJSON(data []byte) error {
	read, err := unmarshal(data)
	if err != nil {
		return fmt.Errorf("read stored space: %w", err)
	}
	*s = *read
	return nil
}

func unmarshal(data []byte) (*Space, error) {
	var stored struct{ Version *int }
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, err
	}
	if stored.Version == nil {
		return nil, errors.New("it has no version")
	}
	if *stored.Version != version {
		return nil, fmt.Errorf("its version is %d, this program knows %d", *stored.Version, version)
	}
	var form persisted
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&form); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows it")
	}
	if form.hasRules() {
		return opened.open(data, form.space)
	}
	return form.space()
}

// hasRules reports whether a space is more than all combinations of its parameters.
func (form *persisted) hasRules() bool { return !reflect.ValueOf(form.storedRules).IsZero() }

func (form *persisted) space() (*Space, error) {
	parameters := make([]parameter, len(form.Parameters))
	for i, stored := range form.Parameters {
		p, err := stored.parameter()
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", stored.Name, err)
		}
		parameters[i] = p
	}
	p, err := form.restore(parameters)
	if err != nil {
		return nil, err
	}
	s, err := build(p)
	if over, is := errors.AsType[overflow](err); is {
		return nil, fmt.Errorf("parameter %q: %w", parameters[over.parameter].name, err)
	}
	if n := len(p.kept); err == nil && n > 0 && p.kept[n-1] >= s.described() {
		return nil, errors.New("it has not all the points that it keeps")
	}
	if err == nil && form.hasRules() && s.Len() != form.Count {
		return nil, fmt.Errorf("this program makes %d points of it, the one that stored it made %d",
			s.Len(), form.Count)
	}
	return s, err
}

func (stored persistedParameter) parameter() (p parameter, err error) {
	if problem, _ := nameProblem(stored.Name); problem != "" {
		return p, errors.New(problem)
	}
	p = parameter{name: stored.Name, values: stored.Values, single: stored.Value != nil}
	forms := 0
	if stored.Value != nil {
		forms++
		p.values = []value{*stored.Value}
	}
	if len(stored.Values) > 0 {
		forms++
	}
	if stored.Interval != nil {
		forms++
		span, troubles := newInterval(stored.Interval)
		if troubles != nil {
			return p, errors.New(troubles[0].problem)
		}
		p.span = span
	}
	if forms != 1 {
		return p, errors.New("it must have one of value, values and interval")
	}
	return p, nil
}

// spelled is a value that needs more than a string or a boolean: one of its fields is set.
type spelled struct {
	Switch string `json:"switch,omitempty"` // True: a switch in another spelling than JSON's
	Text   string `json:"text,omitempty"`   // quoted, and without the quotes a number
	JSON   string `json:"json,omitempty"`   // null, or a list or a mapping
}

// value returns the value that is spelled; false: it is none.
func (s spelled) value() (value, bool) {
	v, isSwitch := switchOf(s.Switch)
	_, isNumber := Number(s.Text)
	switch {
	case s == spelled{Switch: s.Switch}:
		return v, isSwitch
	case s == spelled{Text: s.Text}:
		return value{s.Text, Text}, isNumber
	case s == spelled{JSON: s.JSON}:
		return nestedOf(s.JSON)
	}
	return v, false
}

func (v value) spelled() *spelled {
	switch {
	case v.kind == Switch && v.text != "true" && v.text != "false":
		return &spelled{Switch: v.text}
	case v.kind == Text:
		return &spelled{Text: v.text}
	case v.kind == Null || v.kind == JSON:
		return &spelled{JSON: v.text}
	}
	return nil
}

// MarshalJSON writes text as a string and a switch as a boolean, but for those that have to be
// spelled.
func (v value) MarshalJSON() ([]byte, error) {
	if s := v.spelled(); s != nil {
		return json.Marshal(s)
	}
	if v.kind == Switch {
		return []byte(v.text), nil
	}
	return quoteJSON(v.text)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *value) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		var s spelled
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		is, ok := s.value()
		if !ok {
			return fmt.Errorf("%s is not a value", data)
		}
		*v = is
		return nil
	}
	if data[0] != '"' {
		read, ok := switchOf(string(data))
		if !ok {
			return fmt.Errorf("%s is not a value", data)
		}
		*v = read
		return nil
	}
	*v = value{}
	if err := json.Unmarshal(data, &v.text); err != nil {
		return err
	}
	if strings.ContainsRune(v.text, 0) {
		return errors.New("a value has a NUL character")
	}
	return nil
}

// MarshalJSON gives an object with the parameters in file order and their values as text:
// {"lr":"0.10","augment":"true"}.
func (p Point) MarshalJSON() ([]byte, error) {
	object := []byte{'{'}
	for i, a := range p {
		if i > 0 {
			object = append(object, ',')
		}
		name, err := quoteJSON(a.Name)
		if err != nil {
			return nil, err
		}
		text, err := quoteJSON(a.Value)
		if err != nil {
			return nil, err
		}
		object = append(append(append(object, name...), ':'), text...)
	}
	return append(object, '}'), nil
}

// quoteJSON returns a JSON string that keeps <, > and & readable.
func quoteJSON(text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("%q is not UTF-8 text", text)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
