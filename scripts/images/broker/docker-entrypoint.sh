#!/bin/bash
# Runs a command as the user rabbitmq, when root asks for one of RabbitMQ's by name; what other users ask for runs as they are.
set -euo pipefail
if [[ $1 == rabbitmq* && $(id -u) == 0 ]]; then
	find /var/lib/rabbitmq ! -user rabbitmq -exec chown rabbitmq {} +
	exec setpriv --reuid=rabbitmq --regid=rabbitmq --init-groups "$@"
fi
exec "$@"
