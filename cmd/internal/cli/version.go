package cli

import "runtime/debug"

// stamped is the version that the scripts give with -ldflags -X; "" where Go was asked to build
// without them.
var stamped string

// Version is the version of this program: the commit that it was built from, or that of its module.
func Version() string {
	if stamped != "" {
		return stamped
	}
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
