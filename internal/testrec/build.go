package testrec

import (
	"encoding/binary"
	"os"
	"testing"
)

// Bits of sample_type.
const (
	IP         = 1 << 0
	TID        = 1 << 1
	Time       = 1 << 2
	Addr       = 1 << 3
	ID         = 1 << 6
	CPU        = 1 << 7
	Period     = 1 << 8
	StreamID   = 1 << 9
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

	// What else of the attr says what samples look like.
	ReadFormat, BranchType uint64
	Registers              uint64 // of user space and of interrupts

	data []byte
}

// NewRecording returns an empty recording as perf record -k mono makes them.
func NewRecording() *Recording {
	return &Recording{Order: binary.LittleEndian, SampleType: IP | TID | Time | Period, AttrSize: 128, ClockID: 1, ID: 77}
}

// Raw adds a record with the given body.
func (r *Recording) Raw(typ uint32, misc uint16, body []byte) {
	b := r.Order.AppendUint32(nil, typ)
	b = r.Order.AppendUint16(b, misc)
	b = r.Order.AppendUint16(b, uint16(8+len(body)))
	r.data = append(append(r.data, b...), body...)
}

// kernel adds a record with the trailer of kernel records.
func (r *Recording) kernel(typ uint32, misc uint16, body []byte, pid, tid uint32, time uint64) {
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	if r.SampleType&TID != 0 {
		body = r.Order.AppendUint32(body, pid)
		body = r.Order.AppendUint32(body, tid)
	}
	if r.SampleType&Time != 0 {
		body = r.Order.AppendUint64(body, time)
	}
	if r.SampleType&ID != 0 {
		body = r.Order.AppendUint64(body, r.ID)
	}
	if r.SampleType&StreamID != 0 {
		body = r.Order.AppendUint64(body, r.StreamID)
	}
	if r.SampleType&CPU != 0 {
		body = r.Order.AppendUint64(body, 0)
	}
	if r.SampleType&Identifier != 0 {
		body = r.Order.AppendUint64(body, r.ID)
	}
	r.Raw(typ, misc, body)
}

// Kernel adds a record of any type as the kernel would write it: padded, and with
// the trailer of the given process and time.
func (r *Recording) Kernel(typ uint32, misc uint16, body []byte, pid uint32, time uint64) {
	r.kernel(typ, misc, body, pid, pid, time)
}

// Mmap2 adds an MMAP2 record of user space, executable.
func (r *Recording) Mmap2(pid uint32, time, addr, length, pgoff uint64, name string) {
	b := r.Order.AppendUint32(nil, pid)
	b = r.Order.AppendUint32(b, pid)
	for _, v := range []uint64{addr, length, pgoff} {
		b = r.Order.AppendUint64(b, v)
	}
	b = append(b, make([]byte, 24)...) // device and inode
	b = r.Order.AppendUint32(b, 5)
	b = r.Order.AppendUint32(b, 2)
	b = append(append(b, name...), 0)
	r.kernel(10, 2, b, pid, pid, time)
}

// Marker adds the mapping that names a dump.
func (r *Recording) Marker(pid uint32, time uint64, path string) {
	r.Mmap2(pid, time, 0x7f0000000000, 0x1000, 0, path)
}

// Comm adds a COMM record; exec says that it comes from an exec.
func (r *Recording) Comm(pid uint32, time uint64, name string, exec bool) {
	b := r.Order.AppendUint32(nil, pid)
	b = r.Order.AppendUint32(b, pid)
	b = append(append(b, name...), 0)
	misc := uint16(0)
	if exec {
		misc = 1 << 13
	}
	r.kernel(3, misc, b, pid, pid, time)
}

// Fork adds the FORK record of a process.
func (r *Recording) Fork(pid, parent uint32, time uint64) {
	b := r.Order.AppendUint32(nil, pid)
	for _, v := range []uint32{parent, pid, parent} {
		b = r.Order.AppendUint32(b, v)
	}
	b = r.Order.AppendUint64(b, time)
	r.kernel(7, 0, b, parent, parent, time)
}

// Sample adds a sample of user space.
func (r *Recording) Sample(pid uint32, time, ip uint64) {
	var b []byte
	for _, f := range []struct{ bit, value uint64 }{{Identifier, r.ID}, {IP, ip}, {TID, 0}, {Time, time}, {Addr, 0}, {ID, r.ID}, {StreamID, r.StreamID}, {CPU, 0}, {Period, 1}} {
		switch {
		case r.SampleType&f.bit == 0:
		case f.bit == TID:
			b = r.Order.AppendUint32(b, pid)
			b = r.Order.AppendUint32(b, pid)
		default:
			b = r.Order.AppendUint64(b, f.value)
		}
	}
	r.Raw(9, 2, b)
}

// Round adds a FINISHED_ROUND record.
func (r *Recording) Round() { r.Raw(68, 0, nil) }

// Bytes returns the file: header, ids, attr, data, and no features but an empty
// build-id table.
func (r *Recording) Bytes() []byte {
	o := r.Order
	const header, ids = 104, 8
	attrAt := uint64(header + ids)
	dataAt := attrAt + uint64(r.AttrSize) + 16
	magic := []byte("PERFILE2")
	if o == Order(binary.BigEndian) {
		magic = []byte("2ELIFREP")
	}
	b := magic
	for _, v := range []uint64{header, uint64(r.AttrSize) + 16, attrAt, uint64(r.AttrSize) + 16, dataAt, uint64(len(r.data)), 0, 0} {
		b = o.AppendUint64(b, v)
	}
	const features = 1<<2 | 1<<3 // BUILD_ID, and HOSTNAME, which every perf writes
	b = o.AppendUint64(b, features)
	b = append(b, make([]byte, 24)...)
	b = o.AppendUint64(b, r.ID)
	b = append(b, r.attr()...)
	b = o.AppendUint64(b, header)
	b = o.AppendUint64(b, ids)
	b = append(b, r.data...)
	at := uint64(len(b)) + 32
	for _, v := range []uint64{at, 0, at, 12} {
		b = o.AppendUint64(b, v)
	}
	b = o.AppendUint32(b, 8)
	return append(b, "testhost"...)
}

// attr returns the perf_event_attr: software event cpu-clock.
func (r *Recording) attr() []byte {
	a := make([]byte, max(r.AttrSize, 128))
	o := r.Order
	o.PutUint32(a, 1)
	o.PutUint32(a[4:], uint32(r.AttrSize))
	o.PutUint64(a[16:], 4000)
	o.PutUint64(a[24:], r.SampleType)
	o.PutUint64(a[32:], r.ReadFormat)
	o.PutUint64(a[72:], r.BranchType)
	o.PutUint64(a[80:], r.Registers)
	o.PutUint64(a[96:], r.Registers)
	flags := []int{8, 9, 13, 18, 23, 24} // mmap, comm, task, sample_id_all, mmap2, comm_exec
	if r.ClockID >= 0 {
		flags = append(flags, 25)
		o.PutUint32(a[92:], uint32(r.ClockID))
	}
	for _, f := range flags {
		if o == Order(binary.BigEndian) {
			a[40+f/8] |= 0x80 >> (f % 8)
		} else {
			a[40+f/8] |= 1 << (f % 8)
		}
	}
	return a[:r.AttrSize]
}

// Write writes the file.
func (r *Recording) Write(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, r.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Payload adds bytes that are no record: what follows an AUXTRACE record.
func (r *Recording) Payload(b []byte) { r.data = append(r.data, b...) }
