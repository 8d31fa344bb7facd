// Package process starts a user's program so that its whole tree can be stopped, and keeps the pair
// of processes that watch each other. It knows nothing of sweeps. For sweep/worker and the commands
// to import; it imports nothing of this project.
//
// # Who owns a process
//
// A Keeper makes this process a child subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): whatever a
// program leaves behind, by whatever forking, becomes a child of this process when its parent ends.
// Such a child is called a stranger. Linux hands orphans to the first live thread of the subreaper,
// which in a Go program is the main thread, for that one never ends; so one read of
// /proc/self/task/PID/children (proc(5)) at the end of a program tells whether it left anything,
// and /proc is walked only when it did. Children vanish from that list only by being reaped, and
// everything here reaps under one lock: what is read under the lock is complete.
//
// A program runs in a session of its own (setsid(2)), therefore in a process group of its own,
// without a terminal. A process never gets back into a session that it left, so a child of this
// process that is in this process's own session was started by other code here (os/exec) and is
// left alone. Other code that starts programs must not give them a session of their own while a
// Keeper lives.
//
// A stranger belongs to a program by its session, by a number that all processes of a program
// inherit (the limit of file locks, which no kernel enforces), by the marks in its environment, or
// by being born when no other program ran. What fits none of these is ended with the last of the
// programs that ran when it was born, or soon after where all of those were over before that was
// known. Without Linux there are process groups only.
//
// A parent-death signal is left out on purpose: it reaches only the direct child, it fires when the
// thread that forked ends, and a dead executor would not clean up below itself. The pair
// (RunGuarded, Guarded) does that.
package process
