package amqp

import "time"

const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 10 * time.Second
	// heartbeat is what is asked of the broker; a silence of one and a half of it ends a
	// connection.
	heartbeat = 5 * time.Second
	// confirmTimeout bounds the wait for the broker's word that a message is kept. Milliseconds are
	// usual.
	confirmTimeout = 10 * time.Second
	// closeTimeout bounds the polite end of a connection.
	closeTimeout = time.Second
	// streamCloseTimeout bounds the wait for the broker when a stream ends.
	streamCloseTimeout = 5 * time.Second
	// consumerCheckInterval is how often a stream sees whether the broker still knows its consumer.
	consumerCheckInterval = 4 * time.Second
	// transientTTL is how long messages wait that are of use only now.
	transientTTL = 10 * time.Second
)
