package filesync

import (
	"time"
)

// An operation is what a request asks for.
type operation string

const (
	opPush  operation = "push"  // followed by the manifest's entries; answered by a list of the contents that are lacking
	opPrune operation = "prune" //
	opFetch operation = "fetch" // answered by entries; followed by wanted contents
)

// A request is what the client asks for.
type request struct {
	Op       operation     `json:"op"`
	Revision string        `json:"revision,omitempty"` // push
	Wait     time.Duration `json:"wait,omitempty"`     // push, prune: how long to wait for the lock
	Keep     []string      `json:"keep,omitempty"`     // prune
	Older    time.Duration `json:"older,omitempty"`    // prune
	Outputs  string        `json:"outputs,omitempty"`  // fetch: folder below the root
	Sweep    string        `json:"sweep,omitempty"`    // fetch
	Without  []string      `json:"without,omitempty"`  // fetch: revisions; what tasks left of them as it was is no output
	All      bool          `json:"all,omitempty"`      // fetch: every task; else a list of indexes follows
}

// An answer ends a request that went well.
type answer struct {
	Pushed    *Pushed    `json:"pushed,omitempty"`
	Revisions []Revision `json:"revisions,omitempty"` // prune: what was removed
}

// Pushed says what a push did.
type Pushed struct {
	Revision string `json:"revision"`
	Made     bool   `json:"made"`   // false: the release was there
	Files    int    `json:"files"`  // contents that were sent
	Bytes    int64  `json:"bytes"`  // in them
	Reused   int    `json:"reused"` // contents that were on the host, in other releases
}

// A Revision is a release on a host.
type Revision struct {
	Name    string    `json:"name"`
	Files   int       `json:"files"`  // 0 where its manifest is lost
	Bytes   int64     `json:"bytes"`  // of all files; those that releases share count in each
	Pushed  time.Time `json:"pushed"` // when it was last pushed, or found to be there by a push
	Current bool      `json:"current"`
}
