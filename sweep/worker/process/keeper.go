package process

// blockIfAbandoned keeps the caller from going on once this process is about to leave.
func (k *Keeper) blockIfAbandoned() {
	if k.abandoned.Load() {
		select {}
	}
}
