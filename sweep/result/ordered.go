package result

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Metric is the final value of one metric. NaN: it was printed and was not a number. It may be infinite.
type Metric struct {
	Name  string
	Value float64
	Span  *Span // nil: it is the only value, or no more is known
}

// Final holds final values, in order of first appearance. In JSON it is an object in that order; what is not a number or
// infinite is null, and [Infinite] tells which.
type Final []Metric

// Get returns the value of a metric and whether it was printed at all.
func (f Final) Get(name string) (float64, bool) {
	for i := range f {
		if f[i].Name == name {
			return f[i].Value, true
		}
	}
	return 0, false
}

// MarshalJSON writes an object, {} for none.
func (f Final) MarshalJSON() ([]byte, error) { return f.appendJSON(nil), nil }

func (f Final) appendJSON(b []byte) []byte { return f.append(b, appendNumber) }

func (f Final) append(b []byte, number func([]byte, float64) []byte) []byte {
	b = append(b, '{')
	for i := range f {
		if i > 0 {
			b = append(b, ',')
		}
		b = number(append(appendQuoted(b, f[i].Name), ':'), f[i].Value)
	}
	return append(b, '}')
}

// UnmarshalJSON reads an object of numbers and nulls, in its order.
func (f *Final) UnmarshalJSON(data []byte) error {
	*f = nil
	return unmarshalObject(data, func(name string, v finalValue) { *f = append(*f, Metric{Name: name, Value: float64(v)}) })
}

// Parameter is one parameter of a point.
type Parameter struct{ Name, Value string }

// Parameters are a task's parameters in the order of the file. In JSON they are an object of texts in that order.
type Parameters []Parameter

// Get returns the value of a parameter and whether there is one.
func (p Parameters) Get(name string) (string, bool) {
	for i := range p {
		if p[i].Name == name {
			return p[i].Value, true
		}
	}
	return "", false
}

// MarshalJSON writes an object, {} for none.
func (p Parameters) MarshalJSON() ([]byte, error) { return p.appendJSON(nil), nil }

func (p Parameters) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for i := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(append(appendQuoted(b, p[i].Name), ':'), p[i].Value)
	}
	return append(b, '}')
}

// UnmarshalJSON reads an object of texts, in its order.
func (p *Parameters) UnmarshalJSON(data []byte) error {
	*p = nil
	return unmarshalObject(data, func(name string, value string) { *p = append(*p, Parameter{name, value}) })
}

func unmarshalObject[V any](data []byte, add func(string, V)) error {
	d := json.NewDecoder(bytes.NewReader(data))
	first, err := d.Token()
	if first == nil || err != nil { // null
		return err
	}
	if first != json.Delim('{') {
		return errors.New("want a JSON object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value V
		if err := d.Decode(&value); err != nil {
			return err
		}
		add(name.(string), value) // the decoder allows nothing else as a key
	}
	return nil
}
