package rights

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// Login is a user with the hash of its password.
type Login struct {
	User
	Hash string // of Hash
}

// Hash is a password as RabbitMQ keeps it: base64 of four bytes of salt and SHA-256(salt +
// password) (https://www.rabbitmq.com/docs/passwords#computing-password-hash).
func Hash(salt [4]byte, password string) string {
	sum := sha256.Sum256(append(salt[:], password...))
	return base64.StdEncoding.EncodeToString(append(salt[:], sum[:]...))
}

// Definitions returns the JSON that load_definitions and rabbitmqctl import_definitions read:
// users, their rights and limits, and the policies, in one vhost. Importing adds and replaces, and
// removes nothing: a user that is to go is deleted with rabbitmqctl delete_user, which also closes
// its connections.
func Definitions(vhost string, logins []Login) []byte {
	type object = map[string]any
	users, permissions, topics := []object{}, []object{}, []object{}
	for _, l := range logins {
		user := object{"name": l.Name, "password_hash": l.Hash,
			"hashing_algorithm": "rabbit_password_hashing_sha256", "tags": ""}
		limits := object{}
		if l.Connections > 0 {
			limits["max-connections"] = l.Connections
		}
		if l.Channels > 0 {
			limits["max-channels"] = l.Channels
		}
		user["limits"] = limits
		users = append(users, user)
		permissions = append(permissions, object{"user": l.Name, "vhost": vhost,
			"configure": l.Configure, "write": l.Write, "read": l.Read})
		for _, t := range l.Topics {
			topics = append(topics, object{"user": l.Name, "vhost": vhost, "exchange": t.Exchange,
				"write": t.Write, "read": t.Read})
		}
	}
	var policies []object
	for _, p := range Policies() {
		policies = append(policies, object{"vhost": vhost, "name": p.Name, "pattern": p.Pattern,
			"apply-to": "queues", "priority": 0, "definition": p.Definition})
	}
	data, err := json.MarshalIndent(object{"vhosts": []object{{"name": vhost}}, "users": users,
		"permissions":       permissions,
		"topic_permissions": topics, "policies": policies}, "", "  ")
	if err != nil {
		panic(err) // of strings and numbers
	}
	return append(data, '\n')
}
