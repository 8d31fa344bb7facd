package filesync

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// checkRoom refuses to begin with what the disk of a folder has no room for: how much a host offers
// is its word, and the holes of a file count as they arrive, as zeros.
func checkRoom(folder string, bytes int64) error {
	var s unix.Statfs_t
	err := unix.Statfs(folder, &s)
	for err == unix.EINTR {
		err = unix.Statfs(folder, &s)
	}
	if err != nil {
		return fmt.Errorf("ask for the free space of %s: %w", folder, err)
	}
	if bytes < 0 { // a host made up sizes that no number holds
		bytes = math.MaxInt64
	}
	if free := uint64(s.Bavail) * uint64(s.Bsize); uint64(bytes) > free {
		return fmt.Errorf("the outputs have %.1f GB to fetch, and %s has room for %.1f GB: name fewer "+
			"tasks or files, or another folder", float64(bytes)/1e9, folder, float64(free)/1e9)
	}
	return nil
}
