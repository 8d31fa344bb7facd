package result

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ReadRow reads a line that [WriteJSON] wrote, or any other JSON of a Row. It takes a fifth of
// encoding/json's time where the text is as WriteJSON has it.
func ReadRow(line []byte, into *Row) error {
	r := jsonReader{text: string(line)}
	*into = Row{}
	if r.row(into) {
		return nil
	}
	*into = Row{}
	return json.Unmarshal(line, into)
}

// AppendFinal appends what [Final.UnmarshalJSON] would read of text, and reads what [Final.AppendStored] wrote.
func AppendFinal(to Final, text string) (Final, error) {
	before := len(to)
	r := jsonReader{text: text}
	var spans Spans
	if r.final(&to) && (r.at == len(text) || r.spans(&spans) && r.at == len(text)) {
		spans.restore(to[before:])
		return to, nil
	}
	var read Final
	err := json.Unmarshal([]byte(text), &read)
	return append(to[:before], read...), err
}

// StoredMetric returns what reads one metric of what [Final.AppendStored] wrote: of a name that is
// there twice the first.
func StoredMetric(name string) func(text string) (value float64, ok bool) {
	key := string(append(appendQuoted(nil, name), ':'))
	return func(text string) (float64, bool) {
		for from := 0; ; {
			at := strings.Index(text[from:], key)
			if at < 0 {
				return 0, false
			}
			at, from = from+at, from+at+len(key)
			if at > 0 && text[at-1] != '\\' { // else it is the end of another name
				r, value := jsonReader{text: text, at: from}, math.NaN()
				ok := r.null() || r.anyNumber(&value)
				return value, ok
			}
		}
	}
}

// jsonReader reads the JSON that this package writes. Its methods are false where the text is
// anything else: then encoding/json says what it is.
type jsonReader struct {
	text     string
	at       int
	infinite Infinite
	taken    Steps
	places   Spans
}

// take moves on over one character, if it is the next.
func (r *jsonReader) take(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *jsonReader) null() bool {
	if strings.HasPrefix(r.text[r.at:], "null") {
		r.at += len("null")
		return true
	}
	return false
}

// word reads a string. The text of the line is shared where nothing in it is escaped.
func (r *jsonReader) word(into *string) bool {
	if !r.take('"') {
		return false
	}
	for i := r.at; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			*into = r.text[r.at:i]
			r.at = i + 1
			return utf8.ValidString(*into)
		case c == '\\':
			return r.escaped(into)
		case c < ' ':
			return false
		}
	}
	return false
}

// escaped reads a string with escapes, from behind its first quote.
func (r *jsonReader) escaped(into *string) bool {
	for i := r.at; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '"':
			quoted := r.text[r.at-1 : i+1]
			r.at = i + 1
			text, err := unquote(quoted)
			*into = text
			return err == nil
		}
	}
	return false
}

func unquote(quoted string) (text string, err error) {
	err = json.Unmarshal([]byte(quoted), &text)
	return text, err
}

func (r *jsonReader) wordOrNull(into *string) bool { return r.null() || r.word(into) }

// digits returns the text of a number, as far as it may be one: what it is converted with knows
// better.
func (r *jsonReader) digits() string {
	from := r.at
	for r.at < len(r.text) && (r.text[r.at]-'0' <= 9 || strings.IndexByte("+-.eE", r.text[r.at]) >= 0) {
		r.at++
	}
	text := r.text[from:r.at]
	plain := strings.TrimPrefix(text, "-")
	if plain == "" || plain[0]-'0' > 9 || len(plain) > 1 && plain[0] == '0' && plain[1]-'0' <= 9 || strings.HasSuffix(text, ".") ||
		strings.Contains(text, ".e") || strings.Contains(text, ".E") {
		return "" // Go's syntax is wider than JSON's
	}
	return text
}

func (r *jsonReader) whole(into *int64) bool {
	n, err := strconv.ParseInt(r.digits(), 10, 64)
	*into = n
	return err == nil
}

func (r *jsonReader) number(into *float64) bool {
	v, err := strconv.ParseFloat(r.digits(), 64)
	*into = v
	return err == nil
}

// anyNumber reads a number, and one that is too large for floating point as infinite.
func (r *jsonReader) anyNumber(into *float64) bool { return r.number(into) || math.IsInf(*into, 0) }

func (r *jsonReader) intOrNull(into **int) bool {
	var n int64
	if r.null() {
		return true
	}
	ok := r.whole(&n) && n >= math.MinInt && n <= math.MaxInt
	value := int(n)
	*into = &value
	return ok
}

func (r *jsonReader) numberOrNull(into **float64) bool {
	if r.null() {
		return true
	}
	var v float64
	*into = &v
	return r.number(&v)
}

func (r *jsonReader) timeOrNull(into **time.Time) bool {
	var text string
	if r.null() {
		return true
	}
	if !r.word(&text) {
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	*into = &t
	return err == nil && strings.HasSuffix(text, "Z")
}

func (r *jsonReader) list(into *[]string) bool {
	if !r.take('[') {
		return false
	}
	*into = []string{}
	for !r.take(']') {
		var word string
		if len(*into) > 0 && !r.take(',') || !r.word(&word) {
			return false
		}
		*into = append(*into, word)
	}
	return true
}

func (r *jsonReader) final(into *Final) bool {
	if !r.take('{') {
		return false
	}
	for n := 0; !r.take('}'); n++ {
		m := Metric{Value: math.NaN()}
		if n > 0 && !r.take(',') || !r.word(&m.Name) || !r.take(':') || !r.null() && !r.anyNumber(&m.Value) {
			return false
		}
		*into = append(*into, m)
	}
	return true
}

func (r *jsonReader) parameters(into *Parameters) bool {
	if !r.take('{') {
		return false
	}
	for n := 0; !r.take('}'); n++ {
		var p Parameter
		if n > 0 && !r.take(',') || !r.word(&p.Name) || !r.take(':') || !r.word(&p.Value) {
			return false
		}
		*into = append(*into, p)
	}
	return true
}

func (r *jsonReader) infinities(into *Infinite) bool {
	*into = nil
	if !r.take('{') {
		return false
	}
	for n := 0; !r.take('}'); n++ {
		var name, text string
		if n > 0 && !r.take(',') || !r.word(&name) || !r.take(':') || !r.word(&text) {
			return false
		}
		into.add(name, text)
	}
	return true
}

func (r *jsonReader) row(into *Row) bool {
	if !r.take('{') {
		return false
	}
	for n := 0; !r.take('}'); n++ {
		var key string
		if n > 0 && !r.take(',') || !r.word(&key) || !r.take(':') || !r.field(into, key) {
			return false
		}
	}
	into.Metrics.restore(r.infinite)
	r.taken.restore(into.Metrics)
	r.places.restore(into.Metrics)
	return r.at == len(strings.TrimRight(r.text, "\n"))
}

func (r *jsonReader) field(into *Row, key string) bool {
	switch key {
	case "id":
		return r.word(&into.ID)
	case "sweep":
		return r.wordOrNull(&into.Sweep)
	case "definition":
		return r.wordOrNull(&into.Definition)
	case "index":
		return r.whole(&into.Index)
	case "state":
		return r.wordOrNull(&into.State)
	case "argv":
		return r.list(&into.Argv)
	case "parameters":
		return r.parameters(&into.Parameters)
	case "metrics":
		return r.final(&into.Metrics)
	case "infinite":
		return r.infinities(&r.infinite)
	case "steps":
		return r.steps(&r.taken)
	case "positions":
		return r.spans(&r.places)
	case "attempts":
		var n int64
		ok := r.whole(&n)
		into.Attempts = int(n)
		return ok
	case "host":
		return r.wordOrNull(&into.Host)
	case "slot":
		return r.intOrNull(&into.Slot)
	case "gpus":
		return r.list(&into.GPUs)
	case "started":
		return r.timeOrNull(&into.Started)
	case "duration":
		return r.numberOrNull(&into.Duration)
	case "exit_code":
		return r.intOrNull(&into.ExitCode)
	case "class":
		return r.wordOrNull(&into.Class)
	case "reason":
		return r.wordOrNull(&into.Reason)
	case "revision":
		return r.wordOrNull(&into.Revision)
	}
	return false
}
