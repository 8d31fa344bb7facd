// Command asynq runs tasks with asynq, for scripts/bench:
//
//	asynq work SOCKET SLOTS    runs tasks until SIGTERM
//	asynq run SOCKET COUNT     runs so many tasks: the seconds until the last has ended
//	asynq send SOCKET COUNT    sends as many to a queue that nobody reads: the seconds
//
// SOCKET is that of a Redis server. Each task is one `true`, of which only the exit code is kept.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
)

const (
	taskType = "noop"
	queue    = "default"
	parked   = "parked"         // the queue that nobody reads
	limit    = 10 * time.Minute // of a round
	kept     = time.Hour        // how long results are
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: asynq work SOCKET SLOTS | run SOCKET COUNT | send SOCKET COUNT")
	}
	redis := asynq.RedisClientOpt{Network: "unix", Addr: os.Args[2]}
	number, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	switch os.Args[1] {
	case "work":
		err = work(redis, number)
	case "run":
		err = run(redis, number)
	case "send":
		err = timed(func() error { return send(redis, parked, number) })
	default:
		err = fmt.Errorf("%s is not a command", os.Args[1])
	}
	if err != nil {
		log.Fatal(err)
	}
}

// timed prints how many seconds something takes.
func timed(do func() error) error {
	begin := time.Now()
	err := do()
	if err == nil {
		fmt.Println(time.Since(begin).Seconds())
	}
	return err
}

func work(redis asynq.RedisClientOpt, slots int) error {
	server := asynq.NewServer(redis, asynq.Config{
		Concurrency: slots,
		LogLevel:    asynq.WarnLevel,
		// how long a worker that found no task waits: the default, a second, is for idle ones
		TaskCheckInterval: 10 * time.Millisecond,
	})
	handlers := asynq.NewServeMux()
	handlers.HandleFunc(taskType, noop)
	return server.Run(handlers)
}

// noop runs a program as run-tasks does: with one argument it does more than with none.
func noop(_ context.Context, t *asynq.Task) error {
	err := exec.Command("true", "--n="+string(t.Payload())).Run()
	if err == nil {
		_, err = t.ResultWriter().Write([]byte("0"))
	}
	return err
}

func send(redis asynq.RedisClientOpt, queue string, count int) error {
	client := asynq.NewClient(redis)
	defer client.Close()
	for n := range count {
		task := asynq.NewTask(taskType, []byte(strconv.Itoa(n)))
		_, err := client.Enqueue(task, asynq.Queue(queue), asynq.Retention(kept), asynq.MaxRetry(0))
		if err != nil {
			return err
		}
	}
	return nil
}

// run sends tasks and waits until as many more have ended.
func run(redis asynq.RedisClientOpt, count int) error {
	inspector := asynq.NewInspector(redis)
	defer inspector.Close()
	before := 0
	if info, err := inspector.GetQueueInfo(queue); err == nil { // else there is none yet
		before = info.Completed
	}
	return timed(func() error {
		if err := send(redis, queue, count); err != nil {
			return err
		}
		end := time.Now().Add(limit)
		for ; time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			info, err := inspector.GetQueueInfo(queue)
			switch {
			case err != nil:
				return err
			case info.Archived > 0: // after its only attempt
				return fmt.Errorf("%d tasks failed", info.Archived)
			case info.Completed >= before+count:
				return nil
			}
		}
		return fmt.Errorf("not all of %d tasks ended within %v", count, limit)
	})
}
