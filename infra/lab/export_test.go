package lab

// Lost tells how many bytes a silent connection has swallowed.
func (c *Conn) Lost() int64 { return c.lost.Load() }
