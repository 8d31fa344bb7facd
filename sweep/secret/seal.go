package secret

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/json"
	"errors"
	"fmt"
)

// Values cross the broker sealed to the process that asked for them (RFC 9180, base mode): a broker
// may write what it carries to its disk, whatever it was told, and who administers it may look at
// it.
var (
	derivation = hpke.HKDFSHA256()
	cipher     = hpke.AES256GCM()
)

// Key opens what is sealed to it. It lives in the memory of one process.
type Key struct{ private hpke.PrivateKey }

// NewKey returns a key.
func NewKey() *Key {
	private, err := hpke.DHKEM(ecdh.X25519()).GenerateKey()
	if err != nil { // a source of randomness that fails ends the program by itself
		panic(err)
	}
	return &Key{private}
}

// Public returns the half that others seal to.
func (k *Key) Public() []byte { return k.private.PublicKey().Bytes() }

// Seal makes values readable to the owner of a public key only, and only as an answer about the
// same thing.
func Seal(public []byte, about string, v Values) ([]byte, error) {
	to, err := hpke.DHKEM(ecdh.X25519()).NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("seal secrets: invalid public key of the worker: %w", err)
	}
	text, err := json.Marshal(map[string]string(v))
	if err != nil {
		return nil, errors.New("seal secrets: they cannot be written")
	}
	return hpke.Seal(to, derivation, cipher, []byte(about), text)
}

// Open reads what was sealed to the key about a thing.
func (k *Key) Open(sealed []byte, about string) (v Values, err error) {
	text, err := hpke.Open(k.private, derivation, cipher, []byte(about), sealed)
	if err != nil {
		return nil, fmt.Errorf("open secrets: they are not sealed to this process: %w", err)
	}
	return v, json.Unmarshal(text, &v)
}
