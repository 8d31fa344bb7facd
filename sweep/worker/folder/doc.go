// Package folder gives every task a copy of the project that is its own, and takes the copy away
// again: after an attempt its folder holds what the task made or changed, and nothing else.
//
// New decides, without touching a disk, what of a project is copied and what is linked; the worker
// applies its plan to a snapshot, and a dry run shows it of a project's files. A Store keeps copies
// ready beside the outputs: what an attempt left unchanged moves into the next folder by a rename,
// so that only what is missing is copied again. A Checkout is the folder of one attempt.
//
// The worker and run-tasks import it; it imports the vocabulary only. Plans may be read
// concurrently, and a Store is safe for concurrent use.
package folder
