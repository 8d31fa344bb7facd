package filesync

import "context"

// Verify reads a whole release below the root in dir.
func Verify(ctx context.Context, dir, revision string) error {
	r, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	m, err := r.stored(revision)
	if err != nil {
		return err
	}
	return m.Verify(ctx, r.release(revision))
}
