package core

import "strconv"

// Environment is what the tasks of a sweep inherit that another process submitted than the one with
// the worker. It is in memory only: what goes on in another process inherits from that.
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

// setEnviron lets the attempts of a sweep inherit variables from now on; nil: as before.
func (c *Core) setEnviron(a *activeSweep, variables []string) {
	if len(variables) > 0 {
		c.memory.Editions++
		c.memory.Environs[a.id()] = Environment{variables, strconv.FormatInt(c.memory.Editions, 10)}
	}
}
