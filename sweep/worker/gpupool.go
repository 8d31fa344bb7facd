package worker

import (
	"slices"
	"strings"
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

const (
	// gpuRecovery is how long a GPU that failed has to answer before attempts get it again.
	gpuRecovery = time.Minute
	// gpuPatience is how long an attempt waits for GPUs that others use or that do not answer. Then
	// it is returned to the master: another worker may have some.
	gpuPatience = 10 * time.Second
	// gpuFresh is how long a look counts after its end: a GPU that was free longer ago is looked at
	// again before an attempt gets it.
	gpuFresh = time.Second
)

// gpuPool decides when attempts can start on the GPUs that the master chose for them. It is pure:
// what GPUs there are and how they are comes with reports, and time is a parameter.
//
// Looks at the GPUs are numbered in the order in which they begin. A GPU whose last share was
// released is given out again only after a look that began later has found it free, because the
// driver may still hold the memory of a program that has ended.
type gpuPool struct {
	idle  int64 // bytes of a GPU's memory that others may use while attempts get it
	looks int   // that have begun
	// a look has ended; until then it is not known which GPUs there are
	known  bool
	ended  int    // the number of the latest look that has ended
	failed int    // looks in a row that listed no GPU and said why
	fault  string // why the latest look could not list all GPUs, for people; "": it did
	// in the order of the latest report; those that it lacks come last
	devices []gpuDevice
	given   map[key]nvdocker.Assignment
	// processes that SIGKILL did not end, as process.Identity names them, of attempts that have
	// ended: these still have what they were given
	unkillable map[key][]string
	// by UUID, who has the locks of devices, as the latest look found; this worker itself may be
	// among them
	holders map[string]string
}

// gpuDevice is a GPU, or an instance of one that is split.
type gpuDevice struct {
	nvdocker.Device
	card        string // UUID of the GPU that it is or belongs to
	used        int64  // bytes; nvdocker.Unknown
	utilization int    // percent; nvdocker.Unknown
	gpuTrouble
	// since when there is a reason
	outSince time.Time
	// when it was last found to be broken; zero: never
	brokenAt time.Time
	// when the latest look at it ended
	seen time.Time
	// its last share was released since; uncounted is the number of the last look that does not
	// count
	unchecked bool
	uncounted int
	// since the latest look another process has been found to have its lock
	denied bool
}

// gpuTrouble is why attempts get none of a device. The zero value is that they do.
type gpuTrouble struct {
	reason string // for people
	broken bool   // it has to answer for a while before attempts get it again
	busy   bool   // others use it
	held   bool   // another process on this machine has its lock
}

// gpuChange is a device that attempts do not get any more, or get again.
type gpuChange struct {
	device nvdocker.Device
	reason string // "": attempts get it
}

func (p *gpuPool) init() {
	p.given, p.unkillable = map[key]nvdocker.Assignment{}, map[key][]string{}
}

// beginLook returns the number of a look that begins now.
func (p *gpuPool) beginLook() (look int) {
	p.looks++
	return p.looks
}

// update takes over the report of a look that ended at a time, and returns the devices that are new
// or whose availability has changed.
func (p *gpuPool) update(r nvdocker.Report, look int, now time.Time) (changes []gpuChange) {
	before := p.devices
	p.known, p.devices, p.fault = true, nil, ""
	p.ended = max(p.ended, look)
	if r.Fault != nil {
		p.fault = printable(r.Fault.Cause)
	}
	if p.failed++; r.Fault == nil || len(r.GPUs) > 0 {
		p.failed = 0
	}
	for _, g := range r.GPUs {
		for _, d := range nvdocker.Devices([]nvdocker.GPU{g}) {
			have := gpuDevice{Device: d, card: g.UUID}
			i := indexDevice(before, d.UUID)
			if i >= 0 {
				have = before[i]
				have.Device = d
			}
			have.seen, have.used, have.utilization = now, g.Used, g.Utilization
			if d.Split { // what is told is of the whole GPU
				have.used, have.utilization = nvdocker.Unknown, nvdocker.Unknown
			}
			found := p.gpuReason(g, p.inUse(before, g.UUID, look))
			if holder := p.holders[d.UUID]; holder != "" && !found.broken &&
				!p.mayBeOurs(have, look) {
				found = gpuTrouble{reason: "busy: " + holder, busy: true, held: true}
			}
			if have.denied && found.reason == "" { // its holder has no name
				found = gpuTrouble{reason: "busy: another program has its lock", busy: true,
					held: true}
			}
			if who := p.leftOn(d.UUID); who != "" && !found.broken {
				found = gpuTrouble{reason: who, busy: true}
			}
			have.judge(found, now)
			have.denied = false
			if look > have.uncounted {
				have.unchecked = false
			}
			if i < 0 || have.reason != before[i].reason {
				changes = append(changes, gpuChange{d, have.reason})
			}
			p.devices = append(p.devices, have)
		}
	}
	for _, have := range before {
		if indexDevice(p.devices, have.UUID) >= 0 {
			continue
		}
		answers := slices.ContainsFunc(p.devices,
			func(d gpuDevice) bool { return d.card == have.card })
		if answers && p.share(have.UUID) == 0 {
			continue // the GPU is split in another way now
		}
		old := have.reason
		have.judge(p.missingReason(r, have.card), now)
		have.used, have.utilization = nvdocker.Unknown, nvdocker.Unknown
		if have.reason != old {
			changes = append(changes, gpuChange{have.Device, have.reason})
		}
		p.devices = append(p.devices, have)
	}
	return changes
}

// judge sets why attempts get none of a device. One that was broken keeps its reason until it has
// answered for a while.
func (d *gpuDevice) judge(found gpuTrouble, now time.Time) {
	switch {
	case found.broken:
		d.brokenAt = now
	case !d.brokenAt.IsZero() && now.Sub(d.brokenAt) < gpuRecovery:
		return
	default:
		d.brokenAt = time.Time{}
	}
	if d.reason == "" {
		d.outSince = now
	}
	d.gpuTrouble = found
	d.reason = printable(found.reason)
}

// gpuReason returns why attempts get none of a GPU that is in a report. Its use by attempts of this
// worker (ours) is no reason.
func (p *gpuPool) gpuReason(g nvdocker.GPU, ours bool) gpuTrouble {
	reason, unfit := g.Unavailable(p.idle)
	if reason == "" || ours && !unfit {
		return gpuTrouble{}
	}
	return gpuTrouble{reason: reason, broken: unfit, busy: !unfit}
}

// missingReason returns why attempts get none of a GPU that was there and that a report does not
// list. A report without any GPU tells nothing of this one.
func (p *gpuPool) missingReason(r nvdocker.Report, card string) gpuTrouble {
	lost := slices.IndexFunc(r.GPUs, func(g nvdocker.GPU) bool { return g.UUID == card })
	switch {
	case lost >= 0 && r.GPUs[lost].Lost != "":
		reason, _ := r.GPUs[lost].Unavailable(p.idle)
		return gpuTrouble{reason: reason, broken: true}
	case r.Fault != nil:
		return gpuTrouble{reason: r.Fault.Cause}
	}
	return gpuTrouble{reason: "it does not answer any more", broken: true}
}

// inUse reports whether attempts of this worker have, or had during a look, something of a GPU: its
// use may be theirs.
func (p *gpuPool) inUse(devices []gpuDevice, card string, look int) bool {
	return slices.ContainsFunc(devices, func(d gpuDevice) bool {
		return d.card == card && p.mayBeOurs(d, look)
	})
}

// mayBeOurs reports whether attempts of this worker have, or may have had during a look, something
// of a device.
func (p *gpuPool) mayBeOurs(d gpuDevice, look int) bool {
	return p.share(d.UUID) > 0 || d.unchecked && look <= d.uncounted
}

// share returns how much of a device attempts have. The sum is made anew each time, so that
// rounding does not add up.
func (p *gpuPool) share(uuid string) (sum float64) {
	for _, a := range p.given {
		if slices.ContainsFunc(a.Devices,
			func(d nvdocker.Device) bool { return d.UUID == uuid }) {
			sum += a.Share
		}
	}
	return min(1, sum)
}

// unshared returns the UUIDs of the devices of an assignment of which no attempt has anything yet,
// sorted. Those have to be locked before take.
func (p *gpuPool) unshared(a nvdocker.Assignment) (uuids []string) {
	for _, d := range a.Devices {
		if p.share(d.UUID) == 0 {
			uuids = append(uuids, d.UUID)
		}
	}
	slices.Sort(uuids)
	return uuids
}

// deny keeps attempts from a device whose lock another process has, until the next look.
func (p *gpuPool) deny(uuid string) {
	if i := indexDevice(p.devices, uuid); i >= 0 {
		p.devices[i].denied = true
	}
}

// take gives an attempt devices, as ready returned them.
func (p *gpuPool) take(k key, a nvdocker.Assignment) {
	if len(a.Devices) > 0 {
		p.given[k] = a
	}
}

// release takes back what an attempt has, and reports whether it had anything: then a look should
// begin.
func (p *gpuPool) release(k key) bool {
	a, had := p.given[k]
	delete(p.given, k)
	for _, d := range a.Devices {
		if i := indexDevice(p.devices, d.UUID); i >= 0 && p.share(d.UUID) == 0 {
			p.devices[i].unchecked, p.devices[i].uncounted = true, p.looks
		}
	}
	return had
}

// failure returns why a device that an attempt has does not work, or cannot be listed, for people;
// "": all do, as far as is known.
func (p *gpuPool) failure(a nvdocker.Assignment) string {
	for _, d := range a.Devices {
		if i := indexDevice(p.devices, d.UUID); i >= 0 && !p.devices[i].busy {
			if reason := p.devices[i].reason; reason != "" {
				return reason
			}
		}
	}
	return ""
}

// find returns the devices of an attempt as they are now; ok is false if one is not listed any
// more.
func (p *gpuPool) find(a task.Attempt) (all []*gpuDevice, ok bool) {
	for _, d := range a.Devices {
		i := indexDevice(p.devices, d.UUID)
		if i < 0 {
			return nil, false
		}
		all = append(all, &p.devices[i])
	}
	return all, true
}

// lost reports whether an attempt cannot have its devices: one is gone, is broken, or others use it,
// which may be a program that is about to end, for gpuPatience.
func (p *gpuPool) lost(a task.Attempt, now time.Time) bool {
	if !p.known || len(a.Devices) == 0 {
		return false
	}
	devices, there := p.find(a)
	return !there || slices.ContainsFunc(devices, func(d *gpuDevice) bool {
		return d.reason != "" && (!d.busy || d.held || now.Sub(d.outSince) >= gpuPatience)
	})
}

// ready returns the devices of an attempt if it can start on them now. Stale says that it could, but
// for a look at them that is too old.
func (p *gpuPool) ready(a task.Attempt, now time.Time) (is nvdocker.Assignment, ok, stale bool) {
	if len(a.Devices) == 0 {
		return is, true, false
	}
	devices, there := p.find(a)
	if !p.known || !there {
		return is, false, false
	}
	for _, d := range devices {
		share := p.share(d.UUID)
		if d.reason != "" || d.denied || d.unchecked || share+a.Share > 1+shareTolerance {
			return is, false, false
		}
		stale = stale || share == 0 && now.Sub(d.seen) >= gpuFresh
		is.Devices = append(is.Devices, d.Device)
	}
	is.Share = a.Share
	return is, !stale, stale
}

// shareTolerance is how far sums of shares may be off: three thirds are one.
const shareTolerance = 1e-9

// describe returns the devices as heartbeats list them.
func (p *gpuPool) describe() (all []task.GPU) {
	for _, d := range p.devices {
		all = append(all, task.GPU{UUID: d.UUID, Index: d.Number, Name: gpuName(d.Name),
			Memory: max(0, d.Memory),
			Split:  d.Split, Used: d.used, Utilization: min(d.utilization, 100),
			Given: p.share(d.UUID), Unavailable: d.reason, Broken: d.reason != "" && !d.busy})
	}
	return all
}

// unlisted is why describe may not list all devices, for people; "": it does.
func (p *gpuPool) unlisted() string {
	if !p.known {
		return "nvidia-smi has not answered yet"
	}
	return p.fault
}

// maxGPUName is the length in bytes of the longest name of a card that is reported. NVIDIA's have
// less than 60.
const maxGPUName = 128

// gpuName returns the name of a card as it is reported.
func gpuName(name string) string {
	name = human.Visible(name)
	return strings.ToValidUTF8(name[:min(len(name), maxGPUName)], "")
}

func indexDevice(all []gpuDevice, uuid string) int {
	return slices.IndexFunc(all, func(d gpuDevice) bool { return d.UUID == uuid })
}
