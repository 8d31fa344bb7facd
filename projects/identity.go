package projects

import (
	"fmt"
	"time"
)

// An identity is what the file system says of a file: while it is the same, the content is taken to
// be the same. Times are nanoseconds since 1970.
type identity struct {
	Device, Inode, Links uint64
	Size                 int64
	Modified             int64 // the content
	Changed              int64 // content, mode, owner or number of links
}

// inode is the file's name in a cache of files that have several paths.
func (id identity) inode() string { return fmt.Sprintf("%d:%d", id.Device, id.Inode) }

// sameContent reports whether the file is what it was when then was read. The change time catches
// an edit that sets the modification time back; but linking a file into a snapshot, and removing
// that snapshot, moves it too, so that it says nothing of a large file that has, or had, more than
// one link.
func (id identity) sameContent(then identity) bool {
	linked := id.Size > LinkSize && (id.Links > 1 || then.Links > 1)
	return id.untouched(then) && (id.Changed == then.Changed || linked)
}

// untouched is sameContent without the change time.
func (id identity) untouched(then identity) bool {
	return id.Device == then.Device && id.Inode == then.Inode && id.Size == then.Size &&
		id.Modified == then.Modified
}

// racySpan is how long before it was read a file must have been left alone for its identity to be
// trusted later: an edit right after the reading could otherwise fall into the same tick of the
// file system's clock (2 s is FAT's, the coarsest).
const racySpan = 2 * time.Second

// settled reports whether an edit after the time of reading would show in the identity.
func (id identity) settled(read time.Time) bool {
	return max(id.Modified, id.Changed) < read.Add(-racySpan).UnixNano()
}
