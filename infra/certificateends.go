package infra

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/plan"
)

// Certificate is one with which a service of the cluster answers. Its JSON is part of what
// check-status prints: docs/check-status.md.
type Certificate struct {
	Service string    `json:"service"` // "broker" or "monitor"
	Until   time.Time `json:"until"`   // the end of its validity, UTC
}

// endsSoon is how long before the end of a certificate people are told.
const endsSoon = 30 * 24 * time.Hour

// Warning says that the certificate has ended, or ends within 30 days; "" is neither.
func (c Certificate) Warning(now time.Time) string {
	left, day := c.Until.Sub(now), c.Until.Format(time.DateOnly)
	switch {
	case left <= 0:
		return fmt.Sprintf("the certificate of the %s ended on %s", c.Service, day)
	case left < endsSoon:
		return fmt.Sprintf("the certificate of the %s ends on %s, in %d days",
			c.Service, day, int(left.Hours()/24))
	}
	return ""
}

// certificatesEvery is for how long what was seen of certificates holds.
const certificatesEvery = time.Hour

// certificates are those that were seen last. The zero value is before the first look.
type certificates struct {
	at   time.Time
	seen []Certificate
}

// Certificates returns the certificates with which the services on the master's host answer there.
// Those of services that do not answer are missing. What it has seen it tells for an hour, so that
// a watch does not fill their logs.
func (c *Cluster) Certificates(ctx context.Context) []Certificate {
	m, there := c.connected[c.location.Master]
	if now := c.o.Now(); there && now.Sub(c.ends.at) >= certificatesEvery {
		c.ends.seen, c.ends.at = c.lookAtCertificates(ctx, m), now
	}
	return c.ends.seen
}

func (c *Cluster) lookAtCertificates(ctx context.Context, m *connectedHost) []Certificate {
	all := []Certificate{}
	for _, s := range []struct {
		name   string
		port   int
		speaks bool
	}{{plan.Broker, c.Record.BrokerPort, true}, {plan.Monitor, c.Record.MonitorPort,
		c.Record.Exposed}} {
		if !s.speaks {
			continue
		}
		// One that cannot be seen is missing.
		_ = m.ask(ctx, func(ctx context.Context) error {
			conn, err := m.dial(ctx, "the "+s.name, func(a *agent.Client) (net.Conn, error) {
				return a.Port(ctx, s.port)
			})
			if err != nil {
				return err
			}
			defer conn.Close()
			// Nothing is said to the service, and nothing that it says is believed but its end.
			t := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
			if err := t.HandshakeContext(ctx); err != nil {
				return err
			}
			until := t.ConnectionState().PeerCertificates[0].NotAfter.UTC()
			all = append(all, Certificate{s.name, until})
			return nil
		})
	}
	return all
}
