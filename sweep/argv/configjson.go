package argv

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

// jsonDocument is a JSON file.
type jsonDocument struct{ textDocument }

func parseJSON(text []byte) (document, *fault.Fault) {
	d := &jsonDocument{textDocument{text: text, written: literal}}
	if err := d.read(); err != nil {
		at := len(text)
		if s, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = int(s.Offset) - 1
		}
		f := &fault.Fault{Problem: "is not JSON: " + err.Error(),
			Remedy: "correct it; JSON has no comments, and no comma behind the last value"}
		f.Line, f.Column = placeIn(text, at)
		return nil, f
	}
	if root := d.all[""]; root[0].kind != mapping {
		return nil, &fault.Fault{Line: 1, Column: 1, Problem: "is " + root[0].kind.String() +
			", not a mapping", Remedy: "write an object: {\"lr\": 0.1}"}
	}
	return d, nil
}

func (d *jsonDocument) read() error {
	d.all, d.splices = map[string][]entry{}, nil
	if !json.Valid(d.text) { // its errors say where
		return json.Unmarshal(d.text, new(any))
	}
	decoder := json.NewDecoder(bytes.NewReader(d.text))
	decoder.UseNumber()
	if err := d.value(decoder, ""); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("something follows the object")
	}
	return nil
}

// start is where the next value begins, behind the last token.
func (d *jsonDocument) start(decoder *json.Decoder) int {
	at := int(decoder.InputOffset())
	for at < len(d.text) && strings.IndexByte(" \t\r\n:,", d.text[at]) >= 0 {
		at++
	}
	return at
}

func (d *jsonDocument) value(decoder *json.Decoder, key string) error {
	where := span{from: d.start(decoder)}
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	e, place := entry{}, len(d.all[key])
	// before what is below it: an empty key, too, stands behind the root
	d.all[key] = append(d.all[key], e)
	switch v := token.(type) {
	case json.Delim:
		opened := int(decoder.InputOffset())
		e.kind = mapping
		if v == '[' {
			e.kind = list
		}
		where.last = opened
		for n := 0; decoder.More(); n++ {
			begin := d.start(decoder)
			if n == 0 {
				where.separator = string(d.text[opened:begin])
			}
			below := fmt.Sprint(n)
			if v == '{' {
				name, err := decoder.Token()
				if err != nil {
					return err
				}
				below = name.(string)
			}
			if err := d.value(decoder, join(key, below)); err != nil {
				return err
			}
			where.last = int(decoder.InputOffset())
		}
		if _, err := decoder.Token(); err != nil {
			return err
		}
	case nil:
		e.kind = null
	case bool:
		e.kind = boolean
	case json.Number:
		e.kind = whole
		if strings.ContainsAny(v.String(), ".eE") {
			e.kind = decimal
		}
	case string:
		e.kind = words
	}
	where.to = int(decoder.InputOffset())
	e.at = where
	d.all[key][place] = e
	return nil
}

func (d *jsonDocument) add(name string, p space.Assignment) (problem, remedy string) {
	return addBelow(d.all, name, func(_ string, e entry, rest string) (bool, string, string) {
		where, keys := e.at.(span), strings.Split(rest, ".")
		text := quoted(keys[len(keys)-1]) + ": " + literal(p)
		for i := len(keys) - 2; i >= 0; i-- {
			text = quoted(keys[i]) + ": {" + text + "}"
		}
		if where.last > where.from+1 { // behind other members
			text = "," + cmp.Or(where.separator, " ") + text
		}
		d.splices = append(d.splices, splice{where.last, where.last, text})
		d.text, _ = d.bytes()
		if err := d.read(); err != nil {
			return true, err.Error(), intoFile
		}
		return true, "", ""
	})
}
