package task

import (
	"bytes"
	"fmt"
)

// MaxPerMessage is how many events, or lines, may be in one message. Workers hand over 512 events,
// or 256 lines, at once.
const MaxPerMessage = 1 << 12

// CheckSize returns an error for a message that is longer than any that is sent, or that has more
// parts, at any depth: each takes more memory than its bytes. One that has fewer bytes than most
// parts is not counted.
func CheckSize(body []byte, most, mostParts int) error {
	if len(body) > most {
		return &unreadable{fmt.Sprintf("it is %d bytes long; at most %d are read", len(body), most)}
	}
	if len(body) <= mostParts {
		return nil
	}
	if n := bytes.Count(body, []byte{','}); n > mostParts {
		return &unreadable{fmt.Sprintf("it has %d commas; at most %d parts are read", n, mostParts)}
	}
	return nil
}
