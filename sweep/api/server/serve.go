package server

import (
	"context"
	"net"
	"sync"
	"time"

	"mlframework/sweep/internal/httpserver"
)

// readTimeout bounds how long a request with its body takes to arrive.
const readTimeout = 2 * time.Minute

// Run serves on listeners until ctx ends or one of them fails, and then until those who follow have
// read the last, two seconds at most. It closes the listeners and the server, and when it returns
// no request is being answered any more.
func (s *Server) Run(ctx context.Context, listeners ...net.Listener) error {
	defer s.Close()
	watching, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer stop()
	for _, l := range listeners {
		if l, ok := l.(*listener); ok {
			watchers.Go(func() { l.watch(watching, s.o.Log) })
		}
	}
	server := httpserver.Server{Handler: s, ReadTimeout: readTimeout, Log: s.o.Log,
		ListenerContext: withAccess,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, peerOf(c))
		},
	}
	return server.Run(ctx, listeners...)
}
