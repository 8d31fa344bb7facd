// Package folder gives every task its own copy of the project, and takes the copy away again: after
// an attempt, its folder holds only what the task made or changed.
//
// NewPlan decides, without touching the disk, which parts of a project are copied and which are
// linked; the worker applies this plan to a snapshot, and a dry run shows it for a project's files.
// A Store keeps copies ready beside the outputs: the part that an attempt left unchanged is renamed
// into the next attempt's folder, so that only what is missing has to be copied again. A Workspace
// is the folder of one attempt.
//
// The worker and run-tasks import it; it imports only the vocabulary. Plans can be read
// concurrently, and a Store is safe for concurrent use.
package folder
