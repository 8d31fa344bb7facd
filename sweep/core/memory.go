package core

import "maps"

// Memory is what a core knows that is in no store: it is lost with the process. The zero value is
// empty.
type Memory struct {
	Followers map[string]int         // of live output, by sweep
	Environs  map[string]Environment // what tasks inherit, of sweeps whose submitter said it
	Editions  int64                  // of environments, so far
}

func (m Memory) clone() Memory {
	c := Memory{map[string]int{}, map[string]Environment{}, m.Editions}
	maps.Copy(c.Followers, m.Followers)
	maps.Copy(c.Environs, m.Environs)
	return c
}

// Memory returns what has to be handed to the next core of this process.
func (c *Core) Memory() Memory { return c.memory.clone() }
