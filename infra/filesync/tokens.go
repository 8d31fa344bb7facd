package filesync

import (
	"io/fs"
	"regexp"
	"time"
)

var tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// tokenAge is how long a token stays: the run of infrainit that left it is over by then.
const tokenAge = 24 * time.Hour

// putToken leaves a token in the root.
func (r *root) putToken(token string) error {
	if !tokenForm.MatchString(token) {
		return refuse(Malformed, "%q is no token: 1 to 64 letters, digits, _ and -", token)
	}
	if _, err := r.folder(tokensName, 0o700); err != nil {
		return err
	}
	items, err := fs.ReadDir(r.FS(), tokensName)
	if err != nil {
		return err
	}
	for _, item := range items {
		if info, err := item.Info(); err == nil && time.Since(info.ModTime()) > tokenAge {
			_ = r.Remove(tokensName + "/" + item.Name()) // an old token does no harm
		}
	}
	return r.WriteFile(tokensName+"/"+token, nil, 0o600)
}

// tokens lists what tokens there are.
func (r *root) tokens() (answer, error) {
	tokens := []string{}
	if _, err := r.Lstat(tokensName); err != nil {
		return answer{Tokens: tokens}, nil
	}
	items, err := fs.ReadDir(r.FS(), tokensName)
	for _, item := range items {
		tokens = append(tokens, item.Name())
	}
	return answer{Tokens: tokens}, err
}
