package failure

// Alike is a reason with numbers, paths, addresses, UUIDs and names that a program made up masked:
// failures that are alike have the same. An exit code stays.
func Alike(reason string) string {
	var m masker
	m.read(reason)
	return string(m.text)
}
