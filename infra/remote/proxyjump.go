package remote

import (
	"fmt"
	"strconv"
	"strings"
)

// resolveHops finds the jump hosts. One that is the host itself jumps nowhere, so that a jump host
// may stand in "Host *".
func (d *Dialer) resolveHops(p *resolvedTarget, configured string, jump []string) error {
	if p.hops = jump; jump != nil {
		return nil
	}
	if configured == "" || configured == "none" {
		return nil
	}
	tokens := map[byte]string{'h': p.host, 'n': p.alias, 'r': p.user, 'p': strconv.Itoa(p.port)}
	hops := strings.Split(expand(configured, tokens), ",")
	for i, hop := range hops {
		hops[i] = strings.TrimSpace(hop)
		q, err := d.resolve(Target{Name: hops[i]}, []string{})
		if err != nil {
			return fmt.Errorf("jump host: %w", err)
		}
		if q.same(p) {
			return nil
		}
	}
	p.hops = hops
	return nil
}

// maxHops is how many jump hosts may lead to each other by their own configuration.
const maxHops = 8

// checkHops refuses jump hosts that lead in a circle.
func (d *Dialer) checkHops(p *resolvedTarget) (err error) {
	for range maxHops {
		if len(p.hops) == 0 {
			return nil
		}
		if p, err = d.resolve(Target{Name: p.hops[0]}, nil); err != nil {
			return fmt.Errorf("jump host: %w", err)
		}
	}
	return fmt.Errorf("its jump hosts lead in a circle, or are more than %d", maxHops)
}
