package inject

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/source"
)

// A run leaves an index beside the objects of a dump: what they were made from, and what
// the kernel says of their files. A run that would make the same ones, and finds the
// files untouched, need not make them to know that.

// An index is about the objects of one dump. It counts for all of them or for none.
type index struct {
	dump    *dump
	store   *store
	objects []object // of the plan
	first   int      // of them, in the plan
	key     [sha256.Size]byte
	stamps  []stamp             // of their files
	before  source.RepairCounts // of the dump, when none had been made
	known   bool                // the files are there, untouched
}

// minIndexed is how many objects are worth an index: fewer are made in ten milliseconds.
const minIndexed = 1000

// indexName returns the name of the index of a process's objects.
func indexName(pid uint32) string { return fmt.Sprintf(".%s%d.index", indexPrefix, pid) }

// indexPrefix is what it begins with, behind the dot.
const indexPrefix = "jitinject-"

// openIndexes returns the indexes of the dumps of a plan, by their numbers. There is
// none, nil, for dumps that are not worth it, or of which it cannot be said beforehand
// what objects will be like.
func openIndexes(p *plan, stores stores, sources *sourceTree) []*index {
	var indexes []*index
	for first := 0; first < len(p.objects); {
		d, last := p.objects[first].dump, first+1
		for last < len(p.objects) && p.objects[last].dump == d {
			last++
		}
		for len(indexes) <= d.number {
			indexes = append(indexes, nil)
		}
		if last-first >= minIndexed && sources == nil && d.digest != nil && d.bringsCode() && !slices.ContainsFunc(p.objects[first:last], func(o object) bool { return o.bundle != nil }) {
			indexes[d.number] = &index{dump: d, store: stores[d.objects], objects: p.objects[first:last:last], first: first, before: d.source.RepairCounts()}
		}
		first = last
	}
	return indexes
}

// makeKey hashes all that decides what the objects are, and who makes them. It reports
// whether that is known.
func (x *index) makeKey(opts *Options) bool {
	program, err := programID()
	if err != nil || !x.dump.digest.wait() {
		return false
	}
	h := sha256.New()
	var host *jitcode.FrameRow
	if tracer, ok := x.dump.source.(source.Tracer); ok {
		host = tracer.Host()
	}
	machine := x.dump.source.Target().Machine // the dump's, or the recording's
	fmt.Fprintf(h, "%x %x %q %v %o %v %v %d\n", program, x.dump.digest.sum, opts.fingerprint(), isTight(x.dump.objects), x.dump.mode(), x.dump.source.Derives(), host, machine)
	var b []byte
	for i := range x.objects {
		o := &x.objects[i]
		place := o.place()
		b = binary.LittleEndian.AppendUint64(b[:0], uint64(o.function))
		b = binary.LittleEndian.AppendUint64(b, place.Away)
		b = binary.LittleEndian.AppendUint64(b, place.Room)
		if place.None {
			b = append(b, 1)
		}
		h.Write(o.appendName(b))
	}
	h.Sum(x.key[:0])
	return true
}

// fingerprint spells those options that objects depend on. The others are left out, so
// that new ones count until somebody knows better.
func (o *Options) fingerprint() string {
	f := *o
	f.Input, f.Output, f.Stdin, f.Stdout = "", "", nil, nil
	f.Objects, f.DumpDirs, f.Dumps, f.Clock, f.BuildIDCache = "", nil, nil, "", ""
	f.Force, f.Strict, f.NoCount, f.Compress, f.Jobs, f.Log, f.Progress = false, false, false, 0, 0, nil, nil
	return fmt.Sprintf("%+v", f)
}

// indexHead is what an index file begins with. Behind it is an entry for each object,
// and the SHA-256 digest of everything before that.
type indexHead struct {
	Magic                                   [8]byte
	Key                                     [sha256.Size]byte
	Stamps                                  [sha256.Size]byte
	Lines, Inlines, Sent, Derived, Unplaced int64
	Repairs                                 source.RepairCounts
}

// indexEntry is the size of an entry: build id, offset and size of the unwind tables.
const indexEntry = jitobj.BuildIDSize + 4 + 4

var indexMagic = [8]byte{'J', 'I', 'T', 'I', 'D', 'X', '0', '1'}

// recall looks whether an earlier run has made the objects. If it has, they count as
// made, and told is what that run found out about them.
func (x *index) recall(ctx context.Context, opts *Options, jobs int) (t told, ok bool) {
	data, err := x.read()
	if err != nil || !x.makeKey(opts) {
		return t, false
	}
	var head indexHead
	n, err := binary.Decode(data, binary.LittleEndian, &head)
	if err != nil || head.Magic != indexMagic || head.Key != x.key {
		return t, false
	}
	if !x.lookAll(ctx, jobs) {
		return t, false
	}
	if sum, ok := x.stampsSum(); !ok || sum != head.Stamps {
		return t, false
	}
	for i := range x.objects {
		o, e := &x.objects[i], data[n+i*indexEntry:]
		o.made = true
		copy(o.buildID[:], e)
		o.tables.Offset = uint64(binary.LittleEndian.Uint32(e[jitobj.BuildIDSize:]))
		o.tables.Size = uint64(binary.LittleEndian.Uint32(e[jitobj.BuildIDSize+4:]))
	}
	x.known = true
	x.dump.source.AddRepairs(head.Repairs)
	return told{lines: int(head.Lines), inlines: int(head.Inlines), sent: int(head.Sent), derived: int(head.Derived), unplaced: int(head.Unplaced)}, true
}

// size returns the size of the index file.
func (x *index) size() int {
	return binary.Size(indexHead{}) + len(x.objects)*indexEntry + sha256.Size
}

// errNoIndex says that there is no index, or none that can be believed.
var errNoIndex = errors.New("no index")

// read reads the index file, without the digest at its end. One that is not the user's
// own is not believed: anybody can put a file into /tmp.
func (x *index) read() ([]byte, error) {
	fd, err := unix.Openat(x.store.fd, indexName(x.dump.pid), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	var st unix.Stat_t
	size := int64(x.size())
	if err := unix.Fstat(fd, &st); err != nil || x.store.stampOf(&st) == (stamp{}) || st.Size != size {
		return nil, errNoIndex
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	data, sum := data[:size-sha256.Size], data[size-sha256.Size:]
	if want := sha256.Sum256(data); !bytes.Equal(sum, want[:]) {
		return nil, errNoIndex
	}
	return data, nil
}

// encode returns the index file for objects that have been made. made is what was found
// out about them.
func (x *index) encode(opts *Options, made told) ([]byte, error) {
	head := indexHead{
		Magic: indexMagic,
		Lines: int64(made.lines), Inlines: int64(made.inlines), Sent: int64(made.sent), Derived: int64(made.derived), Unplaced: int64(made.unplaced),
		Repairs: x.dump.source.RepairCounts(),
	}
	for i, n := range x.before {
		head.Repairs[i] -= n
	}
	var ok bool
	if head.Stamps, ok = x.stampsSum(); !ok || !x.makeKey(opts) {
		return nil, errNoIndex
	}
	head.Key = x.key
	data := make([]byte, 0, x.size())
	data, _ = binary.Append(data, binary.LittleEndian, &head)
	for i := range x.objects {
		o := &x.objects[i]
		if !o.made || o.tables.Offset > math.MaxUint32 || o.tables.Size > math.MaxUint32 {
			return nil, errNoIndex
		}
		data = append(data, o.buildID[:]...)
		data = binary.LittleEndian.AppendUint32(data, uint32(o.tables.Offset))
		data = binary.LittleEndian.AppendUint32(data, uint32(o.tables.Size))
	}
	sum := sha256.Sum256(data)
	return append(data, sum[:]...), nil
}

// write leaves the index for later runs, in place of what was there.
func (x *index) write(data []byte) error {
	if !x.dump.digest.holds() {
		return errNoIndex // some objects may be made of what was hashed, and some of other bytes
	}
	_, err := x.store.replace(indexName(x.dump.pid), data, 0o600)
	return err
}
