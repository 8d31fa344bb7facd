package broker

import (
	"fmt"
	"path"
	"strings"

	"mlframework/sweep/queue/rights"
)

// Limits of the broker. A sweep keeps some hundred messages there, whatever its size.
const (
	memory   = 512 << 20 // bytes from which on it takes nothing more
	freeDisk = 256 << 20 // bytes that must be free for it to take anything
	// writeLog is how many bytes a write-ahead log of quorum queues may have. Whatever was written
	// to it stays in memory until it is full, also what was consumed long ago: with RabbitMQ's own
	// 512 MiB memory grows by half a kilobyte for each short task.
	writeLog  = 8 << 20
	claimTime = 30 * 24 * 3600 * 1000
)

// configuration is rabbitmq.conf. consumer_timeout, in milliseconds, is a second belt: messages are
// acknowledged before their tasks begin.
func configuration() []byte {
	in := func(name string) string { return path.Join(Folder, name) }
	var b strings.Builder
	for _, line := range [][2]any{
		{"listeners.tcp", "none"},
		{"listeners.ssl.default", Port},
		{"ssl_options.cacertfile", in("ca.pem")},
		{"ssl_options.certfile", in("server.pem")},
		{"ssl_options.keyfile", in("server.key")},
		{"ssl_options.verify", "verify_none"}, // of clients, which show no certificate
		{"ssl_options.versions.1", "tlsv1.3"},
		{"ssl_options.versions.2", "tlsv1.2"},
		{"auth_mechanisms.1", "PLAIN"},
		{"load_definitions", in(DefinitionsFile)},
		{"vm_memory_high_watermark.absolute", memory},
		{"disk_free_limit.absolute", freeDisk},
		{"raft.wal_max_size_bytes", writeLog},
		{"consumer_timeout", claimTime},
		{"max_message_size", rights.MaxMessageBytes},
		{"log.console", true},
		{"log.file", false},
	} {
		fmt.Fprintf(&b, "%s = %v\n", line[0], line[1])
	}
	return []byte(b.String())
}
