package core_test

import "mlframework/sweep/core"

// bug is what a master of a simulation does wrong. The zero value does everything right.
type bug struct {
	loaded    func([]core.Loaded)
	input     func(*simMaster, *core.Input)
	event     func(*simMaster, *core.Event)
	stepped   func(*simMaster, *core.Input)
	rows      func(*simMaster, *core.Input, *core.Rows)
	effects   func(*simMaster, *core.Effects)
	ackFirst  bool
	tellFirst bool
}
