package main

import (
	"fmt"
	"math/big"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
)

// spaceView is a space as JSON, without its points.
type spaceView struct {
	Parameters   []parameterView `json:"parameters"`
	Rules        []ruleView      `json:"rules"`
	Combinations *big.Int        `json:"combinations"` // before any rule
	Included     int64           `json:"included"`     // points that come first
	Sampled      *int64          `json:"sampled"`      // that were drawn; null: all
	SampledFrom  *int64          `json:"sampled_from"` // null: the points are all
	Repeats      []string        `json:"repeats"`      // that results are averaged over
	Points       int64           `json:"points"`
}

// parameterView is a parameter of a space, without its values.
type parameterView struct {
	Name   string `json:"name"`
	Values int64  `json:"values"`
	Text   string `json:"text"`
}

// ruleView is a rule of a space. Removed and Left are null where it removes nothing by its kind.
type ruleView struct {
	Rule    string   `json:"rule"`
	Removed *big.Int `json:"removed"` // of what earlier rules left
	Left    *big.Int `json:"left"`

	sampling string // what a sample has drawn, for people
}

func viewOf(s *space.Space) spaceView {
	v := spaceView{Parameters: []parameterView{}, Rules: []ruleView{},
		Combinations: s.Combinations(),
		Included:     s.Included(), Repeats: append([]string{}, s.Repeats()...), Points: s.Len()}
	for _, p := range s.Parameters() {
		v.Parameters = append(v.Parameters, parameterView{p.Name(), p.Len(), p.String()})
	}
	left := s.Combinations()
	for _, rule := range s.Rules() {
		line := ruleView{Rule: rule.Text, Removed: rule.Removed}
		if rule.Removed != nil {
			left = new(big.Int).Sub(left, rule.Removed)
			line.Left = left
		}
		if rule.Sampling != nil {
			v.Sampled, v.SampledFrom = &rule.Sampling.Drawn, &rule.Sampling.Of
			line.sampling = rule.Sampling.String()
		}
		v.Rules = append(v.Rules, line)
	}
	return v
}

// overrideWords are the words of the command line that changed the parameters file for a sweep.
func overrideWords(r core.Record) []string {
	if r.Overrides == nil {
		return []string{}
	}
	return append([]string{}, r.Overrides.Arguments()...)
}

// spaceLines describe a space to a person: its parameters, then its rules.
func spaceLines(s *space.Space) (lines []string) {
	v := viewOf(s)
	for _, p := range v.Parameters {
		lines = append(lines, p.Text)
	}
	for _, r := range v.Rules {
		line := r.Rule
		if r.Removed != nil {
			line += fmt.Sprintf(" (removes %s, leaves %s)", r.Removed, r.Left)
		}
		if r.sampling != "" {
			line += " (" + r.sampling + ")"
		}
		lines = append(lines, line)
	}
	return lines
}
