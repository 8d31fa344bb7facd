package definition

import (
	"errors"
	"io/fs"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/task"
)

const notifyExample = `notify: {url: "https://hooks.example.org/sweeps"}`

// notifyKeys returns the keys of notify: one of them is set.
func notifyKeys() []key[task.Notify] {
	return []key[task.Notify]{
		{"url", `url: "https://hooks.example.org/sweeps"`, readNotifyURL},
		{"command", "command: [./tell.sh]", readNotifyCommand},
	}
}

func readNotify(r *reader, f *File, v value) { f.Notify = r.notify(v) }

func (r *reader) notify(v value) *task.Notify {
	n, faults := new(task.Notify), len(r.Faults)
	present, ok := object(r, v, n, notifyKeys(), place{})
	command, both := present["command"]
	switch {
	case !ok || len(r.Faults) > faults:
		return nil
	case len(present) == 0:
		r.Wrong(v, "says nothing")
		return nil
	case both && len(present) > 1:
		r.Fault(command, "url is set too, and only one of them can be", "remove one")
		return nil
	}
	if err := n.Check(); err != nil { // what is left to be wrong
		r.Wrong(v, err.Error())
		return nil
	}
	return n
}

func readNotifyURL(r *reader, n *task.Notify, v value) {
	text, ok := r.Word(v)
	if !ok {
		return
	}
	if err := task.CheckNotifyURL(text); err != nil {
		r.Fault(v, err.Error(), "write one that begins with https:// or http://")
	}
	n.URL = text
}

func readNotifyCommand(r *reader, n *task.Notify, v value) {
	elements, ok := r.List(v)
	if ok && len(elements) == 0 {
		r.Wrong(v, "is empty")
	}
	for i, e := range elements {
		if argument, ok := r.argument(e); ok {
			if i == 0 && argument == "" {
				r.Fault(e, "is empty", "write the name of a program")
			}
			n.Command = append(n.Command, argument)
		}
	}
}

// userFile is what a user's own config.yml says for all projects.
type userFile struct{ notify *task.Notify }

// LoadUser reads a user's own config.yml; a file that does not exist says nothing. The error is a
// fault.List.
func LoadUser(file string) (*task.Notify, error) {
	data, err := readLimited(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, unreadable(file, err)
	}
	y, root := yamlfile.Open(file, data)
	r, u := &reader{Reader: y}, userFile{}
	if root != nil {
		object(r, r.Value(root.Content[0], "", notifyExample), &u, []key[userFile]{
			{"notify", notifyExample, func(r *reader, u *userFile, v value) {
				u.notify = r.notify(v)
			}},
		}, place{})
	}
	return u.notify, r.Faults.Err()
}
