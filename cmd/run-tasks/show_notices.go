package main

import (
	"fmt"

	"mlframework/sweep/core"
)

// noticeFields are who was told of a sweep, and when, and what runs at its end, each with its name.
func noticeFields(r core.Record) (all [][2]string) {
	if r.Notify != nil && len(r.Notices) == 0 {
		all = append(all, [2]string{"notify", r.Notify.Target()})
	}
	if r.After != "" {
		all = append(all, [2]string{"on-end", "of " + r.After})
	}
	for _, n := range r.Notices {
		if n.Event == core.OnEndNotice {
			all = append(all, [2]string{"on-end", onEndText(n)})
			continue
		}
		text := fmt.Sprintf("%s: %s", n.Event, r.Notify.Target())
		switch {
		case n.Error != "":
			text += " was not told: " + n.Error
		case n.Pending():
			text += " is being told"
		default:
			text += " was told at " + n.Sent.In(timeZone()).Format(zoned)
		}
		all = append(all, [2]string{"notify", text})
	}
	return all
}

// onEndText is what became of the command that runs at the end of a sweep.
func onEndText(n core.Notice) string {
	switch {
	case n.Error != "":
		return "not submitted: " + n.Error
	case n.Pending():
		return "being submitted"
	}
	return n.Sweep
}
