package callstats

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// durations are how long the calls of one function took, in ticks of the trace's clock.
// Count, sums, least and most are exact. So is every rank between them while the single
// lengths are kept; a spread of buckets takes their place when there are too many.
type durations struct {
	count    uint64
	min, max uint64
	sumHigh  uint64
	sumLow   uint64
	selfHigh uint64 // of what was in no other call
	selfLow  uint64
	single   []uint64

	// The buckets in use, in their order, once single is given up. Each counts the lengths
	// between two powers of two that agree in their first bucketBits binary digits. They
	// are searched for every call, so they are small.
	keys   []uint16
	counts []uint32
}

// bucketBits is how many digits of a length a bucket keeps. All lengths of a bucket are
// within 2^-(bucketBits-1) of the smallest, and the middle of the bucket is within half of
// that of each: 1/256, that is 0.4 %.
const bucketBits = 8

// bucketOf returns the key of a length's bucket. Keys are in the order of lengths, and
// lengths below 2^bucketBits have one each.
func bucketOf(v uint64) uint16 {
	shift := max(bits.Len64(v)-bucketBits, 0)
	return uint16(shift)<<(bucketBits-1) + uint16(v>>shift)
}

// middle returns the middle of a bucket.
func middle(key uint16) uint64 {
	if key < 1<<bucketBits {
		return uint64(key)
	}
	shift := key>>(bucketBits-1) - 1
	v := uint64(key) - uint64(shift)<<(bucketBits-1)
	return v<<shift + 1<<shift/2
}

// add takes in the length of a call, and how much of that was in no other call.
func (d *durations) add(v, self uint64) {
	if d.count == 0 || v < d.min {
		d.min = v
	}
	d.max = max(d.max, v)
	d.count++
	var carry uint64
	d.sumLow, carry = bits.Add64(d.sumLow, v, 0)
	d.sumHigh += carry
	d.selfLow, carry = bits.Add64(d.selfLow, self, 0)
	d.selfHigh += carry
	if d.exact() {
		d.single = append(d.single, v)
		return
	}
	d.put(bucketOf(v))
}

func (d *durations) put(key uint16) {
	i, found := slices.BinarySearch(d.keys, key)
	if !found {
		d.keys = slices.Insert(d.keys, i, key)
		d.counts = slices.Insert(d.counts, i, 0)
	}
	if d.counts[i] < math.MaxUint32 {
		d.counts[i]++
	}
}

// spread gives the single lengths up for buckets.
func (d *durations) spread() {
	slices.Sort(d.single)
	d.keys, d.counts = make([]uint16, 0, 32), make([]uint32, 0, 32)
	for _, v := range d.single {
		key := bucketOf(v)
		if n := len(d.keys); n == 0 || d.keys[n-1] != key {
			d.keys, d.counts = append(d.keys, key), append(d.counts, 0)
		}
		d.counts[len(d.counts)-1]++
	}
	d.single = nil
}

// exact reports whether ranks are exact.
func (d *durations) exact() bool { return d.keys == nil }

// sum returns the sum of all lengths.
func (d *durations) sum() float64 {
	return math.Ldexp(float64(d.sumHigh), 64) + float64(d.sumLow)
}

// self returns the sum of what was in no other call.
func (d *durations) self() float64 {
	return math.Ldexp(float64(d.selfHigh), 64) + float64(d.selfLow)
}

// rank returns the length that a share of all are below, from 0 to 1: the one at
// floor(share*count) in their order from 0 on, which is what llvm-xray account prints.
// There has to be one.
func (d *durations) rank(share float64) uint64 {
	n := min(uint64(math.Floor(float64(d.count)*share)), d.count-1)
	if d.exact() {
		if !slices.IsSorted(d.single) {
			slices.Sort(d.single)
		}
		return d.single[n]
	}
	for i, count := range d.counts {
		if n < uint64(count) {
			return min(max(middle(d.keys[i]), d.min), d.max)
		}
		n -= uint64(count)
	}
	return d.max
}

// Limits for all functions together. If there are more single lengths than there is room for,
// functions with the most of them keep buckets only. That goes on until half as many are left,
// or no function has more than leastSpread.
const (
	mostSingle  = 4 << 20
	leastSpread = 64
)

// A Ledger has the durations of all functions.
type Ledger struct {
	functions map[uint64]*durations // by what the trace calls them
	single    int                   // lengths that are kept
	limit     int                   // functions with more have buckets
	room      int                   // lengths that may be kept; 0 for mostSingle
	most      int                   // functions that are counted; 0 for maxFunctions
	Refused   uint64                // calls of others
}

// MaxFunctions bounds how many functions are told apart.
const MaxFunctions = 1 << 20

// Add takes in a call: its length, and how much of that was in no call that it made.
func (l *Ledger) Add(function, length, self uint64) {
	d := l.functions[function]
	if d == nil {
		if l.most == 0 {
			l.most = MaxFunctions
		}
		if len(l.functions) >= l.most {
			l.Refused++
			return
		}
		if l.functions == nil {
			l.functions = make(map[uint64]*durations)
		}
		d = new(durations)
		l.functions[function] = d
	}
	d.add(length, self)
	if d.exact() {
		if l.single++; l.single > cmp.Or(l.room, mostSingle) && (l.limit == 0 || l.limit > leastSpread) || l.limit > 0 && len(d.single) > l.limit {
			l.reduce(d)
		}
	}
}

// Counted returns how many calls were taken in.
func (l *Ledger) Counted() (calls uint64) {
	for _, d := range l.functions {
		calls += d.count
	}
	return calls
}

// order returns all functions that there are lengths of, or others of in a second map,
// those with the largest sums first.
func (l *Ledger) order(others map[uint64]uint64) []uint64 {
	ids := make([]uint64, 0, len(l.functions))
	for id := range l.functions {
		ids = append(ids, id)
	}
	for id := range others {
		if l.functions[id] == nil {
			ids = append(ids, id)
		}
	}
	sum := func(id uint64) float64 {
		if d := l.functions[id]; d != nil {
			return d.sum()
		}
		return 0
	}
	slices.SortFunc(ids, func(a, b uint64) int { return cmp.Or(cmp.Compare(sum(b), sum(a)), cmp.Compare(a, b)) })
	return ids
}

// reduce makes room: of one function that has more lengths than the limit, or by a lower
// limit for all.
func (l *Ledger) reduce(d *durations) {
	if l.limit > 0 && len(d.single) > l.limit {
		l.single -= len(d.single)
		d.spread()
		return
	}
	if l.limit == 0 {
		l.limit = 1 << 17
	}
	for l.limit > leastSpread {
		l.limit /= 2
		if l.spread(); l.single <= cmp.Or(l.room, mostSingle)/2 {
			break
		}
	}
}

// spread gives the single lengths up of all functions with more than the limit.
func (l *Ledger) spread() {
	for _, d := range l.functions {
		if d.exact() && len(d.single) > l.limit {
			l.single -= len(d.single)
			d.spread()
		}
	}
}
