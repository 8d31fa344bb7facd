package task

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// Notify is who is told that a sweep has ended, or that many of its tasks fail. One of the two
// fields is set.
type Notify struct {
	// URL is sent the message by POST. It may hold a secret, as those of Slack do: people are shown
	// Target.
	URL string `json:"url,omitempty"`
	// Command reads the message from its standard input; argv.
	Command []string `json:"command,omitempty"`
}

// Check returns what is wrong with it.
func (n Notify) Check() error {
	switch {
	case n.URL != "" && len(n.Command) > 0:
		return errors.New("url and command exclude each other")
	case n.URL != "":
		return CheckNotifyURL(n.URL)
	case len(n.Command) == 0 || n.Command[0] == "":
		return errors.New("there is no url and no command")
	case slices.ContainsFunc(n.Command, func(s string) bool { return strings.ContainsRune(s, 0) }):
		return errors.New("the command holds a zero byte")
	}
	return nil
}

// CheckNotifyURL returns what is wrong with a URL, without any part of it that may be secret.
func CheckNotifyURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("is not a URL")
	case u.Scheme != "" && u.Scheme != "https" && u.Scheme != "http":
		return errors.New("has the scheme " + u.Scheme + ", which is not supported")
	case u.Scheme == "" || u.Hostname() == "":
		return errors.New("is not an absolute URL")
	}
	return nil
}

// Target is who is told, as people may see it: of a URL scheme and host, of a command its program.
func (n Notify) Target() string {
	if len(n.Command) > 0 {
		return n.Command[0]
	}
	u, err := url.Parse(n.URL)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Redacted returns it without what may be secret in its URL.
func (n Notify) Redacted() Notify {
	if n.URL != "" {
		n.URL = n.Target()
	}
	return n
}
