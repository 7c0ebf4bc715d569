package stays

import "slices"

// Loads are the functions that better sources of a process have.
type Loads struct {
	arrivals []arrival
	at       map[place][]int32 // indexes of arrivals
	cover    *cover            // finds any code at an address
	referred map[int32]bool    // arrivals of isolates with known beginnings
	last     int64             // the latest of their times
}

// NewLoads returns no functions.
func NewLoads() *Loads { return &Loads{at: make(map[place][]int32), cover: new(cover)} }

// Add adds a function at a time, in nanoseconds of the recording. key is the hash of its name.
func (d *Loads) Add(addr, size, key uint64, time int64) {
	d.add(arrival{addr: addr, size: size, key: key, since: time, sure: time})
	d.last = max(d.last, time)
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
			if l.contradicted == nil {
				l.contradicted = make(map[int32]Bounds)
			}
			l.contradicted[int32(i)], l.Offsets[i] = l.Offsets[i], impossible
			continue
		}
		l.Offsets[i] = b
		d.refer(l, int32(i), b)
	}
}

// refer notes which functions of the dumps are those of an isolate with a known beginning.
func (d *Loads) refer(l *Log, isolate int32, b Bounds) {
	if d.referred == nil {
		d.referred = make(map[int32]bool)
	}
	for i := range l.Stays {
		s := &l.Stays[i]
		c := &l.Codes[s.Code]
		if c.Isolate != isolate || s.From != s.To {
			continue
		}
		for _, k := range d.at[place{s.Addr, s.Size}] {
			if a := &d.arrivals[k]; a.key == c.Key && !a.always && a.since-int64(s.From) >= b.Lo-maxWindow && a.since-int64(s.From) <= b.Hi+maxWindow {
				d.referred[k] = true
			}
		}
	}
}

// Reconsider bounds the isolates that functions of a cut dump contradict, when those functions are of other isolates:
// a worker uses the memory of one that has ended, and its functions have the same names and sizes. If the dump has none of
// its own, then it began after the dump's end. The logs of all isolates must have been bounded.
func (d *Loads) Reconsider(l *Log) {
	first := make(map[int32]int64) // time of an isolate's first function, by its own count
	for k := range l.Stays {
		s := &l.Stays[k]
		c := &l.Codes[s.Code]
		if _, ok := l.contradicted[c.Isolate]; !ok || c.InFile || c.Bytecode || !c.Prompt || s.From != s.To {
			continue
		}
		if at, ok := first[c.Isolate]; !ok || int64(s.From) < at {
			first[c.Isolate] = int64(s.From)
		}
		for _, a := range d.at[place{s.Addr, s.Size}] {
			if load := &d.arrivals[a]; load.key == c.Key && !load.always && !d.referred[a] {
				delete(l.contradicted, c.Isolate) // it is of another run
				break
			}
		}
	}
	for isolate, bounds := range l.contradicted {
		at, ok := first[isolate]
		bounds.Lo = max(bounds.Lo, d.last-at-maxWindow)
		if ok && !bounds.IsEmpty() {
			l.Offsets[isolate] = bounds
		}
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
