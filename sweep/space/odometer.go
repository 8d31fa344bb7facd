package space

// odometer steps through points and tells which parameters changed, so that the next point costs what changed and not
// what there is.
type odometer struct {
	index, count []int64
}

func newOdometer(parameters []parameter, point int64) *odometer {
	o := &odometer{index: make([]int64, len(parameters)), count: make([]int64, len(parameters))}
	for j := range parameters {
		o.index[j], o.count[j] = parameters[j].digit(point), parameters[j].count()
	}
	return o
}

// advance moves to the next point and returns the first parameter that changed; all after it did too, or have one
// value only. It must not be called at the last point.
func (o *odometer) advance() int {
	j := len(o.index) - 1
	for {
		o.index[j]++
		if o.index[j] < o.count[j] {
			return j
		}
		o.index[j] = 0
		j--
	}
}
