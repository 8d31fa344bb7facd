package metric

import "mlframework/sweep/internal/rawjson"

// appendObject appends a JSON object with a value for each metric, which value appends.
func appendObject[T ~[]FinalValue](b []byte, all T,
	value func(b []byte, m *FinalValue) []byte) []byte {
	b = append(b, '{')
	for i := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = value(append(rawjson.AppendQuoted(b, all[i].Name), ':'), &all[i])
	}
	return append(b, '}')
}

// readObject appends the metrics of a JSON object, whose values value reads. It returns false for
// anything else than appendObject writes.
func readObject[T ~[]FinalValue](r *rawjson.Reader, all *T, value func(m *FinalValue) bool) bool {
	if !r.Take('{') {
		return false
	}
	for n := 0; !r.Take('}'); n++ {
		*all = append(*all, FinalValue{})
		m := &(*all)[len(*all)-1]
		if n > 0 && !r.Take(',') || !r.Word(&m.Name) || !r.Take(':') || !value(m) {
			return false
		}
	}
	return true
}
