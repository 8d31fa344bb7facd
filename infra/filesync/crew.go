package filesync

import "sync"

// A crew does jobs in a few goroutines. After the first error the rest is skipped.
type crew struct {
	jobs  chan func() error
	group sync.WaitGroup
	mu    sync.Mutex
	err   error
}

// newCrew starts n goroutines, which end with wait.
func newCrew(n int) *crew {
	c := &crew{jobs: make(chan func() error)}
	for range n {
		c.group.Go(func() {
			for job := range c.jobs {
				if c.failed() == nil {
					c.note(job())
				}
			}
		})
	}
	return c
}

func (c *crew) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

// failed is the first error so far.
func (c *crew) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// do hands a job out as soon as somebody is free, and gives the first error so far.
func (c *crew) do(job func() error) error {
	c.jobs <- job
	return c.failed()
}

// wait ends the crew when every job is done. It is called once.
func (c *crew) wait() error {
	close(c.jobs)
	c.group.Wait()
	return c.failed()
}
