package callstats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Buckets are in the order of lengths, and their middle is within 1/256 of each.
func TestBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := []uint64{0, 1, 127, 128, 255, 256, 257, 511, 512, 1<<63 - 1, 1 << 63, math.MaxUint64}
	for range 10000 {
		values = append(values, r.Uint64()>>r.UintN(64))
	}
	slices.Sort(values)
	last := uint16(0)
	for _, v := range values {
		key := bucketOf(v)
		if key < last {
			t.Fatalf("%d has bucket %d, which is in front of %d", v, key, last)
		}
		last = key
		m := middle(key)
		if bucketOf(m) != key {
			t.Fatalf("the middle of bucket %d is %d, which is in bucket %d", key, m, bucketOf(m))
		}
		if off := math.Abs(float64(m)-float64(v)) / max(float64(v), 1); off > 1.0/256 || v < 256 && m != v {
			t.Fatalf("%d is taken for %d, %g off", v, m, off)
		}
	}
}

// What is kept stays within its bounds; count, sum and ends are exact, and ranks within
// what is promised of the exact ones.
func TestLedger(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const room = 1 << 16
	l := Ledger{room: room}
	const functions, calls = 100, 3*room + 12345
	truth := make(map[uint64][]uint64)
	for range calls {
		f := uint64(r.ExpFloat64() * 5)
		if f >= functions {
			f = functions - 1
		}
		v := uint64(math.Exp(r.NormFloat64()*2 + 8))
		l.Add(f, v, v/2)
		truth[f] = append(truth[f], v)
		if l.single > room+1 {
			t.Fatalf("%d lengths are kept", l.single)
		}
	}
	kept, spread, exact := 0, 0, 0
	for f, want := range truth {
		slices.Sort(want)
		d := l.functions[f]
		kept += len(d.single)
		sum, self := 0.0, 0.0
		for _, v := range want {
			sum += float64(v)
			self += float64(v / 2)
		}
		if d.count != uint64(len(want)) || d.min != want[0] || d.max != want[len(want)-1] || math.Abs(d.sum()-sum) > sum*1e-12 || math.Abs(d.self()-self) > self*1e-12 {
			t.Errorf("function %d: %d calls, %d to %d, %g, %g; want %d, %d to %d, %g, %g", f, d.count, d.min, d.max, d.sum(), d.self(), len(want), want[0], want[len(want)-1], sum, self)
		}
		bound := 1.0 / 256
		if d.exact() {
			bound = 0
			exact++
		} else {
			spread++
		}
		for _, share := range []float64{0, 0.5, 0.9, 0.99, 1} {
			got, want := d.rank(share), want[min(int(float64(len(want))*share), len(want)-1)]
			if math.Abs(float64(got)-float64(want)) > bound*float64(want) {
				t.Errorf("function %d: %g of %d is %d, want %d", f, share, d.count, got, want)
			}
		}
	}
	if kept != l.single || spread == 0 || exact == 0 {
		t.Errorf("%d lengths are kept, %d counted; %d functions have buckets, %d do not", kept, l.single, spread, exact)
	}
}

// Many functions of few calls are told apart up to a bound.
func TestLedgerFunctions(t *testing.T) {
	l := Ledger{most: 10}
	for f := range uint64(30) {
		l.Add(f%15, f, f)
	}
	if len(l.functions) != 10 || l.Refused != 10 {
		t.Errorf("%d functions, %d calls of others", len(l.functions), l.Refused)
	}
}
