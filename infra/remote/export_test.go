package remote

// Line is what sshd would be told to run.
func Line(c Command) (string, error) { return c.line("x") }

// KillLine ends what was told to run.
var KillLine = killLine

// Silent is what ends connections that died.
var Silent = silent
