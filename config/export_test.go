package config

// Edit is what Save does to a text, for a file of that name in a folder, with that home folder.
func Edit(dir, home string, text []byte, o Options) ([]byte, error) {
	return edit(FileName, text, o, folders{dir, home})
}

// OptionsOf are the options of a text alone.
func OptionsOf(dir, home string, text []byte) (Options, error) {
	return readYAML(FileName, text, folders{dir, home}).options()
}

// ReadShell reads the text of a config.sh.
func ReadShell(text string) (map[string][]string, []string) {
	values, faults := readShell(OldFileName, text)
	words := map[string][]string{}
	for name, v := range values {
		words[name] = v.words
	}
	var warnings []string
	for _, f := range faults {
		warnings = append(warnings, f.String())
	}
	return words, warnings
}

// Keys are the keys of the file, and those of an override.
func Keys() (top, host []string) { return append(names(options), "overrides"), names(hostOptions) }
