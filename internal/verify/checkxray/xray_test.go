package checkxray_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// An xrayTrace is one that is made record by record.
type xrayTrace struct {
	b   bytes.Buffer
	w   *xraygen.Writer
	tsc uint64
}

func newXRayTrace(h xrayfdr.Header) *xrayTrace {
	t := &xrayTrace{tsc: 1_000_000}
	if h.Order == nil {
		h.Order = le
	}
	if h.Version == 0 {
		h.Version = 5
	}
	h.ConstantTSC, h.NonstopTSC, h.BufferSize = true, true, 512
	if h.CycleFrequency == 0 {
		h.CycleFrequency = 2_000_000_000
	}
	var err error
	if t.w, err = xraygen.NewWriter(&t.b, &h); err != nil {
		panic(err)
	}
	return t
}

func (t *xrayTrace) must(err error) *xrayTrace {
	if err != nil {
		panic(err)
	}
	return t
}

// buffer begins a block of a thread, at 5 s and what the clock says.
func (t *xrayTrace) buffer(tid u32) *xrayTrace {
	return t.must(t.w.Begin(&xrayfdr.Block{TID: tid, PID: dumpPID, Seconds: 5, Microseconds: u32(t.tsc/2000) % 1e6, TSC: t.tsc}))
}

func (t *xrayTrace) enter(ids ...u32) *xrayTrace { return t.functions(xrayfdr.Enter, ids) }
func (t *xrayTrace) exit(ids ...u32) *xrayTrace  { return t.functions(xrayfdr.Exit, ids) }

func (t *xrayTrace) functions(kind xrayfdr.Kind, ids []u32) *xrayTrace {
	for _, id := range ids {
		t.tsc += 100
		t.must(t.w.Function(kind, id, t.tsc))
	}
	return t
}

func (t *xrayTrace) bytes() []byte {
	t.must(t.w.End())
	return bytes.Clone(t.b.Bytes())
}

// xrayBreach returns the breach of a trace of one call that was changed.
func xrayBreach(rule string, h xrayfdr.Header, change func(t *xrayTrace), damage func(b []byte) []byte, also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		x := newXRayTrace(h)
		if change == nil {
			x.buffer(1).enter(1).exit(1)
		} else {
			change(x)
		}
		b := x.bytes()
		if damage != nil {
			b = damage(b)
		}
		return write(t, dir, "xray-log.x", b), verify.Options{}
	}, Also: also}
}

// at returns a damage: a byte that is changed.
func at(offset int, v byte) func([]byte) []byte {
	return func(b []byte) []byte { b[offset] = v; return b }
}

func two(t *xrayTrace) { t.buffer(1).enter(1).exit(1).buffer(2).enter(2).exit(2) }

// xrayBody is where the records of a first block begin in version 5, behind what begins it.
const xrayBody = 32 + 5*16

var (
	v1 = xrayfdr.Header{Version: 1}
	v2 = xrayfdr.Header{Version: 2}
	v5 = xrayfdr.Header{Version: 5}
)

var xrayBreaches = []breach{
	xrayBreach("xray/type", v5, nil, at(2, 0)),
	xrayBreach("xray/version", v5, nil, at(0, 6)),
	xrayBreach("xray/header", v5, nil, func(b []byte) []byte { return b[:20] }),
	xrayBreach("xray/header", v1, nil, func(b []byte) []byte { le.PutUint64(b[16:], 0); return b }),
	xrayBreach("xray/flags", v5, nil, at(4, 1)),
	xrayBreach("xray/flags", v5, nil, at(5, 1)),
	xrayBreach("xray/frequency", v5, nil, func(b []byte) []byte { le.PutUint64(b[8:], 0); return b }),
	xrayBreach("xray/clock", xrayfdr.Header{CycleFrequency: 1e9}, nil, nil),

	xrayBreach("xray/no-buffers", v5, func(*xrayTrace) {}, nil),
	xrayBreach("xray/buffer", v5, nil, func(b []byte) []byte { return slices.Insert(b, 32, bytes.Repeat([]byte{0x55}, 64)...) }),
	xrayBreach("xray/buffer-size", v5, nil, func(b []byte) []byte { le.PutUint64(b[16:], 32); return b }),
	xrayBreach("xray/buffer-short", v5, two, func(b []byte) []byte { b[33] += 8; return b }),
	xrayBreach("xray/extents", v5, func(t *xrayTrace) {
		t.buffer(1).enter(1)
		t.must(t.w.TypedEvent(7, t.tsc, []byte("text")))
		t.exit(1).enter(2).exit(2)
	}, func(b []byte) []byte { b[33] -= 19; return b[:len(b)-19] }, "xray/unfinished"),
	xrayBreach("xray/payload-unclear", v2, func(t *xrayTrace) {
		t.buffer(1).enter(1)
		t.must(t.w.CustomEvent(t.tsc, []byte{0x10, 0, 0, 0, 1, 0, 0, 0})) // an entry of function 1
		t.exit(1)
	}, nil),
	xrayBreach("xray/cut", v5, nil, func(b []byte) []byte { return b[:len(b)-3] }, "xray/unfinished"),
	xrayBreach("xray/record-cut", v5, nil, func(b []byte) []byte { b[33] -= 3; return b[:len(b)-3] }, "xray/unfinished"),
	xrayBreach("xray/end-of-buffer", v1, nil, func(b []byte) []byte {
		end := bytes.Index(b[32+3*16+2*8:], []byte{3}) + 32 + 3*16 + 2*8
		b[end] = 0
		return b
	}),

	xrayBreach("xray/grammar", v5, two, at(xrayBody, 0x1f)),
	xrayBreach("xray/payload", v1, func(t *xrayTrace) {
		t.w.Lose()
		t.buffer(1).enter(1)
		t.must(t.w.CustomEvent(t.tsc, []byte("some text")))
		t.exit(1).enter(2, 3).exit(3, 2)
	}, nil),
	xrayBreach("xray/cpu", v1, func(t *xrayTrace) {
		t.buffer(1).enter(1).exit(1)
		t.tsc += 2000
		t.must(t.w.Begin(&xrayfdr.Block{TID: 1, Seconds: 5, Microseconds: 900, Base: xrayfdr.CarriedBase, TSC: t.tsc}))
		t.enter(1).exit(1)
	}, nil),
	xrayBreach("xray/cpu-lost", v1, func(t *xrayTrace) {
		t.must(t.w.Begin(&xrayfdr.Block{TID: 1, Seconds: 5, Microseconds: 900, Base: xrayfdr.NoBase}))
		t.tsc = 0
		t.enter(1).exit(1)
	}, nil),
	xrayBreach("xray/arguments", v2, func(t *xrayTrace) { t.buffer(1).enter(1); t.must(t.w.Argument(42)).exit(1) }, nil),
	xrayBreach("xray/process", v5, nil, func(b []byte) []byte {
		b[33] -= 16
		return slices.Delete(b, 32+3*16, 32+4*16)
	}),
	xrayBreach("xray/reserved", v5, nil, at(32+16+15, 1)),
	xrayBreach("xray/function", v5, func(t *xrayTrace) { t.buffer(1).enter(0).exit(0) }, nil),

	xrayBreach("xray/time-goes-back", v5, func(t *xrayTrace) {
		t.buffer(1).enter(1)
		t.tsc -= 50
		t.must(t.w.CPU(2, t.tsc))
		t.exit(1)
	}, nil),
	xrayBreach("xray/wall-time", v5, nil, func(b []byte) []byte { le.PutUint32(b[32+2*16+9:], 2e6); return b }),
	xrayBreach("xray/buffer-order", v5, func(t *xrayTrace) {
		t.buffer(1).enter(1).exit(1)
		t.tsc -= 5000
		t.must(t.w.Begin(&xrayfdr.Block{TID: 1, PID: dumpPID, Seconds: 6, TSC: t.tsc}))
		t.enter(1).exit(1)
	}, nil),

	xrayBreach("xray/exit-unknown", v5, func(t *xrayTrace) { t.buffer(1).exit(1) }, nil),
	xrayBreach("xray/unfinished", v5, func(t *xrayTrace) { t.buffer(1).enter(1, 2).exit(1) }, nil),
	xrayBreach("xray/unfinished", v5, func(t *xrayTrace) { t.buffer(1).enter(1) }, nil),

	{Rule: "xray/other-process", Make: func(t *testing.T, dir string) (string, verify.Options) {
		path, opts := goodXRay(t, dir)
		r := testrec.NewRecording()
		r.Sample(12, 5e9, 1)
		opts.Recordings = []string{write(t, dir, "perf.data", r.Bytes())}
		return path, opts
	}},
	xrayBeside("xray/recording-clock", func(r *testrec.Recording) { r.ClockID = -1; r.Sample(dumpPID, 5e9, 1) }),
	xrayBeside("xray/recording-time", func(r *testrec.Recording) { r.Sample(dumpPID, 900e9, 1) }),
}

// xrayBeside returns the breach of a trace beside a recording.
func xrayBeside(rule string, record func(r *testrec.Recording)) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		path, opts := goodXRay(t, dir)
		r := testrec.NewRecording()
		record(r)
		opts.Recording = write(t, dir, "perf.data", r.Bytes())
		return path, opts
	}}
}

func wholeXRay(h xrayfdr.Header) []byte {
	t := newXRayTrace(h)
	t.buffer(1).enter(1, 2).exit(2)
	t.functions(xrayfdr.EnterArgs, []u32{3}).must(t.w.Argument(42))
	t.functions(xrayfdr.TailExit, []u32{3}).enter(4)
	t.must(t.w.CustomEvent(t.tsc, []byte("text")))
	t.exit(4).buffer(2).enter(9).exit(9).buffer(1).exit(1)
	return t.bytes()
}

// goodXRay is a trace of all sorts of records with nothing wrong.
func goodXRay(t *testing.T, dir string) (string, verify.Options) {
	t.Helper()
	return write(t, dir, "xray-log.x", wholeXRay(v5)), verify.Options{}
}

// TestXRayGood: where nothing is wrong with a trace, nothing is said: of any version and
// byte order, and beside its recording.
func TestXRayGood(t *testing.T) {
	for v := uint16(1); v <= xrayfdr.MaxVersion; v++ {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			path := write(t, t.TempDir(), "xray-log.x", wholeXRay(xrayfdr.Header{Version: v, Order: order}))
			if rules, all := verified(t, path, verify.Options{}); len(rules) > 0 {
				t.Errorf("version %d, %v: %v: %+v", v, order, rules, all)
			}
		}
	}
	dir := t.TempDir()
	path, _ := goodXRay(t, dir)
	nobody := write(t, dir, "xray-log.y", wholeXRay(v2))
	r := testrec.NewRecording()
	r.Comm(1, 4.9e9, "x", false)
	r.Sample(dumpPID, 5e9, 1)
	recording := write(t, dir, "perf.data", r.Bytes())
	for _, opts := range []verify.Options{{Recording: recording}, {Recordings: []string{recording}}} {
		for _, path := range []string{path, nobody} {
			if rules, all := verified(t, path, opts); len(rules) > 0 {
				t.Errorf("%s: %v: %+v", path, rules, all)
			}
		}
	}
}
