package projects

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cacheVersion is the first line of a cache. Change it with the format: another version's cache
// counts as none.
const cacheVersion = "mlframework file hashes 1\n"

// A cached is one line of a cache.
type cached struct {
	Path     string
	Hash     string
	Identity identity
}

// A cache is the hashes of a project's files by path.
//
// The file is text: the version, a line for each file (hash, device, inode, links, size, modified,
// changed, quoted path), and the SHA-256 of all that. It is replaced in one rename, so two writers
// leave one's whole cache.
type cache map[string]cached

// loadCache reads a cache; one that is not there, damaged or of another version is empty.
func loadCache(file string) cache {
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	body, ok := unsealed(data)
	if !ok {
		return nil
	}
	known := make(cache, bytes.Count(body, []byte("\n")))
	for line := range strings.Lines(string(body)) {
		c, ok := parseCached(line)
		if !ok {
			return nil
		}
		known[c.Path] = c
	}
	return known
}

// unsealed checks the version and the sum, and gives what lies between.
func unsealed(data []byte) ([]byte, bool) {
	end := len(data) - 2*sha256.Size
	if end < len(cacheVersion) || string(data[:len(cacheVersion)]) != cacheVersion {
		return nil, false
	}
	return data[len(cacheVersion):end], sealOf(data[:end]) == string(data[end:])
}

func sealOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func parseCached(line string) (c cached, ok bool) {
	fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 8)
	if len(fields) != 8 {
		return cached{}, false
	}
	c.Hash = fields[0]
	id := &c.Identity
	var signed [3]int64
	for i, to := range []*uint64{&id.Device, &id.Inode, &id.Links} {
		n, err := strconv.ParseUint(fields[1+i], 10, 64)
		if *to = n; err != nil {
			return cached{}, false
		}
	}
	for i := range signed {
		n, err := strconv.ParseInt(fields[4+i], 10, 64)
		if signed[i] = n; err != nil {
			return cached{}, false
		}
	}
	id.Size, id.Modified, id.Changed = signed[0], signed[1], signed[2]
	path, err := strconv.Unquote(fields[7])
	c.Path = path
	return c, err == nil
}

// save replaces the file in one step, making its folder when there is none.
func (c cache) save(file string) error {
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(folder, filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // does nothing after the rename
	_, err = temporary.Write(c.encode())
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}

func (c cache) encode() []byte {
	var b bytes.Buffer
	b.WriteString(cacheVersion)
	for _, path := range slices.Sorted(maps.Keys(c)) {
		id := c[path].Identity
		fmt.Fprintf(&b, "%s %d %d %d %d %d %d %s\n", c[path].Hash,
			id.Device, id.Inode, id.Links, id.Size, id.Modified, id.Changed, strconv.Quote(path))
	}
	b.WriteString(sealOf(b.Bytes()))
	return b.Bytes()
}

// with gives a cache that knows what either knows; newer counts where both do.
func (c cache) with(newer cache) cache {
	both := make(cache, len(c)+len(newer))
	maps.Copy(both, c)
	maps.Copy(both, newer)
	return both
}

func (c cache) equal(other cache) bool { return maps.Equal(c, other) }
