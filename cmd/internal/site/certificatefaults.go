package site

import "time"

// expiresSoon is how long before the end of a certificate people are told.
const expiresSoon = 30 * 24 * time.Hour

// certificates finds those that end soon.
func (f *faults) certificates(o *Overview) {
	for _, c := range o.Certificates {
		left := c.Until.Sub(o.Time)
		switch day := c.Until.Format(time.DateOnly); {
		case left <= 0:
			f.add("", "infrainit -f makes a new one",
				"the certificate of the %s ended on %s", c.Service, day)
		case left < expiresSoon:
			f.add("", "infrainit -f makes a new one",
				"the certificate of the %s ends on %s, in %d days", c.Service, day,
				int(left.Hours()/24))
		}
	}
}
