package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
)

// ReadObject reads an object with encoding/json and calls add for each of its keys, in their order.
// null is an empty object.
func ReadObject[V any](data []byte, add func(string, V)) error {
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
