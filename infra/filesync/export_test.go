package filesync

// OpenDestination opens the folder of a fetch, and closes it again.
func OpenDestination(dir, sweep string, id Identity) error {
	d, err := openDestination(dir, sweep, id)
	if err == nil {
		d.close()
	}
	return err
}
