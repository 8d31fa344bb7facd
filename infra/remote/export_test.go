package remote

// Explain is why a try to connect to port 22 of a host failed with an error of the system.
func Explain(host string, err error) error {
	a := &attempt{name: host, op: "connect to " + host, p: &resolvedTarget{host: host, port: 22}}
	return a.explain(err)
}

// Line is what sshd would be told to run.
func Line(c Command) (string, error) { return c.line("x") }

// KillLine ends what was told to run.
var KillLine = killLine

// Silent is what ends connections that died.
var Silent = silent
