package layout

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mlframework/infra/host"
)

// Record is the content of RecordFile: what the master's host keeps of a cluster, so that whoever
// comes next, from whatever laptop, knows it. It is JSON; a field is never renamed, and readers
// ignore those that they do not know.
type Record struct {
	Version     int          `json:"version"` // 1
	Cluster     string       `json:"cluster"`
	Owner       string       `json:"owner"`
	Master      string       `json:"master"` // name of the host
	Hosts       []RecordHost `json:"hosts"`
	BrokerPort  int          `json:"broker_port"`
	MonitorPort int          `json:"monitor_port"`
	// the monitor speaks TLS, for browsers on other machines
	Exposed bool `json:"exposed,omitempty"`
	// version of the program that brought it up; "": it was built without one
	Program string `json:"program,omitempty"`
	// version of the schema of the master's store; 0: of a program before 0.1.0
	Schema int `json:"schema,omitempty"`
	// Images are those that containers of broker and workers are made of, by reference.
	Images []RecordImage `json:"images,omitzero"`
}

// RecordImage pins a reference: which image it stands for in the cluster, on all hosts.
type RecordImage struct {
	Ref    string `json:"ref"`
	Digest string `json:"digest,omitempty"` // of its registry; "": no registry has told it
	// IDs are those by which hosts have it that do not know the digest, by architecture: it came
	// there from no registry. Docker's two stores have different ones.
	IDs map[string][]string `json:"ids,omitzero"`
}

// Name is the digest by which people know the image on hosts of an architecture: that of its
// registry, else its id; "" where neither is known.
func (i RecordImage) Name(arch string) string {
	return cmp.Or(append([]string{i.Digest}, i.IDs[arch]...)...)
}

func (i RecordImage) equal(o RecordImage) bool {
	return i.Ref == o.Ref && i.Digest == o.Digest &&
		maps.EqualFunc(i.IDs, o.IDs, slices.Equal[[]string])
}

// String is the digests for people, with twelve digits each.
func (i RecordImage) String() string {
	if i.Digest != "" {
		return ShortDigest(i.Digest)
	}
	var all []string
	for _, arch := range slices.Sorted(maps.Keys(i.IDs)) {
		all = append(all, ShortDigest(i.Name(arch))+" ("+arch+")")
	}
	return strings.Join(all, ", ")
}

// ShortDigest is a digest with as many digits as docker shows of an id.
func ShortDigest(d string) string {
	kind, digits, _ := strings.Cut(d, ":")
	return kind + ":" + digits[:min(len(digits), 12)]
}

// Image is how a reference is pinned. The zero value is not at all.
func (r Record) Image(ref string) RecordImage {
	for _, i := range r.Images {
		if i.Ref == ref {
			return i
		}
	}
	return RecordImage{}
}

// RecordHost is one host of a record.
type RecordHost struct {
	Name    string `json:"name"`
	Address string `json:"address"` // as it was listed
	Worker  bool   `json:"worker"`
	// that its worker was given while it ran; 0: those that it was started with
	Slots int `json:"slots,omitempty"`
	// it was away when it was to leave: what it has goes when it is back
	Leaves bool `json:"leaves,omitempty"`
	// it has left, and outputs of the cluster's tasks are there
	Outputs bool `json:"outputs,omitempty"`
}

// ParseRecord reads the content of a file; that of no file is the zero value. file is for the
// words of an error.
func ParseRecord(text, file string) (r Record, err error) {
	if text == "" {
		return r, nil
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("%s is no record of a cluster: %w", file, err)
	}
	if r.Version > 1 {
		return r, fmt.Errorf("%s was written by a newer release: use that one", file)
	}
	if err := r.Check(); err != nil {
		return Record{}, fmt.Errorf("%s is no record of a cluster: %w", file, err)
	}
	return r, nil
}

// Encode returns the file's content.
func (r Record) Encode() []byte {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		panic(err) // it has only text and numbers
	}
	return append(text, '\n')
}

// hostName is what host.Names makes.
var hostName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// mostVersion bounds a version, in bytes.
const mostVersion = 200

// mostImages bounds how many images a record has: each host has one of its own at most.
const mostImages = mostHosts + 1

// digest is what registries and Docker call an image by.
var digest = regexp.MustCompile(`^[a-z0-9]{1,32}:[0-9a-f]{32,128}$`)

// check finds what no release writes: digests become those of references.
func (i RecordImage) check() error {
	all := append(slices.Concat(slices.Collect(maps.Values(i.IDs))...), i.Digest)
	for _, d := range all {
		if d != "" && !digest.MatchString(d) {
			return fmt.Errorf("%.100q is no digest of the image %.100q", d, i.Ref)
		}
	}
	return nil
}

// mostHosts bounds a record, which is the word of a host.
const mostHosts = 10000

// Check finds what no release writes: names become those of folders and containers, and addresses
// are connected to.
func (r Record) Check() error {
	if len(r.Hosts) > mostHosts {
		return fmt.Errorf("it has %d hosts", len(r.Hosts))
	}
	for _, port := range []int{r.BrokerPort, r.MonitorPort} {
		if port < 0 || port > 1<<16-1 {
			return fmt.Errorf("%d is no port", port)
		}
	}
	if len(r.Program) > mostVersion {
		return fmt.Errorf("the version of its program has %d bytes", len(r.Program))
	}
	if len(r.Images) > mostImages {
		return fmt.Errorf("it has %d images", len(r.Images))
	}
	for _, i := range r.Images {
		if err := i.check(); err != nil {
			return err
		}
	}
	names := map[string]bool{}
	for _, h := range r.Hosts {
		if !hostName.MatchString(h.Name) || names[h.Name] {
			return fmt.Errorf("%.100q is no name of a host, or another has it", h.Name)
		}
		names[h.Name] = true
		if h.Address == host.LocalName {
			continue
		}
		if _, err := host.Parse(h.Address); err != nil {
			return fmt.Errorf("the address of %s: %w", h.Name, err)
		}
	}
	if len(r.Hosts) > 0 && !names[r.Master] {
		return fmt.Errorf("its master %.100q is none of its hosts", r.Master)
	}
	return nil
}

// Equal reports whether two records say the same.
func (r Record) Equal(o Record) bool {
	a, b := r, o
	a.Hosts, b.Hosts, a.Images, b.Images = nil, nil, nil, nil
	return fmt.Sprint(a) == fmt.Sprint(b) && slices.Equal(r.Hosts, o.Hosts) &&
		slices.EqualFunc(r.Images, o.Images, RecordImage.equal)
}
