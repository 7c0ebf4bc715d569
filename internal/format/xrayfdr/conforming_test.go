package xrayfdr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// run lets threads of a made program run: calls, tail calls, exceptions, arguments,
// events, other CPUs and pauses.
func (r *madeRuntime) run(steps, threads int, eventful int) {
	ts := make([]*madeThread, threads)
	for i := range ts {
		ts[i] = &madeThread{madeRuntime: r, tid: uint32(1000 + i), pid: 999, known: -1}
	}
	functions := 2 + r.rnd.IntN(60)
	for range steps {
		t := ts[r.rnd.IntN(threads)]
		for n := r.rnd.IntN(40); n > 0; n-- {
			t.step(uint32(functions), eventful)
		}
	}
	for _, t := range ts {
		t.end()
	}
}

func (t *madeThread) step(functions uint32, eventful int) {
	rnd := t.rnd
	t.now += 20 + rnd.Uint64N(2000)
	switch rnd.IntN(2000) {
	case 0:
		t.now += 1 << 33
	case 1, 2, 3:
		t.cpu = uint16(rnd.IntN(8))
	}
	id := 1 + rnd.Uint32N(functions)
	switch n := rnd.IntN(100); {
	case n < eventful && t.known >= 0:
		typ := -1
		if rnd.IntN(3) == 0 {
			typ = rnd.IntN(1 << 16)
		}
		t.event(typ, t.payload(functions))
	case len(t.stack) == 0 || n < 55 && len(t.stack) < 40:
		t.stack = append(t.stack, id)
		switch {
		case n%10 > 0:
			t.function(Enter, id)
		default:
			t.function(EnterArgs, id, rnd.Uint64())
		}
	default:
		top := len(t.stack) - 1
		if rnd.IntN(50) == 0 { // an exception
			t.stack = t.stack[:rnd.IntN(top+1)]
			return
		}
		id, t.stack = t.stack[top], t.stack[:top]
		t.function(Exit+Kind(rnd.IntN(10)/9), id)
	}
}

// payload makes data of an event: text, numbers, zeros, and what looks like records.
func (t *madeThread) payload(functions uint32) []byte {
	rnd := t.rnd
	b := make([]byte, 1+rnd.IntN(min(120, t.size/8)))
	if rnd.IntN(2) == 0 {
		b = make([]byte, 8*(1+rnd.IntN(min(16, t.size/64))))
	}
	switch rnd.IntN(8) {
	case 0:
	case 1:
		copy(b, fmt.Sprintf("request %d begins; it is a long one, with many words and some numbers: %d, %d", rnd.IntN(1e6), rnd.IntN(10), rnd.IntN(100)))
	case 2:
		t.order.PutUint64(append(b, make([]byte, 8)...)[:8], rnd.Uint64N(1<<rnd.IntN(40)))
	case 3:
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
	case 4:
		for i := range b {
			b[i] = 1
		}
	case 5: // function records
		for i := 0; i+8 <= len(b); i += 8 {
			id, kind := 1+rnd.Uint32N(functions), rnd.Uint32N(3)
			word := id<<4 | kind<<1
			if t.order == binary.BigEndian {
				word = id | kind<<28
			}
			t.order.PutUint32(b[i:], word)
			t.order.PutUint32(b[i+4:], rnd.Uint32N(2000))
		}
	case 6: // what the buffer holds already
		if t.b != nil {
			copy(b, t.b.data[max(t.at-len(b), 0):t.at])
		}
	case 7: // NewBuffer
		if b[0] = 1; t.order == binary.BigEndian {
			b[0] = 0x80
		}
	}
	return b
}

// madeTrace returns a random trace.
func madeTrace(seed uint64, order binary.ByteOrder) (file []byte, want []*madeBuffer) {
	rnd := rand.New(rand.NewPCG(seed, Version))
	r := &madeRuntime{order: order, rnd: rnd, now: 1 << 40, size: 512 << rnd.IntN(6)}
	r.threshold = [...]uint64{0, 0, 500, 10000}[rnd.IntN(4)]
	for range 2 + rnd.IntN(20) {
		r.queue = append(r.queue, &madeBuffer{data: make([]byte, r.size)})
	}
	threads := 1 + rnd.IntN(min(4, len(r.queue)))
	r.run(1+rnd.IntN(200), threads, []int{1, 5, 20, 60}[rnd.IntN(4)])
	return r.file()
}

// misread compares a trace's records with those that were made, and says where they differ first.
func misread(t *testing.T, file []byte, want []*madeBuffer) (difference string) {
	blocks, records, _, problems := readAll(t, file)
	if len(problems) > 0 || len(blocks) != len(want) {
		return fmt.Sprintf("%d of %d buffers, %v", len(blocks), len(want), problems)
	}
	for i, b := range want {
		got := records[i]
		if got[0].Kind == Extents {
			got = got[1:]
		}
		if len(got) != len(b.want) {
			return fmt.Sprintf("buffer %d: %d of %d records", i, len(got), len(b.want))
		}
		for j, w := range b.want {
			g := got[j]
			if g.Kind != w.Kind || g.TSC != w.TSC || g.CPU != w.CPU || g.Function != w.Function || g.Argument != w.Argument || g.Type != w.Type || !bytes.Equal(g.Payload, w.Payload) {
				return fmt.Sprintf("buffer %d: record %d is %+v, not %+v", i, j, g, w)
			}
		}
	}
	return ""
}

// TestReader_RandomTraces reads 1,000 random traces: all records are as the runtime made them.
func TestReader_RandomTraces(t *testing.T) {
	for seed := range uint64(testrec.Rounds(1000, 100)) {
		file, want := madeTrace(seed, orders()[seed%2])
		if difference := misread(t, file, want); difference != "" {
			t.Errorf("seed %d: %s", seed, difference)
		}
	}
}
