package api

import (
	"context"
	"net/http"

	"mlframework/sweep/core"
)

// Missing is the points of a space in which no task of the same command and code has succeeded.
type Missing struct {
	All    bool        `json:"all"`    // every point is missing
	Ranges core.Ranges `json:"ranges"` // where not all are
	// Because is what is different from the newest tasks of the same definition and parameters that
	// succeeded, of the first thousand missing points, the most frequent first. Without any such
	// task it is empty.
	Because []Cause `json:"because,omitempty"`
	// Succeeded are the sweeps with tasks of the other points that succeeded, the newest first.
	Succeeded []string `json:"succeeded,omitempty"`
	// Damaged are sweeps of which not all could be read, the newest first. A point that succeeded
	// only there may count as missing.
	Damaged []string `json:"damaged,omitempty"`
}

// What a Cause says is different.
const (
	CauseCode        = "code"
	CauseCommand     = "command"
	CauseImage       = "image"
	CauseEnvironment = "environment"
	CauseFolder      = "folder"   // its workdir or links
	CauseSpelling    = "spelling" // the order of the parameters, or how their numbers are written
	CauseNew         = "new"      // no task of those parameters has succeeded
)

// Cause is why points are missing.
type Cause struct {
	What string `json:"what"`
	// the newest of those with which the points are compared
	Sweep    string `json:"sweep,omitempty"`
	Revision string `json:"revision,omitempty"` // that it ran
	Points   int64  `json:"points"`
}

// Missing returns the points of a record of which no task has succeeded with the same command and
// code.
func (c *Client) Missing(ctx context.Context, r core.Record, code string,
	same ...string) (m Missing, err error) {
	text, err := encode(Submission{Record: r, Code: code, Same: same})
	if err != nil {
		return m, err
	}
	_, err = c.exchange(ctx, "", http.MethodPost, "/missing", nil, text, &m)
	return m, err
}
