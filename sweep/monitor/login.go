package monitor

import (
	"crypto/rand"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
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
	Code  string // of a link: there is only a button then
	Next  string // where to go
	Wrong string
}

// loginPage has the form. A link leads here with its code, which this does not use up: what fetches links to look at them,
// as mail and chat programs do, sends no forms.
func (m *Monitor) loginPage(w http.ResponseWriter, r *request) error {
	q := r.URL.Query()
	code := q.Get(linkForm)
	if !codeShape.MatchString(code) {
		code = ""
	}
	if r.session != nil && code == "" {
		m.redirect(w, next(q.Get("next")))
		return nil
	}
	return m.showLogin(w, r, http.StatusOK, entry{Code: code, Next: next(q.Get("next"))})
}

func (m *Monitor) showLogin(w http.ResponseWriter, r *request, status int, e entry) error {
	token := m.csrf(r)
	if token == "" {
		nonce := rand.Text()
		m.setCookie(w, formCookie, nonce)
		token = m.formToken(nonce)
	}
	return m.render(w, status, "login", frame{Title: "Log in", CSRF: token, View: e})
}

func (m *Monitor) login(w http.ResponseWriter, r *request) error {
	way, e := tokenForm, entry{Next: next(r.PostForm.Get("next"))}
	if r.PostForm.Has(linkForm) {
		way = linkForm
	}
	if wait := m.wrong[way].take(); wait > 0 {
		e.Wrong = "There were too many wrong tries. Wait " + seconds(wait) + " and try again."
		return m.showLogin(w, r, http.StatusTooManyRequests, e)
	}
	var role Role
	if way == linkForm {
		role = m.keys.use(r.PostForm.Get(linkForm), m.o.Now())
		e.Wrong = "This link was used already, or is older than " + seconds(LinkLife) + ". Get a new one, or log in with the token."
	} else {
		role = m.keys.role(strings.TrimSpace(r.PostForm.Get(tokenForm)))
		e.Wrong = "That is not the token."
	}
	if role == Nobody {
		m.o.Log.Warn("wrong login", "way", way, "from", r.RemoteAddr)
		return m.showLogin(w, r, http.StatusForbidden, e)
	}
	m.wrong[way].giveBack()
	m.sessions.end(m.cookie(r.Request, sessionCookie))
	m.setCookie(w, formCookie, "")
	m.setCookie(w, sessionCookie, m.sessions.begin(role))
	m.o.Log.Info("login", "role", role.String(), "way", way, "from", r.RemoteAddr)
	m.redirect(w, e.Next)
	return nil
}

func (m *Monitor) logout(w http.ResponseWriter, r *request) error {
	m.sessions.end(m.cookie(r.Request, sessionCookie))
	m.setCookie(w, sessionCookie, "")
	m.o.Log.Info("logout", "role", r.role().String(), "from", r.RemoteAddr)
	m.redirect(w, "/login")
	return nil
}

// next is where somebody goes after the login: a page of this monitor, whatever was asked for.
func next(path string) string {
	if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c == '\\' || c >= 0x7f }) {
		return path
	}
	return "/sweeps"
}

// Wrong tries: so many at once, and one more every so often.
const (
	triesAtOnce = 10
	tryAgain    = 6 * time.Second
)

// bucket bounds wrong tries. It is one for all who try: behind a published port they have the same address.
type bucket struct {
	now  func() time.Time
	mu   sync.Mutex
	full time.Time // when all tries are there again
}

func newBucket(now func() time.Time) *bucket { return &bucket{now: now} }

// take takes one, unless there is none: then it says how long until there is.
func (b *bucket) take() (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if b.full.Before(now) {
		b.full = now
	}
	if wait = b.full.Sub(now) - (triesAtOnce-1)*tryAgain; wait > 0 {
		return wait
	}
	b.full = b.full.Add(tryAgain)
	return 0
}

// giveBack undoes take: the try was right.
func (b *bucket) giveBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.full = b.full.Add(-tryAgain)
}
