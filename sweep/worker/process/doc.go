// Package process runs a program so that its whole process tree can be stopped, and keeps a pair of
// processes that watch each other. It knows nothing of sweeps. sweep/worker and the commands import
// it; it imports nothing of this project.
//
// # Who owns a process
//
// A Keeper makes this process a child subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): whatever a
// program leaves behind, however it forks, becomes a child of this process when its parent ends.
// Such a child is called adopted. Linux hands it to the first live thread of the subreaper. In
// a Go program that is the main thread, which never ends; so one read of
// /proc/self/task/PID/children (proc(5)) at the end of a program shows whether it left anything
// behind, and /proc is walked only if it did. Children leave that list only by being reaped, and
// all reaping happens under one lock: what is read under the lock is complete.
//
// A program runs in its own session (setsid(2)), and therefore in its own process group, without a
// terminal. A process never gets back into a session that it has left, so a child in this process's
// own session was started by other code here (os/exec) and is left alone. Other code must not start
// programs in a session of their own while a Keeper exists.
//
// An adopted process is attributed to a program by its cgroup, by a number that all processes of a
// program inherit (a random limit of file locks, which no kernel enforces), by its session, by the
// marks in its environment, or because no other program ran when it was born: see attribute. If
// none of these applies, it is ended together with the last of the programs that ran when it was
// born, or shortly afterwards if all of them had ended before that was known. On systems other than
// Linux there are only process groups.
//
// Programs have cgroups of their own (version 2) where this process may make some below its own and
// its own has no limits. cgroup.kill then ends what signals to single processes may miss.
//
// A parent-death signal is deliberately not used: it reaches only the direct child, it fires when
// the thread that forked ends, and a dead executor could not clean up its descendants. The pair
// (RunGuarded, Guarded) does that.
package process
