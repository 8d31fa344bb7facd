package process

// blockIfAbandoned blocks the caller forever after KillAll: the process is about to exit.
func (k *Keeper) blockIfAbandoned() {
	if k.abandoned.Load() {
		select {}
	}
}
