package projects

import "context"

// SnapshotWith is Snapshot with another way to link files, a call before a file is written, and no
// copies of large files.
func SnapshotWith(ctx context.Context, m *Manifest, revisions string, link func(from,
	to string) error, write func() error) (string, error) {
	return snapshotter{link: link, write: write}.snapshot(ctx, m, revisions)
}

// IgnoreLine is the line that an error advises.
func IgnoreLine(path string) string { return ignoreLine(path) }
