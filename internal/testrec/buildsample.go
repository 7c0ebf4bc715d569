package testrec

import (
	"cmp"
	"math/bits"
)

// More bits of sample_type, for [Recording.Touch].
const (
	Read       = sampleRead
	Raw        = sampleRaw
	Branches   = sampleBranches
	RegsUser   = sampleRegsUser
	Weight     = 1 << 14
	DataSrc    = 1 << 15
	Transact   = 1 << 17
	RegsIntr   = sampleRegsIntr
	PhysAddr   = 1 << 19
	Aux        = sampleAux
	Cgroup     = 1 << 21
	DataPage   = 1 << 22
	CodePage   = 1 << 23
	WeightPart = 1 << 24
)

// A Touch is a sample that names more than where it was taken. What the recording's
// SampleType has not is left out; counts that ReadFormat and BranchType ask for are
// numbers without a meaning.
type Touch struct {
	Misc     uint16 // of the record; 0 for a sample of user space
	PID      uint32
	Time     uint64
	IP, Addr uint64
	Chain    []uint64
	Raw      []byte      // 4 bytes more than a multiple of 8
	Branches [][2]uint64 // from, to
	ABI      uint64      // of the registers; 0 for none: their values are left out then
	User     []uint64    // one for each bit of Registers
	Intr     []uint64
	Stack    []byte // a multiple of 8; as many bytes again were not copied
	Aux      []byte
	Period   uint64 // 0 for 1
}

// Touch adds a sample with the fields of [perf_event.h, PERF_RECORD_SAMPLE] in their
// order.
func (r *Recording) Touch(s Touch) {
	o, b := r.Order, []byte(nil)
	has := func(bit uint64) bool { return r.SampleType&bit != 0 }
	u64 := func(vs ...uint64) {
		for _, v := range vs {
			b = o.AppendUint64(b, v)
		}
	}
	ifHas := func(bit uint64, v uint64) {
		if has(bit) {
			u64(v)
		}
	}
	regs := func(bit uint64, values []uint64) {
		if ifHas(bit, s.ABI); has(bit) && s.ABI != 0 {
			u64(values...)
		}
	}
	ifHas(Identifier, r.ID)
	ifHas(IP, s.IP)
	if has(TID) {
		b = o.AppendUint32(o.AppendUint32(b, s.PID), s.PID)
	}
	ifHas(Time, s.Time)
	ifHas(Addr, s.Addr)
	ifHas(ID, r.ID)
	ifHas(StreamID, r.StreamID)
	ifHas(CPU, 0)
	ifHas(Period, max(s.Period, 1))
	if has(Read) {
		const meaningless, group = 0xeeee, 8
		n := 1 + bits.OnesCount64(r.ReadFormat&(1|2|4|16))
		if r.ReadFormat&group != 0 {
			u64(3) // events
			n = bits.OnesCount64(r.ReadFormat&(1|2)) + 3*(1+bits.OnesCount64(r.ReadFormat&(4|16)))
		}
		for range n {
			u64(meaningless)
		}
	}
	if has(Callchain) {
		u64(uint64(len(s.Chain)))
		u64(s.Chain...)
	}
	if has(Raw) {
		b = append(o.AppendUint32(b, uint32(len(s.Raw))), s.Raw...)
	}
	if has(Branches) {
		u64(uint64(len(s.Branches)))
		ifSet := func(bit uint64, v ...uint64) {
			if r.BranchType&bit != 0 {
				u64(v...)
			}
		}
		ifSet(1<<17, 0xdddd)
		for _, branch := range s.Branches {
			u64(branch[0], branch[1], 1)
		}
		ifSet(1<<19, make([]uint64, len(s.Branches))...)
	}
	regs(RegsUser, s.User)
	if has(StackUser) {
		u64(uint64(2 * len(s.Stack)))
		if len(s.Stack) > 0 {
			b = append(append(b, s.Stack...), make([]byte, len(s.Stack))...)
			u64(uint64(len(s.Stack)))
		}
	}
	ifHas(Weight|WeightPart, 7)
	ifHas(DataSrc, 8)
	ifHas(Transact, 9)
	regs(RegsIntr, s.Intr)
	ifHas(PhysAddr, 10)
	ifHas(Cgroup, 11)
	ifHas(DataPage, 12)
	ifHas(CodePage, 13)
	if has(Aux) {
		u64(uint64(len(s.Aux)))
		b = append(b, s.Aux...)
	}
	r.Raw(9, cmp.Or(s.Misc, 2), b)
}

// Deferred adds a CALLCHAIN_DEFERRED record.
func (r *Recording) Deferred(pid uint32, time, cookie uint64, chain ...uint64) {
	r.kernel(22, 2, r.pack(cookie, uint64(len(chain)), chain), pid, pid, time)
}
