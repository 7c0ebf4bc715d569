package registered

import (
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/format/gdbjit"
)

// An overlaid memory has other bytes at some addresses, and counts reads.
type overlaid struct {
	Memory
	at     uint64
	bytes  []byte
	reads  map[uint64]int // by address
	copied uint64         // bytes read
}

func (o *overlaid) ReadCode(addr uint64, b []byte) error {
	o.reads[addr]++
	o.copied += uint64(len(b))
	if addr >= o.at && addr-o.at+uint64(len(b)) <= uint64(len(o.bytes)) {
		copy(b, o.bytes[addr-o.at:])
		return nil
	}
	return o.Memory.ReadCode(addr, b)
}

// listed returns memory in which a descriptor at an address has n entries, all of the core's object.
func listed(t *testing.T, p *Process, n int) (m *overlaid, descriptor uint64, object gdbjit.Entry) {
	t.Helper()
	whole, err := Read(p, Find(p))
	if err != nil || len(whole.Objects) != 1 {
		t.Fatalf("got %+v, %v; want one object", whole, err)
	}
	const at = 0x10000
	object = whole.Objects[0].Entry
	le := binary.LittleEndian
	b := le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, gdbjit.Version), 0), at+24)
	for i := range n {
		next, prev := uint64(at+24+32*(i+1)), uint64(at+24+32*(i-1))
		if i == n-1 {
			next = 0
		}
		if i == 0 {
			prev = 0
		}
		for _, v := range []uint64{next, prev, object.Symfile, object.Size} {
			b = le.AppendUint64(b, v)
		}
	}
	return &overlaid{Memory: p.Memory, at: at, bytes: b, reads: make(map[uint64]int)}, at, object
}

// An object that many entries name is read once in each read of the list.
func TestRead_ObjectNamedOften(t *testing.T) {
	const entries = 500
	for _, live := range []bool{false, true} {
		p := realCore(t)
		m, at, object := listed(t, p, entries)
		p.Memory, p.Live = m, live
		r, err := Read(p, []Place{{Addr: at}})
		if err != nil || len(r.Objects) != 1 || r.Repeated != entries-1 || len(r.Problems) != 0 {
			t.Fatalf("got %d objects, %d repeated, problems %v, %v; want 1 and %d", len(r.Objects), r.Repeated, r.Problems, err, entries-1)
		}
		if want := 2 * len(r.Lists[0].Entries) / entries * 2; m.reads[object.Symfile] > want { // its magic and itself, in at most two reads of the list
			t.Errorf("got %d reads of the object; want at most %d", m.reads[object.Symfile], want)
		}
	}
}

// Many words that lead to one long list cost a bounded number of its entries.
func TestScanMemory_WordsThatLeadToOneList(t *testing.T) {
	const entries, words = 1000, 500
	p := realCore(t)
	m, at, _ := listed(t, p, entries)
	list := uint64(24 + 32*entries)
	for range words { // each is a descriptor of the list
		m.bytes = append(m.bytes, m.bytes[:24]...)
	}
	p.Memory = m
	im := &image{p: p}
	left := budget{data: maxData, entries: 5 * entries}
	if got := im.scanMemory(at+list, at+list+24*words, &left); len(got) != 5 || left.entries != 0 {
		t.Errorf("got %d descriptors, %d entries left; want 5 descriptors and none", len(got), left.entries)
	}
	if m.copied > 200*entries*5+words*100 {
		t.Errorf("got %d bytes read; want about %d", m.copied, 32*entries*5)
	}
}

// Descriptors of one list have no more entries in all than memory can hold.
func TestRead_DescriptorsOfOneList(t *testing.T) {
	const entries = 1000
	p := realCore(t)
	m, at, _ := listed(t, p, entries)
	p.Memory = m
	most := p.maxEntries()
	var places []Place
	for range 2 * most / entries {
		places = append(places, Place{Addr: at + uint64(len(m.bytes))})
		m.bytes = append(m.bytes, m.bytes[:24]...)
	}
	r, err := Read(p, places)
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for _, list := range r.Lists {
		got += len(list.Entries)
	}
	if got != most || len(r.Problems) == 0 {
		t.Errorf("got %d entries, problems %v; want %d, and a problem", got, r.Problems, most)
	}
}
