package definition

// Keys are the keys that the reader knows, by the path of the mapping they stand in.
func Keys() map[string][]string {
	return map[string][]string{
		"":          names(fileKeys()),
		"container": names(containerKeys()),
		"task":      names(taskKeys()),
		"retry":     names(retryKeys()),
	}
}

// OwnVariables are the names that the worker sets.
func OwnVariables() []string { return ownVariables }

// CommandExample is the list that is suggested for a command written as text.
func CommandExample(line string) string { return commandExample(line) }
