package amqp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// Takeover of a broker that programs of before November 2026 have used, which had one user for all
// workers, who declared everything. This file can go when no cluster of then is left, with what
// rights.OfMaster allows for it. Of what they leave,
//
//   - batches in tasks.WORKER and dead letters are where they were;
//   - events in the queue "events" are nowhere else: they are moved to the front of the new queue, before workers can send
//     there;
//   - workers may run on until infrainit replaces them, one after the other: what comes into the old queues is moved, and
//     control messages go to the old exchange, too;
//   - all of it goes when nothing has come for a lease's time and nobody reads there. Then infrainit has deleted the user
//     that could write there.
//
// What is moved says no origin: only the master can send it so. Whoever can write to the old queues
// is trusted as he was then, but for one thing: of a worker that has spoken as its own user, no old
// heartbeat is heard.
const (
	oldEvents     = "events"
	oldHeartbeats = "heartbeats"
	oldControl    = "control"
)

var oldExchanges = []string{oldControl, "lines", "pieces"}

// migrateBatch is how many messages are moved between two waits for the broker.
const migrateBatch = 256

// How often old queues are looked into, and after how long without a message they go: workers say
// something every 2 s.
const (
	migrateInterval = 250 * time.Millisecond
	oldIdleTimeout  = 30 * time.Second
)

// migrate moves what the version before left, if there is something, and goes on doing so beside
// everything else until nobody uses its queues any more.
func (h *MasterEndpoint) migrate(c *connection) error {
	h.migrating.Store(false)
	there, _, err := h.moveOldMessages(c)
	if err != nil || !there {
		return err
	}
	h.migrating.Store(true)
	h.endpoint.start(context.Background(),
		func(ctx context.Context) { h.migrateUntilEmpty(ctx, c) },
		func() {})
	return nil
}

// migrateUntilEmpty moves what comes into the old queues, until they are gone or the connection is.
func (h *MasterEndpoint) migrateUntilEmpty(ctx context.Context, c *connection) {
	pace := time.NewTicker(migrateInterval)
	defer pace.Stop()
	quiet, live := time.Now(), true
	for there := true; there && live; {
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
		if live = !c.IsClosed(); !live {
			return // the next connection goes on
		}
		some, idle, err := h.moveOldMessages(c)
		switch {
		case err != nil:
			h.endpoint.log.Warn("messages of the version before cannot be taken in; it is tried "+
				"again", "error", err)
		case !some:
			there = false
		case !idle:
			quiet = time.Now()
		case time.Since(quiet) >= h.oldIdleTimeout:
			if err := h.removeOldQueues(c); err != nil {
				h.endpoint.log.Warn("queues of the version before cannot be removed; it is tried "+
					"again", "error", err)
			}
		}
	}
	h.migrating.Store(false)
}

// moveOldMessages moves what is in the old queues. There is false when they are gone, and idle true
// when nothing was there and nobody reads.
func (h *MasterEndpoint) moveOldMessages(c *connection) (there, idle bool, err error) {
	ch, err := c.Channel()
	if err != nil {
		return true, false, err
	}
	defer ch.Close() // the broker may have closed it
	old, err := ch.QueueDeclarePassive(oldEvents, true, false, false, false, nil)
	if isNotFound(err) {
		return false, true, nil
	}
	if err != nil {
		return true, false, err
	}
	if err := ch.Confirm(false); err != nil {
		return true, false, err
	}
	moved := 0
	for from, to := range map[string]string{oldEvents: rights.EventsQueue,
		oldHeartbeats: rights.HeartbeatsQueue} {
		if _, err := ch.QueueDeclare(from, true, false, false, false,
			amqp091.Table{queueTypeField: queueTypeOf(to)}); err != nil {
			return true, false, err
		}
		if err := declareQueue(ch, to); err != nil {
			return true, false, err
		}
		for n := -1; n != 0; moved += max(n, 0) {
			if n, err = moveMessages(ch, c.user, from, to); err != nil {
				return true, false, fmt.Errorf(
					"move messages from the queue %s of the version before: %w", from, err)
			}
			if n > 0 && from == oldEvents && !h.migrating.Load() {
				h.endpoint.log.Info("events that workers of the version before sent are taken in",
					"messages", n)
			}
		}
	}
	return true, moved == 0 && old.Consumers == 0, nil
}

// moveMessages moves some messages, and returns how many; 0 when there are none.
func moveMessages(ch *amqp091.Channel, user, from, to string) (n int, err error) {
	var confirms []*amqp091.DeferredConfirmation
	var last uint64
	for len(confirms) < migrateBatch {
		d, there, err := ch.Get(from, false)
		if err != nil {
			return 0, err
		}
		if !there {
			break
		}
		m := amqp091.Publishing{DeliveryMode: d.DeliveryMode, Expiration: d.Expiration,
			UserId: user, Body: d.Body}
		// which the broker would refuse, and the channel with it
		if len(m.Body) > rights.MaxMessageBytes {
			m.Body = m.Body[:maxKeptBytes] // it cannot be read
		}
		c, err := ch.PublishWithDeferredConfirm("", to, false, false, m)
		if err != nil {
			return 0, err
		}
		confirms, last = append(confirms, c), d.DeliveryTag
	}
	for _, c := range confirms {
		if !c.Wait() {
			return 0, errors.New("the broker did not take one")
		}
	}
	if len(confirms) == 0 {
		return 0, nil
	}
	return len(confirms), ch.Ack(last, true)
}

// removeOldQueues removes what the version before made and nobody needs.
func (h *MasterEndpoint) removeOldQueues(c *connection) error {
	ch, err := c.Channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	if _, err := ch.QueueDelete(oldHeartbeats, false, false, false); err != nil {
		return err
	}
	for _, name := range oldExchanges {
		if err := ch.ExchangeDelete(name, false, false); err != nil {
			return err
		}
	}
	// quorum queues cannot be deleted on a condition
	lost, err := ch.QueueDelete(oldEvents, false, false, false)
	if lost > 0 {
		h.endpoint.log.Error("messages came into a queue of the version before while it was "+
			"removed: end the workers of that version", "messages", lost)
	}
	return err
}

// sendOldControl sends a control message to a worker of the version before, too, which has a queue
// at the old exchange. One that is of this version gets none there. The exchange is there as long
// as the old queues are.
func (h *MasterEndpoint) sendOldControl(worker string, m amqp091.Publishing) error {
	if !h.migrating.Load() || h.workerStates.hasOwnUser(worker) {
		return nil
	}
	return h.endpoint.publisher.publishUnconfirmed(route{exchange: oldControl, key: worker}, m)
}

// checkHeartbeatOf is for a heartbeat of worker, or, "", for one of the version before: nobody that
// has spoken as its own user is heard so.
func (h *MasterEndpoint) checkHeartbeatOf(b *task.Heartbeat, worker string) error {
	if worker != "" {
		h.workerStates.setOwnUser(worker)
		return b.Check(worker)
	}
	if rights.CheckWorker(b.Worker) != nil || h.workerStates.hasOwnUser(b.Worker) {
		return fmt.Errorf("it names worker %.200q and not the user that sent it", b.Worker)
	}
	return b.Check(b.Worker)
}
