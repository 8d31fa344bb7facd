package monitor

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
)

// The two ways in, by the field of the form: the token, and the code of a link.
const (
	tokenForm = "token"
	linkForm  = "code"
)

// codeShape is the code of a link, as rand.Text makes it.
var codeShape = regexp.MustCompile(`^[A-Z2-7]{26,64}$`)

// entry is the view of the login page.
type entry struct {
	Command string // that prints a link; "": none is known
	Code    string // of a link: there is only a button then
	Next    string // where to go
	Wrong   string
}

// loginPage has the form. A link leads here with its code, which this does not use up: what fetches
// links to look at them, as mail and chat programs do, sends no forms.
func (m *Monitor) loginPage(w http.ResponseWriter, r *request) error {
	q := r.URL.Query()
	code := q.Get(linkForm)
	if !codeShape.MatchString(code) {
		code = ""
	}
	if r.session != nil && code == "" {
		m.redirect(w, localPath(q.Get("next")))
		return nil
	}
	return m.showLogin(w, r, http.StatusOK, entry{Code: code, Next: localPath(q.Get("next"))})
}

func (m *Monitor) showLogin(w http.ResponseWriter, r *request, status int, e entry) error {
	e.Command = m.o.LinkCommand
	return m.render(w, &request{Request: r.Request}, status, "login", frame{Title: "Log in", View: e})
}

// login begins a session for a valid token or link. Failed attempts are not limited, so that nobody
// can lock out others: tokens and codes have 130 bits and cannot be guessed.
func (m *Monitor) login(w http.ResponseWriter, r *request) error {
	way, e := tokenForm, entry{Next: localPath(r.PostForm.Get("next"))}
	if r.PostForm.Has(linkForm) {
		way = linkForm
	}
	var role Role
	var user string
	if way == linkForm {
		role, user = m.tokens.redeemLink(r.PostForm.Get(linkForm), m.o.Now())
		e.Wrong = "This link was used already, or is older than " + seconds(LinkLife) +
			". Get a new one, or log in with the token."
	} else {
		role = m.tokens.role(strings.TrimSpace(r.PostForm.Get(tokenForm)))
		e.Wrong = "That is not the token."
	}
	if role == Nobody {
		if due, others := m.wrongLogins.note(m.o.Now()); due {
			m.o.Log.Warn("wrong login", "way", way, "from", r.RemoteAddr, "more", others)
		}
		return m.showLogin(w, r, http.StatusForbidden, e)
	}
	m.sessions.end(m.sessionID(r.Request))
	m.setSessionID(w, m.sessions.begin(role, cmp.Or(user, "monitor")))
	m.o.Log.Info("login", "role", role.String(), "user", user, "way", way, "from", r.RemoteAddr)
	m.redirect(w, e.Next)
	return nil
}

func (m *Monitor) logout(w http.ResponseWriter, r *request) error {
	m.sessions.end(m.sessionID(r.Request))
	m.setSessionID(w, "")
	m.o.Log.Info("logout", "role", r.role().String(), "from", r.RemoteAddr)
	m.redirect(w, "/login")
	return nil
}

// localPath returns the path of a page of this monitor to go to after the login.
func localPath(path string) string {
	if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") &&
		!strings.ContainsFunc(path, func(c rune) bool {
			return c <= ' ' || c == '\\' || c >= 0x7f
		}) {
		return path
	}
	return "/"
}
