package filesync

import (
	"time"

	"mlframework/infra/agent"
)

// Identity is whose files a client is for.
type Identity struct {
	Owner   string `json:"owner"`   // of the cluster
	Cluster string `json:"cluster"` // its name
	// Who is at work, for others who find the lock taken: "anna@laptop".
	Who string `json:"who,omitempty"`
}

// Pushed says what a push did.
type Pushed struct {
	Revision string `json:"revision"`
	Made     bool   `json:"made"`   // false: the release was there
	Files    int    `json:"files"`  // contents that were sent
	Bytes    int64  `json:"bytes"`  // in them
	Reused   int    `json:"reused"` // contents that were on the host, in other releases
}

// Missing is a content that the host lacks of a release, but for the first bytes that a push that
// was cut off has brought.
type Missing struct {
	Entry    int   `json:"entry"` // its place in the manifest
	Received int64 `json:"received,omitempty"`
}

// PushEnd ends the answer to a push.
type PushEnd struct {
	Pushed Pushed       `json:"pushed"`
	Error  *agent.Error `json:"error,omitempty"` // set: it has failed
}

// Prune asks for the removal of releases.
type Prune struct {
	Identity
	Root  string        `json:"root"`
	Keep  []string      `json:"keep"`  // revisions
	Older time.Duration `json:"older"` // what was pushed during that time stays
}

// A Revision is a release on a host.
type Revision struct {
	Name    string    `json:"name"`
	Files   int       `json:"files"`  // 0 where its manifest is lost
	Bytes   int64     `json:"bytes"`  // of all files; those that releases share count in each
	Pushed  time.Time `json:"pushed"` // when it was last pushed, or found to be there by a push
	Current bool      `json:"current"`
}

// Outputs are the outputs of a sweep's tasks in a root, or in folders of a machine that is in no
// cluster.
type Outputs struct {
	Identity
	Root     string `json:"root,omitempty"`
	Folder   string `json:"folder"`             // of outputs: below the root; absolute without one
	Releases string `json:"releases,omitempty"` // without a root: the folder of revisions
	Sweep    string `json:"sweep"`
}

// ListRequest asks which outputs there are.
type ListRequest struct {
	Outputs
	All   bool    `json:"all,omitempty"`   // of every task; else of Tasks
	Tasks []int64 `json:"tasks,omitempty"` // indexes
	// Without are revisions; what tasks left of them as it was is no output.
	Without []string `json:"without,omitempty"`
}

// FilesRequest asks for contents of outputs.
type FilesRequest struct {
	Outputs
	Files []Wanted `json:"files"`
}

// Wanted is a file of which the first bytes may be there already.
type Wanted struct {
	Path []byte `json:"path"` // may be no UTF-8
	Size int64  `json:"size"` // as much as is wanted of it: what it had when it was listed
	// Data: bytes outside holes when it was listed. The host sends at most this many.
	Data   int64  `json:"data,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Sum    []byte `json:"sum,omitempty"` // SHA-256 of what is there, Offset bytes
	// Compare: if what is there is something else, nothing is to be sent.
	Compare bool `json:"compare,omitempty"`
	Inode        // that it had when it was listed
}

// A Verdict is a letter that begins what the host says of a wanted file.
//
// Behind Whole and Rest follow pieces, each with a number in front, encoded as a varint of package
// encoding/binary: n more than 0 is of n bytes, which follow, and less than 0 of a hole of -n
// bytes. 0 is the end, and behind it is the SHA-256 of all Size bytes: zeros where the file became
// shorter meanwhile, or has more Data.
type Verdict byte

// The verdicts.
const (
	Whole   Verdict = 'w' // all bytes follow
	Rest    Verdict = 'r' // the bytes from the offset on follow
	Differs Verdict = 'd' // what is there is something else; nothing follows
	Gone    Verdict = 'g' // it is not there any more, or is shorter; nothing follows
	// Replaced: another file, which is longer, took its place; nothing follows. Its first Size
	// bytes would be neither of the two.
	Replaced Verdict = 'n'
	// Unreadable: it cannot be read; behind it is why, with its length in front as a varint.
	Unreadable Verdict = 'u'
)
