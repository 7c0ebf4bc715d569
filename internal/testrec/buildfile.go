package testrec

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"
)

// Bytes returns the file: header, ids, attr, data, and of features an empty
// build-id table, a host name, and what else is set.
func (r *Recording) Bytes() []byte {
	o := r.Order
	header, ids := uint64(104), uint64(8)
	if r.ShortHeader {
		header = 72
	}
	attrAt := header + ids
	typesAt := attrAt + uint64(r.AttrSize) + 16
	dataAt := typesAt + uint64(len(r.EventTypes))*72
	b := []byte("PERFILE2")
	if o == Order(binary.BigEndian) {
		b = []byte("2ELIFREP")
	}
	if r.OldMagic {
		b = []byte("PERFFILE")
	}
	types := [2]uint64{typesAt, dataAt - typesAt}
	if len(r.EventTypes) == 0 {
		types[0] = 0
	}
	b = append(b, r.pack(header, uint64(r.AttrSize)+16, attrAt, uint64(r.AttrSize)+16, dataAt, uint64(len(r.data)), types)...)
	if !r.ShortHeader {
		b = append(b, r.features()...)
	}
	b = append(b, r.pack(r.ID, r.attr(), header, ids)...)
	for i, name := range r.EventTypes {
		b = append(b, r.pack(uint64(i), []byte(name), make([]byte, 64-len(name)))...)
	}
	b = append(b, r.data...)
	if r.ShortHeader {
		return b
	}
	sections := [][]byte{nil, r.text("machine")}
	if r.Machine != "" {
		sections = append(sections, r.text(r.Machine))
	}
	if len(r.Cmdline) > 0 {
		args := o.AppendUint32(nil, uint32(len(r.Cmdline)))
		for _, arg := range r.Cmdline {
			args = append(args, r.text(arg)...)
		}
		sections = append(sections, args)
	}
	if r.Wall != 0 {
		sections = append(sections, r.pack(uint32(1), r.ClockID, r.Wall, r.Clock))
	}
	at := uint64(len(b) + 16*len(sections))
	for _, s := range sections {
		b = append(b, r.pack(at, uint64(len(s)))...)
		at += uint64(len(s))
	}
	return append(b, bytes.Join(sections, nil)...)
}

// text is a string as features have it.
func (r *Recording) text(s string) []byte {
	return r.pack(uint32(len(s)+1), []byte(s+"\x00"))
}

// features returns the header's bitmap, an array of C longs.
func (r *Recording) features() []byte {
	set := uint64(1<<2 | 1<<3) // BUILD_ID, and HOSTNAME, which every perf writes
	if r.Machine != "" {
		set |= 1 << 6
	}
	if len(r.Cmdline) > 0 {
		set |= 1 << 11
	}
	if r.Wall != 0 {
		set |= 1 << 29
	}
	b := make([]byte, 32)
	if r.Long32 {
		r.Order.PutUint32(b, uint32(set))
	} else {
		r.Order.PutUint64(b, set)
	}
	return b
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
	flags := []int{8, 9, 13, 24} // mmap, comm, task, comm_exec
	if !r.NoTrailers {
		flags = append(flags, 18)
	}
	if !r.NoMmap2 {
		flags = append(flags, 23)
	}
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
