package server

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/infra/filesync"
)

// A file that is not any more what was listed of it ends with zeros in the place of its sum.
func TestAFileThatChangesWhileItIsSent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	content := strings.Repeat("x", 100_000)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer sweep.Close()
	sum, half := sha256.Sum256([]byte(content)), sha256.Sum256([]byte(content[:50_000]))
	for _, c := range []struct {
		name    string
		wanted  filesync.Wanted
		verdict filesync.Verdict
		end     []byte // nil: nothing follows the verdict
		most    int    // bytes
	}{
		{"as it was", filesync.Wanted{Size: 100_000, Data: 100_000}, filesync.Whole, sum[:],
			100_100},
		{"the rest", filesync.Wanted{Size: 100_000, Data: 100_000, Offset: 50_000, Sum: half[:]},
			filesync.Rest, sum[:], 50_100},
		{"holes were filled", filesync.Wanted{Size: 100_000, Data: 70_000}, filesync.Whole,
			make([]byte, sha256.Size), 70_100},
		{"it became shorter", filesync.Wanted{Size: 100_001, Data: 100_001}, filesync.Gone, nil, 1},
	} {
		var sent bytes.Buffer
		s := &sender{ctx: t.Context(), to: bufio.NewWriter(&sent), sweep: sweep}
		c.wanted.Path = []byte("a")
		if err := s.output(c.wanted); err != nil {
			t.Error(c.name, err)
		}
		_ = s.to.Flush()
		if got := sent.Bytes(); filesync.Verdict(got[0]) != c.verdict ||
			!bytes.HasSuffix(got[1:], c.end) || len(got) > c.most {
			t.Errorf("%s: %d bytes: %q", c.name, len(got), got[:1])
		}
	}
}
