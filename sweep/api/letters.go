package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"mlframework/sweep/human"
	"mlframework/sweep/queue"
)

// Depth is how much waits in one queue of the broker.
type Depth struct {
	Queue     string `json:"queue"`
	Messages  int    `json:"messages"`  // nobody has them yet
	Unacked   *int   `json:"unacked"`   // somebody has them, and may still give them back, some seconds ago; null: not known
	Consumers *int   `json:"consumers"` // who reads there; null: not known
}

// DeadLetters are messages that could not be delivered.
type DeadLetters struct {
	Count   int          `json:"count"`
	Partly  bool         `json:"partly"`  // there are so many that only the first to die were looked at
	Letters []DeadLetter `json:"letters"` // the newest first
}

// DeadLetter is one of them.
type DeadLetter struct {
	ID      string     `json:"id"`
	From    string     `json:"from"`   // the queue that it was in
	Reason  string     `json:"reason"` // why it is dead
	Time    *time.Time `json:"time"`   // when it died, UTC; null: not known
	Bytes   int        `json:"bytes"`
	Preview string     `json:"preview"` // how it begins; control characters are visible
}

// Buried is what became of dead letters.
type Buried struct {
	Requeued int `json:"requeued"`
	Dropped  int `json:"dropped"`
	Left     int `json:"left"` // stayed: the queue that they were in is gone
}

// usualLetters is how many letters are listed where nothing else is asked for, and mostLetters at most.
const (
	usualLetters = 20
	mostLetters  = 1000
)

// depths are what waits on the broker; nil when that cannot be asked now.
func (s *Server) depths(r *http.Request) []Depth {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	all, err := s.o.Master.Depths(ctx)
	if err != nil {
		return nil
	}
	depths := []Depth{}
	for _, d := range all {
		depths = append(depths, Depth(d))
	}
	return depths
}

func (s *Server) listDead(w http.ResponseWriter, r *http.Request) error {
	limit, err := number(r.URL.Query(), "limit")
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = usualLetters
	}
	ctx, cancel := brief(r)
	defer cancel()
	all, err := s.o.Master.Dead(ctx, int(min(limit, mostLetters)))
	if err != nil {
		return err
	}
	shown := DeadLetters{Count: all.Count, Partly: all.Partly, Letters: []DeadLetter{}}
	for _, l := range all.Letters {
		shown.Letters = append(shown.Letters, DeadLetter{ID: l.ID, From: human.Visible(l.From),
			Reason: human.Visible(l.Reason), Time: moment(l.Time),
			Bytes: l.Size, Preview: human.Visible(string(l.Head))})
	}
	answer(w, http.StatusOK, shown)
	return nil
}

func (s *Server) requeue(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := brief(r)
	defer cancel()
	done, err := s.o.Master.Requeue(ctx, r.PathValue("letter"))
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, Buried{Requeued: done.Moved, Left: done.Left})
	return nil
}

func (s *Server) drop(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := brief(r)
	defer cancel()
	n, err := s.o.Master.Drop(ctx, r.PathValue("letter"))
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, Buried{Dropped: n})
	return nil
}

// BrokerQueues is as Broker, with what waits in the queues.
func (c *Client) BrokerQueues(ctx context.Context) (b Broker, err error) {
	return b, c.get(ctx, "/broker", url.Values{"queues": {"true"}}, &b)
}

// Dead lists the newest dead letters; 0: as many as are usual.
func (c *Client) Dead(ctx context.Context, limit int) (d DeadLetters, err error) {
	q := url.Values{}
	setNumber(q, "limit", limit)
	return d, c.get(ctx, "/broker/dead", q, &d)
}

// letterPath is the path of one dead letter, or of all.
func letterPath(id string) string {
	if id == queue.AllLetters {
		return "/broker/dead"
	}
	return "/broker/dead/" + url.PathEscape(id)
}

// Requeue puts a dead letter, or queue.AllLetters, back to where it was to be read.
func (c *Client) Requeue(ctx context.Context, id string) (b Buried, err error) {
	return b, c.write(ctx, http.MethodPost, letterPath(id)+"/requeue", nil, nil, &b)
}

// Drop forgets a dead letter, or queue.AllLetters.
func (c *Client) Drop(ctx context.Context, id string) (b Buried, err error) {
	return b, c.write(ctx, http.MethodDelete, letterPath(id), nil, nil, &b)
}
