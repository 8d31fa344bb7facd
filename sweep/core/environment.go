package core

import "strconv"

// Environment is what the tasks of a sweep inherit that another process submitted than the one with
// the worker. It is in memory only: a sweep that another process resumes inherits from that one.
type Environment struct {
	Variables []string // as NAME=value
	Edition   string   // differs from that of others of the sweep
}

// checkEnviron refuses an environment that no worker would take.
func (c *Core) checkEnviron(variables []string) error {
	if len(variables) > 0 && !c.options.Local {
		return ErrEnviron
	}
	return nil
}

// setEnviron sets the variables that attempts of a sweep inherit from now on; nil: as before.
func (c *Core) setEnviron(a *activeSweep, variables []string) {
	if len(variables) > 0 {
		c.memory.Editions++
		c.memory.Environs[a.id()] = Environment{variables, strconv.FormatInt(c.memory.Editions, 10)}
	}
}
