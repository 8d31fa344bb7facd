// Package amqp is the queue on RabbitMQ: the contract of package queue between machines.
//
// The commands may import it. It imports the contract, queue/rights and sweep/task, and is the only
// one that knows the protocol (github.com/rabbitmq/amqp091-go, whose own recovery stays off).
//
// # What is on the broker
//
//	queue     tasks.WORKER       quorum             batches for one worker
//	queue     control.WORKER     classic, durable   control messages for one worker, transient and expiring
//	queue     master-lock        exclusive          nothing; only one connection of a master can declare it
//	queue     master-holder      classic, durable   one message, which describes the master that holds the lock
//	exchange  from-workers       topic, durable     everything from workers, with keys KIND.WORKER
//	  events.#      →  events           quorum             what workers report
//	  heartbeats.#  →  heartbeats       classic, durable   transient messages that expire
//	  KIND.WORKER   →  KIND.*.WORKER    exclusive queues of the master's connection, bounded:
//	                                    heartbeats, lines and pieces of each worker known
//
// The master makes all of it, whenever it is needed: a queue that was deleted, or a broker that
// lost its data, is set up again. The queues of a worker it makes with the worker's first
// heartbeat, with one every five seconds, and with what it publishes. Workers make nothing: they
// publish to the one exchange and consume their two queues, and wait for what is not there yet. A
// worker binds nothing either, so that no topic needs a right to be read.
//
// Package queue/rights has the user of each worker, and the policies. x-queue-type is the only
// argument of a queue that outlives its connection, so that everything else can be set by policy,
// such as bounds and the limit of deliveries.
//
// # Who says what
//
// The broker lets a worker's user use keys that end with the worker's name, and no other user's
// name in the property user-id. The master reads a message only if key, user and content name the
// same worker, and if it keeps the bounds of package task. What does not is counted, logged with
// its size and hash, and acknowledged; so does a worker with what it cannot read. What the store
// then lacks is sent again, or is lost, by the rules for messages that got lost.
//
// # Connections
//
// Each end has one connection that publishes and one that consumes, since a broker that is short of
// memory stops reading from those that publish. Both are retried forever. A master's publishing
// connection holds the lock (masterLock); without the lock, the other one consumes nothing.
package amqp
