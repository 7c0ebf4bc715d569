package perfdata

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Mmap is the content of an MMAP or MMAP2 record: from its time on, the process PID has a part of
// a file at an address. If mappings overlap, the later record replaces the earlier one.
type Mmap struct {
	PID, TID uint32
	Addr     uint64
	Len      uint64
	PgOff    uint64 // the file offset of Addr
	Filename []byte // name from the kernel: "//anon", "/dev/zero (deleted)", ...

	// The following fields are in MMAP2 records only.
	BuildID []byte // up to 20 bytes; nil if the record has File instead
	File    FileIdentity
	Prot    uint32 // PROT_* of mmap(2)
	Flags   uint32 // MAP_* of mmap(2)
}

// A FileIdentity identifies a file until its machine reboots.
type FileIdentity struct {
	Major, Minor    uint32
	Inode           uint64
	InodeGeneration uint64
}

// OfKernel reports whether the mapping is the kernel's or a module's.
func (m *Mmap) OfKernel() bool { return m.PID == math.MaxUint32 }

// Mmap decodes an MMAP or MMAP2 record. Its slices alias the record.
func (ls *Layouts) Mmap(rec Record) (Mmap, error) {
	body, err := ls.body(rec)
	if err != nil {
		return Mmap{}, err
	}
	c := wire.NewCursor(FormatName, rec.Type.String(), body, ls.order, recordHead)
	m := Mmap{
		PID:   c.U32("pid"),
		TID:   c.U32("tid"),
		Addr:  c.U64("addr"),
		Len:   c.U64("len"),
		PgOff: c.U64("pgoff"),
	}
	if rec.Type == RecordMmap2 {
		if rec.Misc&MiscMmapBuildID != 0 {
			size := c.U8("build_id_size")
			c.Bytes("reserved", 3)
			id := c.Bytes("build_id", 20)
			m.BuildID = id[:min(int(size), len(id))]
		} else {
			m.File = FileIdentity{c.U32("maj"), c.U32("min"), c.U64("ino"), c.U64("ino_generation")}
		}
		m.Prot = c.U32("prot")
		m.Flags = c.U32("flags")
	}
	name := c.Rest()
	if n := bytes.IndexByte(name, 0); n >= 0 {
		name = name[:n]
	}
	m.Filename = name
	return m, c.Err()
}

// maxFilename is the maximum length in a record of 64 KiB, in bytes, beside the other fields.
const maxFilename = math.MaxUint16 - 256

// AppendMmap2 appends m to dst as an MMAP2 record of user space with a time. The record has the
// BuildID if there is one, else m.File. Names longer than maxFilename are cut.
func AppendMmap2(dst []byte, order binary.ByteOrder, m *Mmap, time uint64, trailer *Trailer) []byte {
	b := wire.AppendTo(dst, order)
	name := m.Filename[:min(len(m.Filename), maxFilename)]
	misc := uint16(MiscUser)
	if m.BuildID != nil {
		misc |= MiscMmapBuildID
	}
	padded := (len(name) + 8) &^ 7 // with at least one NUL
	b.U32(uint32(RecordMmap2))
	b.U16(misc)
	b.U16(uint16(recordHead + 64 + padded + trailer.Size()))
	b.U32(m.PID)
	b.U32(m.TID)
	b.U64(m.Addr)
	b.U64(m.Len)
	b.U64(m.PgOff)
	if m.BuildID != nil {
		id := m.BuildID[:min(len(m.BuildID), 20)]
		b.U8(uint8(len(id)))
		b.Zeros(3)
		b.Bytes(id)
		b.Zeros(20 - len(id))
	} else {
		b.U32(m.File.Major)
		b.U32(m.File.Minor)
		b.U64(m.File.Inode)
		b.U64(m.File.InodeGeneration)
	}
	b.U32(m.Prot)
	b.U32(m.Flags)
	b.Bytes(name)
	b.Zeros(padded - len(name))
	trailer.append(b, SampleID{PID: m.PID, TID: m.TID, Time: time})
	return b.Data
}

// A Comm is the content of a COMM record: a thread has a new name.
type Comm struct {
	PID, TID uint32
	Name     []byte
	Exec     bool // renamed by an exec: the process has a new address space
}

// Comm decodes a COMM record. Its Name aliases the record.
func (ls *Layouts) Comm(rec Record) (Comm, error) {
	body, err := ls.body(rec)
	if err != nil {
		return Comm{}, err
	}
	c := wire.NewCursor(FormatName, rec.Type.String(), body, ls.order, recordHead)
	comm := Comm{PID: c.U32("pid"), TID: c.U32("tid"), Exec: rec.Misc&MiscCommExec != 0}
	name := c.Rest()
	if n := bytes.IndexByte(name, 0); n >= 0 {
		name = name[:n]
	}
	comm.Name = name
	return comm, c.Err()
}

// maxComm is the length of thread names [linux/sched.h, TASK_COMM_LEN], with a NUL.
const maxComm = 16

// AppendComm appends a COMM record with a time. Longer names are cut, as in the kernel.
func AppendComm(dst []byte, order binary.ByteOrder, c *Comm, time uint64, trailer *Trailer) []byte {
	b := wire.AppendTo(dst, order)
	misc := uint16(MiscUser)
	if c.Exec {
		misc |= MiscCommExec
	}
	name := c.Name[:min(len(c.Name), maxComm-1)]
	padded := (len(name) + 8) &^ 7
	b.U32(uint32(RecordComm))
	b.U16(misc)
	b.U16(uint16(recordHead + 8 + padded + trailer.Size()))
	b.U32(c.PID)
	b.U32(c.TID)
	b.Bytes(name)
	b.Zeros(padded - len(name))
	trailer.append(b, SampleID{PID: c.PID, TID: c.TID, Time: time})
	return b.Data
}

// A Task is the content of a FORK or EXIT record.
type Task struct {
	PID, ParentPID uint32
	TID, ParentTID uint32
	Time           uint64 // 0 in records that perf record made itself
	Clones         bool   // FORK: the child begins with the parent's memory
}

// Task decodes a FORK or EXIT record.
func (ls *Layouts) Task(rec Record) (Task, error) {
	body, err := ls.body(rec)
	if err != nil {
		return Task{}, err
	}
	c := wire.NewCursor(FormatName, rec.Type.String(), body, ls.order, recordHead)
	t := Task{PID: c.U32("pid"), ParentPID: c.U32("ppid"), TID: c.U32("tid"), ParentTID: c.U32("ptid"), Time: c.U64("time")}
	t.Clones = rec.Misc&MiscForkExec == 0 && t.Time != 0
	return t, c.Err()
}

// Namespaces is the content of a NAMESPACES record: from now on, a thread is in these namespaces.
// perf record writes them with --namespaces.
type Namespaces struct {
	PID, TID uint32
	Links    []Namespace // by kind: NamespacePID, ...
}

// A Namespace identifies a namespace until its machine reboots. It is the file that
// /proc/PID/ns/KIND leads to.
type Namespace struct{ Dev, Inode uint64 }

// Kinds of namespaces: *_NS_INDEX of linux/perf_event.h.
const (
	NamespacePID   = 3
	NamespaceMount = 5
)

// Of returns the namespace of a kind, or the zero Namespace if the record does not have it.
func (n *Namespaces) Of(kind int) Namespace {
	if kind >= len(n.Links) {
		return Namespace{}
	}
	return n.Links[kind]
}

// Namespaces decodes a NAMESPACES record.
func (ls *Layouts) Namespaces(rec Record) (Namespaces, error) {
	body, err := ls.body(rec)
	if err != nil {
		return Namespaces{}, err
	}
	c := wire.NewCursor(FormatName, rec.Type.String(), body, ls.order, recordHead)
	n := Namespaces{PID: c.U32("pid"), TID: c.U32("tid")}
	nr := c.U64("nr_namespaces")
	if c.Err() == nil && nr > uint64(c.Len())/16 {
		c.Bad("nr_namespaces", "is %d; the record has room for %d", nr, c.Len()/16)
	}
	for range nr {
		if c.Err() != nil {
			return Namespaces{}, c.Err()
		}
		n.Links = append(n.Links, Namespace{Dev: c.U64("dev"), Inode: c.U64("inode")})
	}
	return n, c.Err()
}
