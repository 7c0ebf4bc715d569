package samplerefs

import "math/bits"

// A Log has references by any process, in blocks of addresses and intervals of time. It may report
// references that there are not, near those that there are, but misses none.
type Log struct {
	begin uint64 // the time at which the first interval begins
	shift int    // an interval has 1<<shift nanoseconds
	// blocks has a bit for each interval, by address/blockSize.
	blocks   map[uint64]*[intervals / 64]uint64
	inBlocks [intervals][]uint64 // the keys of blocks, by interval
}

const (
	// intervals is the number of intervals of time in a log.
	intervals = 2048

	// blockSize is the number of addresses in a block.
	blockSize = 16
)

// NewLog returns an empty log for times from begin to end. Earlier and later ones count as those.
func NewLog(begin, end uint64) *Log {
	return &Log{begin: begin, shift: max(0, bits.Len64(end-begin)-bits.Len64(intervals-1)), blocks: make(map[uint64]*[intervals / 64]uint64)}
}

func (l *Log) interval(time uint64) int {
	if time <= l.begin {
		return 0
	}
	return int(min((time-l.begin)>>l.shift, intervals-1))
}

// Add records a reference to an address at a time. Later ones before until add nothing.
func (l *Log) Add(addr, time uint64) (until uint64) {
	block := l.blocks[addr/blockSize]
	if block == nil {
		block = new([intervals / 64]uint64)
		l.blocks[addr/blockSize] = block
	}
	i := l.interval(time)
	if bit := uint64(1) << (i % 64); block[i/64]&bit == 0 {
		block[i/64] |= bit
		l.inBlocks[i] = append(l.inBlocks[i], addr/blockSize)
	}
	if i == intervals-1 {
		return Always
	}
	return l.begin + uint64(i+1)<<l.shift
}

// Each calls f for ranges of addresses, in any order. Together they have all addresses that were
// referred to in [from, to].
func (l *Log) Each(from, to uint64, f func(lo, hi uint64)) {
	for _, blocks := range l.inBlocks[l.interval(from) : l.interval(to)+1] {
		for _, block := range blocks {
			f(block*blockSize, (block+1)*blockSize)
		}
	}
}

// Within reports whether there may be a reference to an address in [lo, hi) in [from, to].
func (l *Log) Within(lo, hi, from, to uint64) bool {
	first, last := l.interval(from), l.interval(to)
	for at := lo / blockSize; at <= (hi-1)/blockSize; at++ {
		block := l.blocks[at]
		if block == nil {
			continue
		}
		for i := first; i <= last; i++ {
			if block[i/64]&(1<<(i%64)) != 0 {
				return true
			}
		}
	}
	return false
}
