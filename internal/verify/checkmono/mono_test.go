package checkmono_test

import (
	"bytes"
	"compress/gzip"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// A monoLog is one that is made event by event. Events have times 100 ns apart.
type monoLog struct {
	b    bytes.Buffer
	w    *monogen.Writer
	time uint64
}

// monoStart is the time of the first buffer.
const monoStart = 5_000_000_000

func newMonoLog(h monolog.Header) *monoLog { return newMonoLogAt(h, monoStart) }

func newMonoLogAt(h monolog.Header, time uint64) *monoLog {
	l := &monoLog{time: time}
	h.PtrSize = 8
	h.Major, h.Minor = monogen.MonoVersion(h.Version)
	var err error
	if l.w, err = monogen.NewWriter(&l.b, &h); err != nil {
		panic(err)
	}
	return l.buffer(1)
}

func (l *monoLog) buffer(thread uint64) *monoLog {
	if err := l.w.Buffer(monolog.BufferHeader{Time: l.time, Thread: thread, PtrBase: a, MethodBase: 0x1000}); err != nil {
		panic(err)
	}
	return l
}

func (l *monoLog) event(kind monolog.Kind, set func(e *monolog.Event)) *monoLog {
	l.time += 100
	e := monolog.Event{Kind: kind, Time: l.time}
	if set != nil {
		set(&e)
	}
	if err := l.w.Event(&e); err != nil {
		panic(err)
	}
	return l
}

func (l *monoLog) jit(method, code, size uint64, name string) *monoLog {
	return l.event(monolog.KindJIT, func(e *monolog.Event) { e.Method, e.Code, e.Size, e.Name = method, code, size, []byte(name) })
}

func (l *monoLog) call(kind monolog.Kind, methods ...uint64) *monoLog {
	for _, m := range methods {
		l.event(kind, func(e *monolog.Event) { e.Method = m })
	}
	return l
}

func (l *monoLog) bytes() []byte {
	if err := l.w.Flush(); err != nil {
		panic(err)
	}
	return l.b.Bytes()
}

// monoBreach returns the breach of a log with one method that was changed.
func monoBreach(rule string, change func(l *monoLog), also ...string) breach {
	return monoBytes(rule, change, func(b []byte) []byte { return b }, also...)
}

// monoBytes returns one whose bytes were changed, too.
func monoBytes(rule string, change func(l *monoLog), damage func(b []byte) []byte, also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		l := newMonoLog(monolog.Header{Version: 17, PID: dumpPID})
		if l.jit(0x1000, a, 0x30, "A:f ()"); change != nil {
			change(l)
		}
		return write(t, dir, "app.mlpd", damage(bytes.Clone(l.bytes()))), verify.Options{}
	}, Also: also}
}

// monoVersion returns the breach of a log of another header.
func monoVersion(rule string, h monolog.Header, build func(l *monoLog), also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		l := newMonoLog(h)
		build(l)
		return write(t, dir, "app.mlpd", l.bytes()), verify.Options{}
	}, Also: also}
}

// monoBeside returns the breach of a log beside a recording.
func monoBeside(rule string, record func(r *testrec.Recording), also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		path, opts := goodMono(t, dir)
		r := testrec.NewRecording()
		record(r)
		opts.Recording = write(t, dir, "perf.data", r.Bytes())
		return path, opts
	}, Also: also}
}

func packed(b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(b)
	w.Close()
	return z.Bytes()
}

// monoHead is the length of the header of such logs, with three empty strings.
const monoHead = 8 + 8 + 8 + 4 + 4 + 4 + 2 + 3*5

var monoBreaches = []breach{
	monoBytes("mono/header-cut", nil, func(b []byte) []byte { return b[:monoHead-3] }),
	monoBytes("mono/version", nil, func(b []byte) []byte { b[6] = 18; return b }),
	monoBytes("mono/version", nil, func(b []byte) []byte { b[6] = 0; return b }),
	monoBytes("mono/pointer-size", nil, func(b []byte) []byte { b[7] = 6; return b }),
	monoBytes("mono/flags", nil, func(b []byte) []byte { b[28] = 1; return b }),
	monoVersion("mono/pid", monolog.Header{Version: 1}, func(l *monoLog) { l.jit(1, a, 0x30, "A:f ()") }),
	monoBytes("mono/gzip", nil, func(b []byte) []byte { b = packed(b); return b[:len(b)-12] }),
	monoBytes("mono/gzip", nil, func(b []byte) []byte { b = packed(b); b[len(b)-6] ^= 1; return b }),

	monoBytes("mono/buffer-id", func(l *monoLog) { l.buffer(1).jit(0x2000, a+0x100, 0x30, "A:g ()") }, func(b []byte) []byte {
		at := monoHead + bytes.Index(b[monoHead+1:], []byte("\x01LPM")) + 1
		return slices.Insert(b, at, 1, 2, 3)
	}),
	monoBytes("mono/buffer-events", func(l *monoLog) { l.buffer(1).jit(0x2000, a+0x100, 0x30, "A:g ()") }, func(b []byte) []byte {
		b[len(b)-1] = 'x'
		return b
	}),
	monoBreach("mono/buffer-events", func(l *monoLog) { l.w.Raw(append([]byte{0x23}, bytes.Repeat([]byte{0xff}, 12)...)) }),
	monoBreach("mono/buffer-thread", func(l *monoLog) { l.buffer(0).call(monolog.KindEnter, 0x1000).call(monolog.KindLeave, 0x1000) }),
	monoBytes("mono/cut", func(l *monoLog) { l.buffer(1).jit(0x2000, a+0x100, 0x30, "A:g ()") }, func(b []byte) []byte { return b[:len(b)-2] }),
	monoBytes("mono/cut", func(l *monoLog) { l.buffer(1) }, func(b []byte) []byte { return b[:len(b)-2] }),
	monoVersion("mono/no-events", monolog.Header{Version: 17, PID: dumpPID}, func(*monoLog) {}),

	monoBreach("mono/unknown-event", func(l *monoLog) { l.w.Raw([]byte{0x0b, 1, 1}) }),
	monoBreach("mono/unknown-event", func(l *monoLog) { l.w.Raw([]byte{0xf3, 1, 1}) }),
	monoBreach("mono/unknown-event", func(l *monoLog) { l.w.Raw([]byte{0x22, 1, 99, 1}) }),
	monoBreach("mono/value", func(l *monoLog) { l.event(monolog.KindGCEvent, func(e *monolog.Event) { e.Sub = 99 }) }),
	monoBreach("mono/value", func(l *monoLog) { l.event(monolog.KindHandleDestroyed, func(e *monolog.Event) { e.Sub = 4 }) }),
	monoBreach("mono/value", func(l *monoLog) { l.event(monolog.KindJITHelper, func(e *monolog.Event) { e.Sub = 10; e.Code = a }) }),

	{Rule: "mono/time-null", Make: func(t *testing.T, dir string) (string, verify.Options) {
		l := newMonoLogAt(monolog.Header{Version: 17, PID: dumpPID}, 7)
		return write(t, dir, "app.mlpd", l.jit(0x1000, a, 0x30, "A:f ()").bytes()), verify.Options{}
	}},
	monoVersion("mono/time-epoch", monolog.Header{Version: 17, PID: dumpPID}, func(l *monoLog) {
		l.time = 1.8e18
		l.buffer(1).jit(0x1000, a, 0x30, "A:f ()")
	}),
	monoBreach("mono/time-goes-back", func(l *monoLog) {
		l.event(monolog.KindSyncPoint, nil)
		l.time -= 400
		l.event(monolog.KindSyncPoint, nil)
	}),
	monoVersion("mono/time-goes-back", monolog.Header{Version: 4, PID: dumpPID}, func(l *monoLog) {
		l.jit(0x1000, a, 0x30, "A:f ()")
		l.time -= 150
		l.jit(0x2000, a+0x100, 0x30, "A:g ()")
	}),
	monoBreach("mono/buffer-order", func(l *monoLog) {
		l.event(monolog.KindSyncPoint, nil)
		l.time -= 50
		l.buffer(1)
	}),
	{Rule: "mono/time-future", Make: func(t *testing.T, dir string) (string, verify.Options) {
		path, opts := goodMono(t, dir)
		opts.Now = 3e9
		return path, opts
	}},

	monoVersion("mono/no-code", monolog.Header{Version: 17, PID: dumpPID}, func(l *monoLog) { l.event(monolog.KindSyncPoint, nil) }),
	monoBreach("mono/size-zero", func(l *monoLog) { l.jit(0x2000, 0, 0, "A:g ()") }),
	monoBreach("mono/size-zero-calls", func(l *monoLog) {
		l.jit(0x2000, 0, 0, "A:g ()").call(monolog.KindEnter, 0x2000).call(monolog.KindLeave, 0x2000)
	}),
	monoVersion("mono/code-freed", monolog.Header{Version: 17, PID: dumpPID, Args: "log:nodefaults,jit,output=app.mlpd"}, freedCode),
	monoVersion("mono/size-zero", monolog.Header{Version: 17, PID: dumpPID, Args: "log:nodefaults,jit,gc"}, freedCode),
	monoVersion("mono/size-zero", monolog.Header{Version: 17, PID: dumpPID, Args: "log:jit"}, freedCode),
	monoBreach("mono/address", func(l *monoLog) { l.jit(0x2000, 0, 1, "A:g ()") }),
	monoBreach("mono/address", func(l *monoLog) { l.jit(0x2000, 1, 0x55e1, "A:g ()") }),
	monoBreach("mono/address", func(l *monoLog) { l.jit(0x2000, 0xffffffff0000000f, 1, "A:g ()") }),
	monoBreach("mono/address", func(l *monoLog) { l.jit(0x2000, ^u64(0)-4, 0x30, "A:g ()") }),
	monoBreach("mono/overlap", func(l *monoLog) { l.jit(0x2000, a+0x10, 0x30, "A:g ()") }),
	monoBreach("mono/twice", func(l *monoLog) { l.jit(0x1000, a, 0x30, "A:f ()") }),
	monoBreach("mono/name-missing", func(l *monoLog) { l.jit(0x2000, a+0x100, 0x30, "") }),
	monoBreach("mono/name-missing", func(l *monoLog) {
		l.event(monolog.KindImage, func(e *monolog.Event) { e.Load = monolog.LoadEnd })
	}),
	monoBreach("mono/name-text", func(l *monoLog) { l.jit(0x2000, a+0x100, 0x30, "A:\xff ()") }),
	monoBreach("mono/name-text", func(l *monoLog) { l.jit(0x2000, a+0x100, 0x30, "A:\x1b[31m ()") }),

	monoBreach("mono/leave", func(l *monoLog) { l.call(monolog.KindEnter, 1, 2, 3).call(monolog.KindLeave, 1) }),
	monoBreach("mono/leave-unknown", func(l *monoLog) {
		l.call(monolog.KindEnter, 1).buffer(2).call(monolog.KindEnter, 2).call(monolog.KindExcLeave, 1)
	}),

	{Rule: "mono/other-process", Make: func(t *testing.T, dir string) (string, verify.Options) {
		path, opts := goodMono(t, dir)
		r := testrec.NewRecording()
		r.Mmap2(12, monoStart, 0x400000, 0x1000, 0, "/bin/other")
		opts.Recordings = []string{write(t, dir, "perf.data", r.Bytes())}
		return path, opts
	}},
	monoBeside("mono/recording-clock", func(r *testrec.Recording) { r.ClockID = -1; besideMono(r, dumpPID) }),
	monoBeside("mono/recording-time", func(r *testrec.Recording) {
		r.Mmap2(dumpPID, 900e9, a&^0xfff, 0x1000, 0, "//anon")
		r.Sample(dumpPID, 901e9, a)
	}),
	monoBeside("mono/recording-process", func(r *testrec.Recording) {
		r.Mmap2(dumpPID, monoStart, 0x400000, 0x1000, 0, "/usr/bin/mono")
		r.Sample(dumpPID, monoStart+1000, 0x400010)
	}),
	monoBeside("mono/not-executable", func(r *testrec.Recording) {
		r.Mmap2(dumpPID, monoStart, a, 0x100, 0, "//anon")
		r.Sample(dumpPID, monoStart+5000, a+4)
	}),
	monoBeside("mono/not-mapped", func(r *testrec.Recording) {
		injectedMono(r)
		r.Sample(dumpPID, monoStart+6000, a+0x204)
	}),
	monoBeside("mono/load-late", func(r *testrec.Recording) { besideMono(r, dumpPID); r.Sample(dumpPID, monoStart+1, a+4) }),
}

// freedCode is a log of two methods, of which one has no code.
func freedCode(l *monoLog) { l.jit(0x1000, a, 0x30, "A:f ()").jit(0x2000, 0, 0, "A:g ()") }

// goodMono is a log with events of all sorts and nothing wrong.
func goodMono(t *testing.T, dir string) (string, verify.Options) {
	t.Helper()
	return write(t, dir, "app.mlpd", wholeMono(monolog.Header{Version: 17, PID: dumpPID})), verify.Options{}
}

func wholeMono(h monolog.Header) []byte {
	l := newMonoLog(h)
	l.event(monolog.KindImage, func(e *monolog.Event) { e.Load, e.Name = monolog.LoadEnd, []byte("/a.exe") })
	l.jit(0x1000, a, 0x30, "A:f ()").jit(0x2000, a+0x200, 0x30, "A:g ()").jit(0x3000, a, 0x30, "A:shared<T> ()")
	l.call(monolog.KindEnter, 0x1000, 0x2000).call(monolog.KindLeave, 0x2000)
	l.event(monolog.KindClause, func(e *monolog.Event) { e.Sub, e.Method = 2, 0x1000 })
	l.buffer(2).call(monolog.KindEnter, 0x1000).call(monolog.KindExcLeave, 0x1000)
	l.event(monolog.KindGCEvent, func(e *monolog.Event) { e.Sub, e.Generation = 5, 1 })
	l.buffer(1).call(monolog.KindLeave, 0x1000)
	return l.bytes()
}

// besideMono makes a recording that the good log belongs to.
func besideMono(r *testrec.Recording, pid u32) {
	r.Mmap2(12, monoStart-1000, 0x400000, 0x1000, 0, "/bin/other")
	r.Mmap2(pid, monoStart-1000, a, 0x100, 0, "//anon") // two that touch
	r.Mmap2(pid, monoStart-900, a+0x100, 0xf00, 0, "//anon")
	r.Sample(pid, monoStart-500, 0x1234)
	r.Sample(pid, monoStart+5000, a+4)
}

// injectedMono makes a recording into which the first of the good log's methods was put, in
// the place of the memory that it was in. A sample is in the mapping, another in a file.
func injectedMono(r *testrec.Recording) {
	r.Mmap2(dumpPID, monoStart-1000, 0x400000, 0x1000, 0, "/usr/bin/mono")
	r.Mmap2(dumpPID, monoStart+400, a, 0x30, 0x80, "/nowhere/jitted-4711-0.so")
	r.Sample(dumpPID, monoStart+5000, a+4)
	r.Sample(dumpPID, monoStart+5100, 0x400010)
}

// TestMonoGood: where nothing is wrong with a log, nothing is said: packed or not, of any
// version that has a process, beside its recording, in another pid namespace.
func TestMonoGood(t *testing.T) {
	for v := uint8(1); v <= 17; v++ {
		h := monolog.Header{Version: v, PID: dumpPID}
		for i, b := range [][]byte{wholeMono(h), packed(wholeMono(h))} {
			path := write(t, t.TempDir(), "app.mlpd", b)
			if rules, all := verified(t, path, verify.Options{}); len(rules) > 0 {
				t.Errorf("version %d, packed %d: %v: %+v", v, i, rules, all)
			}
		}
	}
	dir := t.TempDir()
	path, _ := goodMono(t, dir)
	injected := testrec.NewRecording()
	injectedMono(injected)
	if rules, all := verified(t, path, verify.Options{Recording: write(t, dir, "out.data", injected.Bytes())}); len(rules) > 0 {
		t.Errorf("injected: %v: %+v", rules, all)
	}
	nobody := write(t, dir, "nobody.mlpd", wholeMono(monolog.Header{Version: 1}))
	for _, pid := range []u32{dumpPID, 77} {
		r := testrec.NewRecording()
		besideMono(r, pid)
		recording := write(t, dir, "perf.data", r.Bytes())
		for _, opts := range []verify.Options{{Recording: recording}, {Recordings: []string{recording}}} {
			if rules, all := verified(t, path, opts); len(rules) > 0 {
				t.Errorf("process %d: %v: %+v", pid, rules, all)
			}
			if rules, all := verified(t, nobody, opts); !slices.Equal(rules, []string{"mono/pid"}) {
				t.Errorf("process %d, of which the log does not know: %v: %+v", pid, rules, all)
			}
		}
	}
}
