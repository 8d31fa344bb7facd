package broker

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// Rights of the users: regular expressions over the names of queues and exchanges that package
// queue/amqp of the sweep side describes. amq.default is the exchange through which everybody
// reaches a queue by its name.
var rights = map[string]struct{ Configure, Write, Read string }{
	Master: {
		Configure: `^(tasks\..+|events|heartbeats|dead|control|lines|pieces|lines\..+|pieces\..+)$`,
		Write:     `^(amq\.default|control|dead|lines\..+|pieces\..+)$`,
		Read:      `^(tasks\..+|events|heartbeats|dead|lines|pieces|lines\..+|pieces\..+)$`,
	},
	Worker: {
		Configure: `^(tasks\..+|events|heartbeats|dead|control|lines|pieces|control\..+)$`,
		Write:     `^(amq\.default|lines|pieces|control\..+)$`,
		Read:      `^(tasks\..+|control|control\..+)$`,
	},
}

// redeliveries is how often a quorum queue may hand out one message, where RabbitMQ 4 drops it
// after 20: a message comes back whenever a worker loses its connection, which is no fault of the
// message. What it gives up on goes to the queue dead.
const redeliveries = 1000

// definitions are the users, their rights and the policies. There is no guest.
func (s Secrets) definitions() []byte {
	type object = map[string]any
	var users, permissions []object
	for _, user := range []string{Master, Worker} {
		users = append(users, object{"name": user, "password_hash": s.hash(user), "hashing_algorithm": "rabbit_password_hashing_sha256", "tags": ""})
		r := rights[user]
		permissions = append(permissions, object{"user": user, "vhost": "/", "configure": r.Configure, "write": r.Write, "read": r.Read})
	}
	data, err := json.MarshalIndent(object{
		"vhosts": []object{{"name": "/"}}, "users": users, "permissions": permissions,
		"policies": []object{{"vhost": "/", "name": "mlframework", "pattern": `^(tasks\..+|events)$`, "apply-to": "queues",
			"definition": object{"delivery-limit": redeliveries, "dead-letter-exchange": "", "dead-letter-routing-key": "dead"}}},
	}, "", "  ")
	if err != nil {
		panic(err) // of strings and numbers
	}
	return append(data, '\n')
}

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
		{"load_definitions", in("definitions.json")},
		{"prometheus.tcp.port", MetricsPort},
		{"vm_memory_high_watermark.absolute", memory},
		{"disk_free_limit.absolute", freeDisk},
		{"raft.wal_max_size_bytes", writeLog},
		{"consumer_timeout", claimTime},
		{"log.console", true},
		{"log.file", false},
	} {
		fmt.Fprintf(&b, "%s = %v\n", line[0], line[1])
	}
	return []byte(b.String())
}
