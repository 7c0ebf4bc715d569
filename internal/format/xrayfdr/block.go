package xrayfdr

// Base says where a block's first TSC is from.
type Base uint8

const (
	OwnBase     Base = iota // its NewCPUId
	CarriedBase             // the end of the same thread's block before
	NoBase                  // nowhere: TSC counts from 0, only differences mean something
)

// A Block is what a thread recorded in one buffer. From version 2 on a file
// holds the used part of a buffer, in version 1 all of it.
type Block struct {
	Offset int64 // of its first record in the file: BufferExtents, or NewBuffer in version 1
	Size   int64 // in bytes, as far as the file has them
	Cut    bool  // the file ends inside the block

	TID uint32 // as the thread sees itself: in its own pid namespace
	PID uint32 // 0 in versions 1 and 2, which do not say
	// Seconds and Microseconds are the time of CLOCK_MONOTONIC when the runtime
	// gave the buffer to the thread, shortly after TSC was read.
	Seconds      int64
	Microseconds uint32

	Base Base
	TSC  uint64 // in ticks, where the block begins; see Base
	CPU  uint16
}

// WallTime returns the time of CLOCK_MONOTONIC at TSC in nanoseconds. The
// runtime took it some hundred nanoseconds to some microseconds later.
func (b *Block) WallTime() int64 { return b.Seconds*1e9 + int64(b.Microseconds)*1e3 }
