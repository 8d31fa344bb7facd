package infra

import (
	"context"
	"fmt"
	"io"
	"slices"

	"mlframework/infra/agent"
)

// shares finds hosts that have one home folder, as labs with a file server do: what is put there
// once is on all of them. Those that look alike each leave a token in their home and look for the
// others'.
func (u *up) shares(ctx context.Context) error {
	// those that stay first: what is put into the home is put there through one of them
	var hosts []string
	for _, h := range u.request.Hosts {
		hosts = append(hosts, h.Name)
	}
	for _, n := range u.reached() {
		if !slices.Contains(hosts, n) {
			hosts = append(hosts, n)
		}
	}
	alike := map[string][]string{}
	for _, n := range hosts {
		if m, there := u.connected[n]; there && m.found.HomeKey != "" {
			key := fmt.Sprintf("%s %s %d", m.found.HomeKey, m.found.Home, m.found.UID)
			alike[key] = append(alike[key], n)
		}
	}
	for _, names := range alike {
		if len(names) < 2 {
			continue
		}
		if err := u.tokens(ctx, names); err != nil {
			return err
		}
	}
	return nil
}

// tokens finds for each host the first one whose token is in its home, too.
func (u *up) tokens(ctx context.Context, names []string) error {
	token := func(name string) string { return fmt.Sprintf("%s-%s", u.nonce, name) }
	defer u.each(names, func(m *connectedHost) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
		defer cancel()
		return m.withAgent(ctx, func(c *agent.Client) error {
			return c.RemoveToken(ctx,
				token(m.name))
		})
	})
	errs := u.each(names, func(m *connectedHost) error {
		return m.withAgent(ctx, func(c *agent.Client) error {
			return c.LeaveToken(ctx,
				token(m.name))
		})
	})
	if len(errs) > 0 {
		return problems(errs)
	}
	errs = u.each(names, func(m *connectedHost) error {
		m.found.Shares = ""
		return m.withAgent(ctx, func(c *agent.Client) error {
			there, err := c.Tokens(ctx)
			for _, n := range names {
				if slices.Contains(there, agent.Token{Name: token(n)}) {
					if n != m.name {
						m.found.Shares = n
					}
					break
				}
			}
			return err
		})
	})
	if len(errs) > 0 {
		return problems(errs)
	}
	return nil
}

// newNonce makes text that no other call has.
func newNonce(random io.Reader) (string, error) {
	b := make([]byte, 8)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", b), nil
}
