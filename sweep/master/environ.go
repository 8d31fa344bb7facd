package master

import (
	"errors"
	"strconv"
)

// environ is what the tasks of a sweep inherit that another process submitted than the one with the worker. It is in memory only: what
// goes on in another process inherits from that.
type environ struct {
	variables []string // as NAME=value
	edition   string   // differs from that of others of the sweep
}

// ErrEnviron is that an environment came with a sweep, and its workers are not of this process.
var ErrEnviron = errors.New("tasks inherit the environment of their workers")

// inheritable refuses an environment that no worker would take.
func (m *Master) inheritable(variables []string) error {
	if len(variables) > 0 && !m.o.Alone {
		return ErrEnviron
	}
	return nil
}

// inherit lets the attempts of a sweep inherit variables from now on; nil: as before.
func (m *Master) inherit(id string, variables []string) {
	if len(variables) > 0 {
		m.editions++
		m.environs[id] = environ{variables, strconv.FormatInt(m.editions, 10)}
	}
}
