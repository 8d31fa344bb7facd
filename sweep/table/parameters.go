package table

import "mlframework/sweep/internal/rawjson"

// Parameter is one parameter of a point.
type Parameter struct{ Name, Value string }

// Parameters are a task's parameters in the order of the file. In JSON they are an object of texts
// in that order.
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
		b = rawjson.AppendQuoted(append(rawjson.AppendQuoted(b, p[i].Name), ':'), p[i].Value)
	}
	return append(b, '}')
}

// UnmarshalJSON reads an object of texts, in its order.
func (p *Parameters) UnmarshalJSON(data []byte) error {
	*p = nil
	return rawjson.ReadObject(data, func(name string, value string) {
		*p = append(*p,
			Parameter{name, value})
	})
}

func (p *Parameters) readJSON(r *rawjson.Reader) bool {
	if !r.Take('{') {
		return false
	}
	for n := 0; !r.Take('}'); n++ {
		var one Parameter
		if n > 0 && !r.Take(',') || !r.Word(&one.Name) || !r.Take(':') || !r.Word(&one.Value) {
			return false
		}
		*p = append(*p, one)
	}
	return true
}
