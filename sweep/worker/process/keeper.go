package process

import "context"

// Run starts a program and returns when it and all processes that came from it have ended, or
// cannot be ended (Exit.Unkillable). When ctx is done or the timeout has passed, all of them get
// SIGTERM, and SIGKILL after the grace; with ErrKill as the cause of ctx, SIGKILL at once.
// Processes that outlive the program have 100 ms to end, as the tee of a pipe does, and are then
// treated the same: see Spec.Ended. Run reports all errors in the Exit. After KillAll it never
// returns. On systems other than Linux it ends the program's process group only, at once when the
// program ends.
func (k *Keeper) Run(ctx context.Context, spec Spec) Exit {
	defer k.blockIfLeaving()
	if ctx.Err() != nil {
		return Exit{Cause: Stopped, Code: -1, Err: context.Cause(ctx)}
	}
	file, problem := findProgram(&spec)
	if problem != nil {
		return *problem
	}
	return k.run(ctx, &spec, file)
}

// blockIfLeaving blocks the caller forever after KillAll: the process is about to exit.
func (k *Keeper) blockIfLeaving() {
	if k.leaving.Load() {
		select {}
	}
}
