package cli

import "runtime/debug"

// Version is the version of this program: that of its module, or the commit that it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return info.Main.Version
	}
	text := commit[:min(len(commit), 12)]
	if settings["vcs.modified"] == "true" {
		text += "+changes"
	}
	return text
}
