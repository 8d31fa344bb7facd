package server

import (
	"net/http"

	"mlframework/sweep/api"
)

// maxKeyBytes bounds an Idempotency-Key, in bytes.
const maxKeyBytes = 128

// idempotencyKey returns the key under which a write may be repeated; "": there is none.
func idempotencyKey(r *http.Request) (string, error) {
	all := r.Header.Values(api.KeyHeader)
	if len(all) == 0 {
		return "", nil
	}
	key := all[0]
	if len(all) > 1 || key == "" {
		return "", api.Wrong(api.KeyHeader,
			"there has to be one idempotency key, or no header for it")
	}
	if len(key) > maxKeyBytes {
		return "", api.Wrong(api.KeyHeader, "the idempotency key is longer than 128 bytes")
	}
	for _, b := range []byte(key) {
		if b <= ' ' || b > '~' {
			return "", api.Wrong(api.KeyHeader,
				"the idempotency key has other characters than letters, digits and punctuation")
		}
	}
	return key, nil
}
