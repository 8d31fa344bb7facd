package nvdocker_test

import (
	"math"
	"testing"

	"mlframework/nvdocker"
)

func TestInUse(t *testing.T) {
	for _, c := range []struct {
		name string
		gpu  nvdocker.GPU
		idle int64
		want string
	}{
		{"free", nvdocker.GPU{Used: nvdocker.Idle}, nvdocker.Idle, ""},
		{"not told", nvdocker.GPU{Used: nvdocker.Unknown}, nvdocker.Idle, ""},
		{"programs that are not told", nvdocker.GPU{Used: 4 << 30}, nvdocker.Idle,
			"4.0 GB in use"},
		{"as much as may be", nvdocker.GPU{Used: 4 << 30}, 4 << 30, ""},
		{"less may be", nvdocker.GPU{Used: 100 << 20}, 50 << 20, "100 MB in use"},
		{"a program", nvdocker.GPU{Used: 4 << 30, Processes: []nvdocker.Process{{PID: 411,
			User: "ben", Name: "/usr/bin/python", Memory: 4 << 30}}}, nvdocker.Idle,
			"ben, python (pid 411), 4.0 GB"},
		{"a program that may be", nvdocker.GPU{Used: nvdocker.Unknown,
			Processes: []nvdocker.Process{{PID: 411, Memory: nvdocker.Unknown}}}, math.MaxInt64,
			""},
		{"lost", nvdocker.GPU{Lost: "GPU is lost", Used: 4 << 30}, nvdocker.Idle, ""},
	} {
		if got := c.gpu.InUse(c.idle); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
}

func TestUnavailable(t *testing.T) {
	for _, c := range []struct {
		name  string
		gpu   nvdocker.GPU
		idle  int64
		want  string
		unfit bool
	}{
		{"free", nvdocker.GPU{Used: nvdocker.Idle}, nvdocker.Idle, "", false},
		{"busy", nvdocker.GPU{Used: 4 << 30}, nvdocker.Idle, "busy: 4.0 GB in use", false},
		{"as much as may be", nvdocker.GPU{Used: 4 << 30}, 4 << 30, "", false},
		{"busy and unfit", nvdocker.GPU{Used: 4 << 30, Errors: 1}, nvdocker.Idle,
			"GPU 0: its memory had 1 uncorrected errors (ECC)", true},
		{"lost", nvdocker.GPU{Lost: "GPU is lost"}, nvdocker.Idle,
			"GPU 0 does not answer: GPU is lost", true},
	} {
		if got, unfit := c.gpu.Unavailable(c.idle); got != c.want || unfit != c.unfit {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, got, unfit, c.want, c.unfit)
		}
	}
}
