package site

import "mlframework/sweep/api"

// Judge fills in what is wrong, from what everybody said.
func (o *Overview) Judge(ready []api.Reason, silent error) []Fault {
	o.ready, o.silent = ready, silent
	o.Faults = o.faults()
	o.Well = len(o.Faults) == 0
	return o.Faults
}
