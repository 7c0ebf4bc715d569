package testrec

import "encoding/binary"

// Bits of sample_type.
const (
	IP         = 1 << 0
	TID        = 1 << 1
	Time       = 1 << 2
	Addr       = 1 << 3
	Callchain  = 1 << 5
	ID         = 1 << 6
	CPU        = 1 << 7
	Period     = 1 << 8
	StreamID   = 1 << 9
	StackUser  = 1 << 13 // of which samples have nothing
	Identifier = 1 << 16
)

// An Order is a byte order that can also append: binary.LittleEndian or
// binary.BigEndian.
type Order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// A Recording is a perf.data made by hand: one event, with the given records.
// Set the fields, add records, and write it.
type Recording struct {
	Order      Order
	SampleType uint64
	AttrSize   int    // of the perf_event_attr
	ClockID    int32  // as given with -k; -1 for none
	ID         uint64 // of the event
	StreamID   uint64

	Major, Minor uint32 // of the device that files are on
	Writable     bool   // of mappings: they are PROT_WRITE, too

	// What else of the attr says what samples look like.
	ReadFormat, BranchType uint64
	Registers              uint64 // of user space and of interrupts

	Machine string   // as uname -m says it; empty for a file that does not say
	Cmdline []string // of perf record; likewise

	Wall, Clock uint64 // a moment as CLOCK_REALTIME and the recording's clock have it; 0 for a file that does not say

	// How older perfs and kernels wrote files.
	OldMagic    bool     // PERFFILE, as before 3.5
	ShortHeader bool     // without features, as before 2.6.32
	EventTypes  []string // names of events, as before 3.1
	NoTrailers  bool     // no sample_id_all, as before 2.6.38
	NoMmap2     bool     // as before 3.12: MMAP records only
	Long32      bool     // the feature bits as a 32-bit machine writes them

	data []byte
}

// NewRecording returns an empty recording as perf record -k mono makes them.
func NewRecording() *Recording {
	return &Recording{Order: binary.LittleEndian, SampleType: IP | TID | Time | Period, AttrSize: 128, ClockID: 1, ID: 77, Major: 8, Minor: 1}
}

// pack returns numbers and bytes one after the other.
func (r *Recording) pack(fields ...any) (b []byte) {
	for _, f := range fields {
		var err error
		if b, err = binary.Append(b, r.Order, f); err != nil {
			panic(err)
		}
	}
	return b
}

// Raw adds a record with the given body.
func (r *Recording) Raw(typ uint32, misc uint16, body []byte) {
	r.data = append(r.data, r.pack(typ, misc, uint16(8+len(body)), body)...)
}

// Payload adds bytes that are no record: what follows an AUXTRACE record.
func (r *Recording) Payload(b []byte) { r.data = append(r.data, b...) }

// kernel adds a record with the trailer of kernel records.
func (r *Recording) kernel(typ uint32, misc uint16, body []byte, pid, tid uint32, time uint64) {
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	for _, f := range []struct {
		bit   uint64
		value []byte
	}{{TID, r.pack(pid, tid)}, {Time, r.pack(time)}, {ID, r.pack(r.ID)}, {StreamID, r.pack(r.StreamID)}, {CPU, make([]byte, 8)}, {Identifier, r.pack(r.ID)}} {
		if r.SampleType&f.bit != 0 && !r.NoTrailers {
			body = append(body, f.value...)
		}
	}
	r.Raw(typ, misc, body)
}

// Kernel adds a record of any type as the kernel would write it: padded, and with
// the trailer of the given process and time.
func (r *Recording) Kernel(typ uint32, misc uint16, body []byte, pid uint32, time uint64) {
	r.kernel(typ, misc, body, pid, pid, time)
}

// Mmap2 adds an MMAP2 record of user space, executable, or with NoMmap2 an MMAP
// record.
func (r *Recording) Mmap2(pid uint32, time, addr, length, pgoff uint64, name string) {
	r.FileMmap2(pid, time, addr, length, pgoff, name, 0)
}

// FileMmap2 is Mmap2 of a file that has an inode.
func (r *Recording) FileMmap2(pid uint32, time, addr, length, pgoff uint64, name string, inode uint64) {
	r.mmap2(pid, time, addr, length, pgoff, name, inode, 2)
}

// SharedMmap2 is FileMmap2 with MAP_SHARED, of memory that the kernel keeps in a file.
func (r *Recording) SharedMmap2(pid uint32, time, addr, length, pgoff, inode uint64) {
	r.mmap2(pid, time, addr, length, pgoff, "/dev/zero (deleted)", inode, 1)
}

func (r *Recording) mmap2(pid uint32, time, addr, length, pgoff uint64, name string, inode uint64, flags uint32) {
	typ, b := uint32(1), r.pack(pid, pid, addr, length, pgoff)
	if !r.NoMmap2 {
		typ = 10
		major, minor := r.Major, r.Minor
		if inode == 0 {
			major, minor = 0, 0
		}
		prot := uint32(5)
		if r.Writable {
			prot = 7
		}
		b = append(b, r.pack(major, minor, inode, uint64(0), prot, flags)...)
	}
	r.kernel(typ, 2, append(append(b, name...), 0), pid, pid, time)
}

// Marker adds the mapping that names a dump.
func (r *Recording) Marker(pid uint32, time uint64, path string) {
	r.Mmap2(pid, time, 0x7f0000000000, 0x1000, 0, path)
}

// Comm adds a COMM record; exec says that it comes from an exec.
func (r *Recording) Comm(pid uint32, time uint64, name string, exec bool) {
	misc := uint16(0)
	if exec {
		misc = 1 << 13
	}
	r.kernel(3, misc, r.pack(pid, pid, []byte(name+"\x00")), pid, pid, time)
}

// Fork adds the FORK record of a process.
func (r *Recording) Fork(pid, parent uint32, time uint64) { r.task(7, pid, parent, pid, parent, time) }

// Exit adds the EXIT record of a thread.
func (r *Recording) Exit(pid, tid uint32, time uint64) { r.task(4, pid, 1, tid, 1, time) }

func (r *Recording) task(typ uint32, pid, parent, tid, parentTID uint32, time uint64) {
	r.kernel(typ, 0, r.pack(pid, parent, tid, parentTID, time), parent, parent, time)
}

// Namespaces adds a NAMESPACES record: the inodes of the process's namespaces, in
// the order net, uts, ipc, pid, user, mnt, cgroup.
func (r *Recording) Namespaces(pid uint32, time uint64, inodes ...uint64) {
	b := r.pack(pid, pid, uint64(len(inodes)))
	for _, inode := range inodes {
		b = append(b, r.pack(uint64(4), inode)...) // device, inode
	}
	r.kernel(16, 0, b, pid, pid, time)
}

// Sample adds a sample of user space.
func (r *Recording) Sample(pid uint32, time, ip uint64) { r.Chain(pid, time, ip) }

// Chain adds a sample of user space with, if the event has call chains, the
// addresses of its callers.
func (r *Recording) Chain(pid uint32, time uint64, ips ...uint64) {
	const user = ^uint64(511) // PERF_CONTEXT_USER: what follows is in user space
	ip := ips[0]
	var b []byte
	for _, f := range []struct{ bit, value uint64 }{{Identifier, r.ID}, {IP, ip}, {TID, 0}, {Time, time}, {Addr, 0}, {ID, r.ID}, {StreamID, r.StreamID}, {CPU, 0}, {Period, 1}, {Callchain, 0}, {StackUser, 0}} {
		switch {
		case r.SampleType&f.bit == 0:
		case f.bit == TID:
			b = append(b, r.pack(pid, pid)...)
		case f.bit == Callchain:
			b = append(b, r.pack(uint64(1+len(ips)), user, ips)...)
		default:
			b = r.Order.AppendUint64(b, f.value)
		}
	}
	r.Raw(9, 2, b)
}

// Round adds a FINISHED_ROUND record.
func (r *Recording) Round() { r.Raw(68, 0, nil) }

// Data returns the records so far.
func (r *Recording) Data() []byte { return r.data }
