package process

// standStill keeps the caller from going on once this process is about to leave.
func (k *Keeper) standStill() {
	if k.abandoned.Load() {
		select {}
	}
}
