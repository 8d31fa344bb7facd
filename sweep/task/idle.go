package task

import (
	"fmt"
	"time"
)

// Idle is the use of GPUs below which an attempt is ended. The zero value ends none.
type Idle struct {
	Below int           `json:"below"` // percent, of each GPU
	For   time.Duration `json:"for"`
}

func (i Idle) String() string { return fmt.Sprintf("below %d%% for %v", i.Below, i.For) }
