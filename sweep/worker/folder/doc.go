// Package folder gives every task its own copy of the project, and takes the copy away again: after
// an attempt, its folder holds only what the task made or changed.
//
// NewPlan decides, without touching the disk, which parts of a project are copied and which are
// linked; the worker applies this plan to a snapshot, and a dry run shows it for a project's files.
// A Workspace is the folder of one attempt. At the end, copied entries are removed if their inode,
// size and times are unchanged. Contents are never compared, so a file that the task wrote stays
// even if its content equals the project's.
//
// The worker and run-tasks import it; it imports only the vocabulary. Plans can be read
// concurrently, and a Store is safe for concurrent use.
package folder
