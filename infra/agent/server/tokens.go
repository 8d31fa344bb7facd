package server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"

	"mlframework/infra/agent"
	"mlframework/infra/layout"
)

// tokenName is what a token may be called.
var tokenName = regexp.MustCompile(`^[0-9A-Za-z._-]{1,128}$`)

// home opens the home folder.
func (s *server) home() (*os.Root, error) {
	if s.o.Home != "" {
		return os.OpenRoot(s.o.Home)
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// token does something with the file of a token.
func (s *server) token(t agent.Token, do func(home *os.Root, name string) error) error {
	if !tokenName.MatchString(t.Name) {
		return fmt.Errorf("%q is not the name of a token", t.Name)
	}
	home, err := s.home()
	if err != nil {
		return err
	}
	defer home.Close()
	return do(home, layout.TokenPrefix+t.Name)
}

func (s *server) leaveToken(_ context.Context, t agent.Token) error {
	return s.token(t, func(home *os.Root, name string) error {
		return home.WriteFile(name, nil, 0o600)
	})
}

func (s *server) removeToken(_ context.Context, t agent.Token) error {
	return s.token(t, func(home *os.Root, name string) error {
		return ignoreMissing(home.Remove(name))
	})
}

// tokens answers with those that are in the home folder.
func (s *server) tokens(w http.ResponseWriter, _ *http.Request) {
	home, err := s.home()
	if err != nil {
		fail(w, err)
		return
	}
	defer home.Close()
	dir, err := home.Open(".")
	if err != nil {
		fail(w, err)
		return
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		fail(w, err)
		return
	}
	all := []agent.Token{}
	for _, n := range names {
		if name, is := strings.CutPrefix(n, layout.TokenPrefix); is {
			all = append(all, agent.Token{Name: name})
		}
	}
	answer(w, all)
}
