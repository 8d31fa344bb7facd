package site

import (
	"encoding/json"

	"mlframework/infra"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
)

// longestReason bounds the reason of an audit entry, in bytes.
const longestReason = 256

// Entry returns a function that makes the audit entry of a change of the cluster by a program, with
// detail as what was asked of it.
func (s *Site) Entry(program, detail string) infra.Entry {
	return func(uid int, err error) []byte {
		a := core.AuditEntry{Time: s.Infra.Now().UTC(), UID: &uid, User: s.Infra.Who,
			Action: program, Kind: "cluster", Object: s.Config.Options.Name,
			Detail: human.Visible(detail), Outcome: "done"}
		if err != nil {
			text := err.Error()
			reason := human.Visible(text[:min(len(text), longestReason)])
			a.Outcome, a.Reason = "failed", &reason
		}
		line, err := json.Marshal(a)
		if err != nil {
			return nil // it has nothing that cannot be written
		}
		return line
	}
}
