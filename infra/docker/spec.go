package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// HashLabel is the label of a container that carries the hash of the Spec from which it was made.
const HashLabel = "mlframework.spec"

// hashVersion changes when the same Spec is to make another container than before.
const hashVersion = "1"

// Spec is a container as it is wanted. The zero value of each field leaves it to the image or to
// the engine, but for Name and Image, which are needed. It is no place for secrets: `docker
// inspect` shows all of it.
type Spec struct {
	Name       string            `json:",omitempty"`
	Image      string            `json:",omitempty"` // a reference, or an id
	Entrypoint []string          `json:",omitempty"`
	Command    []string          `json:",omitempty"`
	Env        []string          `json:",omitempty"` // NAME=value
	User       string            `json:",omitempty"` // "UID:GID"
	Hostname   string            `json:",omitempty"`
	Labels     map[string]string `json:",omitempty"`

	Mounts   []Mount   `json:",omitempty"`
	Ports    []Port    `json:",omitempty"`
	Networks []Network `json:",omitempty"` // none: the engine's default bridge
	Devices  []Device  `json:",omitempty"`

	ReadOnly        bool     `json:",omitempty"` // the root file system
	DropCaps        []string `json:",omitempty"` // "ALL", or names
	NoNewPrivileges bool     `json:",omitempty"`

	Memory int64 `json:",omitempty"` // bytes
	Shm    int64 `json:",omitempty"` // bytes of /dev/shm; the engine's default is 64 MiB
	Pids   int64 `json:",omitempty"` // most processes and threads

	Restart string `json:",omitempty"` // "no", "always", "unless-stopped", "on-failure"
	// between SIGTERM and SIGKILL when Docker stops it; whole seconds, the default is 10
	Grace time.Duration `json:",omitempty"`
	Log   Log           `json:",omitzero"`

	// Late is more of Command that is known only when the container is made, such as the image's
	// digest. It is not in the Hash: what was planned without it is the same container.
	Late []string `json:"-"`
}

// Mount is one place of a container's file system. Exactly one of Bind, Volume and Tmpfs is set.
type Mount struct {
	At       string `json:",omitempty"` // the absolute path inside
	ReadOnly bool   `json:",omitempty"`

	Bind string `json:",omitempty"` // an absolute path of the host, which must exist
	// Volume is a name. An empty volume begins with the files and the owner of the image's folder;
	// one that is missing is made, without labels.
	Volume string `json:",omitempty"`
	Tmpfs  *Tmpfs `json:",omitempty"`
}

// Tmpfs is a file system in memory, which goes with the container.
type Tmpfs struct {
	Size int64  `json:",omitempty"` // bytes; 0: half of the memory
	Exec bool   `json:",omitempty"` // programs may be run from it
	Mode string `json:",omitempty"` // octal; "": 1777
	User string `json:",omitempty"` // "UID:GID" of the folder; "": root
}

// Port is a port of the container that the host publishes.
type Port struct {
	Host      string `json:",omitempty"` // address of the host: "127.0.0.1"; "": all of them
	Port      int    `json:",omitempty"` // on the host; 0: any free one
	Container int    `json:",omitempty"`
	UDP       bool   `json:",omitempty"`
}

// Network is a network that a container is in.
type Network struct {
	Name    string
	Aliases []string `json:",omitempty"` // names by which the others of the network find it
}

// Device asks for devices: by CDI name with Driver "cdi" (Engine 28.2, or the feature on), else
// through the driver's hook, as {"nvidia", UUIDs, {"gpu"}}.
type Device struct {
	Driver       string   `json:",omitempty"`
	IDs          []string `json:",omitempty"`
	Capabilities []string `json:",omitempty"` // all of them
}

// Log is how the engine keeps what a container prints. The zero value is the engine's default,
// which often has no limit.
type Log struct {
	Driver  string `json:",omitempty"` // "json-file", "local"
	MaxSize int64  `json:",omitempty"` // bytes of one file
	Files   int    `json:",omitempty"` // how many are kept
}

// Hash is the same for the same Spec, over processes and releases, and another when anything in it
// changes. The Image counts as it is written: where a tag may move, write the digest.
func (s Spec) Hash() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // only a CPUs that is no number cannot be written, and Create refuses it
	}
	sum := sha256.Sum256(append([]byte(hashVersion+"\n"), text...))
	return hex.EncodeToString(sum[:16])
}
