package task

import (
	"errors"
	"fmt"
	"math"
	"regexp"
)

// Bounds of GPUs.
const (
	MaxGPUs    = 64 // whole ones of one task
	MaxShares  = 16 // tasks on one
	maxGPUName = 128
	// MaxShownGPUs is how many GPUs of one worker are shown, on pages, in tables and to Prometheus:
	// 16 cards in seven parts each. What a worker makes up beyond that fills none of them.
	MaxShownGPUs = 112
)

// GPUs are what each task needs of GPUs. The zero value is none.
type GPUs struct {
	// whole ones, or 1/n of one, which n tasks share
	Count float64 `json:"count"`
	// All GPUs of a host that match, at least Count, which is 1.
	All bool `json:"all,omitempty"`
	// As many tasks share one GPU as have Memory in it. Count is 1.
	Share bool `json:"share,omitempty"`
	// bytes that each has to have, all in all, whatever the share; with Share, bytes of it for each
	// task; 0: any
	Memory int64 `json:"memory,omitempty"`
	// a regular expression that the name of each matches, in any case of letters; "": any
	Name string `json:"name,omitempty"`
}

// ShareOf returns n if count is one nth of a GPU, for n from 2 to MaxShares, give or take what
// division rounds; else 0.
func ShareOf(count float64) (n int) {
	if n := math.Round(1 / count); n >= 2 && n <= MaxShares && math.Abs(count*n-1) < 1e-9 {
		return int(n)
	}
	return 0
}

// Check returns why there is no such need; nil: there is.
func (g GPUs) Check() error {
	whole := g.Count >= 0 && g.Count <= MaxGPUs && g.Count == math.Trunc(g.Count)
	_, err := regexp.Compile(g.Name)
	switch {
	case !whole && ShareOf(g.Count) == 0:
		return fmt.Errorf("%v is not a number of GPUs: it is whole, up to %d, or 1/n with n up to %d",
			g.Count, MaxGPUs, MaxShares)
	case g.Memory < 0:
		return errors.New("the memory of a GPU is negative")
	case len(g.Name) > maxGPUName:
		return fmt.Errorf("the name of a GPU is longer than %d bytes", maxGPUName)
	case err != nil:
		return fmt.Errorf("the name of a GPU is no regular expression: %w", err)
	case g.Count == 0 && g != (GPUs{}):
		return errors.New("memory and name are those of GPUs, and count is 0")
	case g.All && g.Share, (g.All || g.Share) && g.Count != 1:
		return errors.New("all, share and a count exclude each other")
	case g.Share && g.Memory == 0:
		return errors.New("share needs memory: how much of the GPU each task takes")
	}
	return nil
}

// GPU is a GPU that a worker gives to attempts, or an instance of one that is split.
type GPU struct {
	UUID   string `json:"uuid"`
	Index  string `json:"index"`            // as in Device
	Name   string `json:"name"`             // of the card
	Memory int64  `json:"memory,omitempty"` // bytes; 0: not known
	// it is an instance of one that is split: a program uses one at a time
	Split bool `json:"split,omitempty"`
	// bytes that programs use of it, whoever runs them; -1: not known, as of an instance and of one
	// that does not answer
	Used int64 `json:"used"`
	// percent of the last second in which a program ran on it; -1: not known
	Utilization int `json:"utilization"`
	// what attempts of the worker have of it: 0 to 1
	Given float64 `json:"given,omitempty"`
	// why no attempt gets any of it now, for people; "": attempts do
	Unavailable string `json:"unavailable,omitempty"`
	// with Unavailable: it does not work or does not answer; false: others use it
	Broken bool `json:"broken,omitempty"`
}

// Given is how many of the GPUs attempts have.
func Given(gpus []GPU) (sum float64) {
	for i := range gpus {
		sum += gpus[i].Given
	}
	return sum
}
