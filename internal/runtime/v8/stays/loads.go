package stays

import "slices"

// Loads are the functions that better sources of a process have.
type Loads struct {
	arrivals []arrival
	at       map[place][]int32 // indexes of arrivals
	cover    *cover            // finds any code at an address
}

// NewLoads returns no functions.
func NewLoads() *Loads { return &Loads{at: make(map[place][]int32), cover: new(cover)} }

// Add adds a function at a time, in nanoseconds of the recording. key is the hash of its name.
func (d *Loads) Add(addr, size, key uint64, time int64) {
	d.add(arrival{addr: addr, size: size, key: key, since: time, sure: time})
}

// AddAlways adds a function without a known time. Nothing else can be told from it.
func (d *Loads) AddAlways(addr, size uint64) {
	d.add(arrival{addr: addr, size: size, sure: never, always: true})
}

func (d *Loads) add(a arrival) {
	n := int32(len(d.arrivals))
	a.clock, a.until = dumpClock, never
	p := place{a.addr, a.size}
	d.at[p] = append(d.at[p], n)
	d.arrivals = append(d.arrivals, a)
	d.cover.first.Place(a.addr, a.addr+a.size, int(n))
}

// find returns a dump's arrival of the function of another arrival, or nil.
func (d *Loads) find(a *arrival, c *Code) *arrival {
	at := d.at[place{a.addr, a.size}]
	i := slices.IndexFunc(at, func(n int32) bool {
		load := &d.arrivals[n]
		return load.always || load.key == c.Key && (c.InFile || load.since >= a.since-maxWindow && load.since <= a.sure+min(maxWindow, never-a.sure))
	})
	if i < 0 {
		return nil
	}
	return &d.arrivals[at[i]]
}

// begin bounds the isolates of a log by the functions that a dump has, too. Bounds that these contradict become
// impossible.
func (d *Loads) begin(l *Log) {
	count := make(map[arrivalKey]int) // of the log
	for i := range l.Stays {
		count[l.keyOf(&l.Stays[i])]++
	}
	differences := make([][]int64, len(l.Ends))
	for i := range l.Stays {
		s := &l.Stays[i]
		c := &l.Codes[s.Code]
		if c.InFile || s.From != s.To || count[l.keyOf(s)] > 1 {
			continue
		}
		found, n := int64(0), 0
		for _, k := range d.at[place{s.Addr, s.Size}] {
			if load := &d.arrivals[k]; load.key == c.Key && !load.always {
				found, n = load.since, n+1
			}
		}
		if n == 1 {
			differences[c.Isolate] = append(differences[c.Isolate], found-int64(s.From))
		}
	}
	for i, list := range differences {
		if len(list) < fewPairs {
			continue
		}
		b, ok := exactly(list)
		if !ok || b.Lo > l.Offsets[i].Hi+maxWindow || b.Hi < l.Offsets[i].Lo-maxWindow {
			b = impossible
		}
		l.Offsets[i] = b
	}
}

// An arrivalKey tells functions of one isolate apart.
type arrivalKey struct {
	place
	key     uint64
	isolate int32
}

func (l *Log) keyOf(s *Stay) arrivalKey {
	c := &l.Codes[s.Code]
	return arrivalKey{place{s.Addr, s.Size}, c.Key, c.Isolate}
}
