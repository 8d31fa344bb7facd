package layout

import (
	"encoding/json"
	"errors"
	"time"
)

// Marker is the content of MarkerFile, a line of JSON. A field is never renamed.
type Marker struct {
	Version int       `json:"version"` // 1
	Owner   string    `json:"owner"`
	Cluster string    `json:"cluster"`
	Since   time.Time `json:"since,omitzero"` // when the root was made; zero is unknown
}

// NewMarker returns the marker of a cluster's root.
func NewMarker(owner, cluster string) Marker {
	return Marker{Version: 1, Owner: owner, Cluster: cluster}
}

// Encode returns the file's content.
func (m Marker) Encode() []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // a year beyond 9999
	}
	return append(text, '\n')
}

// ParseMarker reads the file's content.
func ParseMarker(text []byte) (m Marker, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return Marker{}, err
	}
	if m.Version != 1 || m.Owner == "" {
		return Marker{}, errors.New("it is not a marker that this release can read")
	}
	return m, nil
}
