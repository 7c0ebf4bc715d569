package mono_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A logBuilder writes logs of Mono's profiler for tests, of version 17.
type logBuilder struct {
	t   testing.TB
	out bytes.Buffer
	w   *monogen.Writer
}

const logStart = 5_000_000_000

func newLog(t testing.TB) *logBuilder {
	t.Helper()
	b := &logBuilder{t: t}
	var err error
	b.w, err = monogen.NewWriter(&b.out, &monolog.Header{Major: 3, Version: 17, PtrSize: 8, PID: 100, StartupTime: logStart, Arch: "x86-64"})
	if err != nil {
		t.Fatal(err)
	}
	b.buffer()
	return b
}

func (b *logBuilder) buffer() {
	b.t.Helper()
	if err := b.w.Buffer(monolog.BufferHeader{Time: logStart, PtrBase: 0x40000000, MethodBase: 0x1000}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *logBuilder) event(e *monolog.Event) {
	b.t.Helper()
	if err := b.w.Event(e); err != nil {
		b.t.Fatal(err)
	}
}

// jit adds a method, at a time in milliseconds.
func (b *logBuilder) jit(ms, method, addr, size uint64, name string) {
	b.t.Helper()
	b.event(&monolog.Event{Kind: monolog.KindJIT, Time: logStart + ms*1e6, Method: method, Code: addr, Size: size, Name: []byte(name)})
}

func (b *logBuilder) helper(sub, addr, size uint64, name string) {
	b.t.Helper()
	b.event(&monolog.Event{Kind: monolog.KindJITHelper, Time: logStart, Helper: sub, Code: addr, Size: size, Name: []byte(name)})
}

func (b *logBuilder) bytes() []byte {
	b.t.Helper()
	if err := b.w.Flush(); err != nil {
		b.t.Fatal(err)
	}
	return b.out.Bytes()
}

func scanLog(t testing.TB, src io.ReaderAt) *mono.Log {
	t.Helper()
	m, err := mono.ReadLog(src)
	if err == nil {
		err = m.Scan(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// names are those of all functions.
func names(t testing.TB, d source.Dump) (names []string) {
	t.Helper()
	r := d.Functions()
	for i := range d.NumFunctions() {
		fn, err := r.Function(i)
		if err != nil {
			t.Fatal(err)
		}
		if e := d.Scanned().Events[i]; fn.Addr != e.Addr || fn.Size != e.Size || fn.HasCode() || e.Function != i {
			t.Errorf("got %+v, %+v; want Addr = Addr, Size = Size, not HasCode(), Function = %v", fn, e, i)
		}
		names = append(names, string(fn.Name))
	}
	return names
}

// Two names of one piece of code become the second, which Mono's own map has; a method that
// takes the place of another does not.
func TestMonoLog_TwoNamesOfOneCode(t *testing.T) {
	b := newLog(t)
	b.jit(1, 0x1000, 0x40000100, 64, "App:Fill<string> (string)")
	b.jit(1, 0x1010, 0x40000100, 64, "App:Fill<T_REF> (T_REF)")
	b.jit(2, 0x1020, 0x40000200, 64, "(wrapper dynamic-method) object:lambda ()")
	b.jit(500, 0x1030, 0x40000200, 64, "(wrapper dynamic-method) object:other ()")
	b.jit(3, 0x1040, 0x40000300, 64, "App:First ()")
	b.jit(3, 0x1050, 0x40000300, 32, "App:Shorter ()")
	b.jit(5, 0x1060, 0x40000400, 64, "App:Shared<T_REF> (T_REF)")
	b.jit(4, 0x1070, 0x40000400, 64, "App:Shared<string> (string)") // another thread's buffer, as it happened
	b.event(&monolog.Event{Kind: monolog.KindEnter, Time: logStart + 5e6, Method: 0x1000})
	m := scanLog(t, bytes.NewReader(b.bytes()))
	want := []string{"App:Fill<T_REF> (T_REF)", "(wrapper dynamic-method) object:lambda ()", "(wrapper dynamic-method) object:other ()", "App:First ()", "App:Shorter ()", "App:Shared<T_REF> (T_REF)"}
	if got := names(t, m); strings.Join(got, "|") != strings.Join(want, "|") || m.Merged != 2 {
		t.Errorf("%q, %d merged", got, m.Merged)
	}
	if e := m.Events[5]; e.Time != logStart+4e6 {
		t.Errorf("got %+v; want Time = %v", e, logStart+4e6)
	}
	for _, c := range []struct {
		method, ms uint64
		function   int
	}{{0x1000, 1, 0}, {0x1010, 7, 0}, {0x1030, 600, 2}, {0x1030, 1, 2}, {0x1050, 9, 4}, {0x9999, 9, -1}, {0xfff, 9, -1}} {
		i, _, ok := m.MethodAt(c.method, logStart+c.ms*1e6)
		if ok != (c.function >= 0) || ok && i != c.function {
			t.Errorf("%#x at %d ms: %d, %v, want %d", c.method, c.ms, i, ok, c.function)
		}
	}
}

// A method's record in memory may become another's.
func TestMonoLog_MethodAtReusedAddress(t *testing.T) {
	b := newLog(t)
	b.jit(10, 0x1000, 0x40000100, 64, "App:One ()")
	b.jit(20, 0x1000, 0x40000200, 64, "App:Two ()")
	b.event(&monolog.Event{Kind: monolog.KindEnter, Time: logStart + 20e6, Method: 0x1000})
	m := scanLog(t, bytes.NewReader(b.bytes()))
	for ms, want := range map[uint64]int{5: 0, 10: 0, 15: 0, 20: 1, 25: 1} {
		if i, _, ok := m.MethodAt(0x1000, logStart+ms*1e6); !ok || i != want {
			t.Errorf("%d ms: %d, %v, want %d", ms, i, ok, want)
		}
	}
}

// What Mono makes for itself is called by what it is; methods come once.
func TestMonoLog_HelpersOfMono(t *testing.T) {
	b := newLog(t)
	b.jit(1, 0x1000, 0x40000100, 64, "App:Main ()")
	b.helper(monolog.HelperMethod, 0x40000100, 64, "")
	b.helper(monolog.HelperSpecificTrampoline, 0x40000200, 14, "vcall")
	b.helper(monolog.HelperGenericsTrampoline, 0x40000220, 14, "")
	b.helper(monolog.HelperExceptionHandling, 0x40000240, 200, "")
	b.helper(monolog.HelperIMTTrampoline, 0, 0, "")
	m := scanLog(t, bytes.NewReader(b.bytes()))
	want := "App:Main ()|(trampoline vcall)|(trampoline generics)|(helper exception handling)"
	if got := strings.Join(names(t, m), "|"); got != want {
		t.Errorf("got %q; want %v", got, want)
	}
}

// Logs that end anywhere, and logs with any byte changed, give functions of the whole one or
// none, and a word about it; packed ones as well.
func TestMonoLog_CutOrChanged(t *testing.T) {
	b := newLog(t)
	for i := range uint64(20) {
		if i%5 == 0 {
			b.buffer()
		}
		b.jit(i, 0x1000+i, 0x40000000+i*64, 64, "App:Method ()")
	}
	whole := b.bytes()
	for n := range whole {
		m, err := mono.ReadLog(bytes.NewReader(whole[:n]))
		if err != nil {
			continue // in the header
		}
		if err := m.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		atBuffer := bytes.HasPrefix(whole[n:], []byte{1, 'L', 'P', 'M'})
		if m.NumFunctions() > 20 || len(m.Problems) > 0 || (m.Cut >= 0) == atBuffer || m.Cut > int64(n) {
			t.Errorf("cut at %#x: %d functions, cut %#x, %v", n, m.NumFunctions(), m.Cut, m.Problems)
		}
	}
	told, silent := 0, 0
	for n := range whole {
		damaged := bytes.Clone(whole)
		damaged[n] ^= 0xff
		m, err := mono.ReadLog(bytes.NewReader(damaged))
		if err != nil {
			continue
		}
		if err := m.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m.NumFunctions() < 20 && len(m.Scanned().Problems) > 0 {
			told++
			for _, p := range m.Scanned().Problems {
				if p.Offset < 0 || p.Offset > int64(len(whole)) {
					t.Errorf("got %+v; want Offset >= 0, Offset <= %v", p, int64(len(whole)))
				}
			}
		}
		if m.NumFunctions()+m.Merged+m.Addressless < 20 && len(m.Problems) == 0 && m.Cut < 0 {
			silent++
		}
		names(t, m)
	}
	if told < 30 || silent > told {
		t.Errorf("%d logs are damaged and say so, %d say nothing", told, silent)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(whole)
	z.Close()
	if m := scanLog(t, bytes.NewReader(packed.Bytes())); m.NumFunctions() != 20 || m.Cut != -1 {
		t.Errorf("%d functions, cut %#x", m.NumFunctions(), m.Cut)
	}
	if m := scanLog(t, bytes.NewReader(packed.Bytes()[:packed.Len()-9])); m.Cut < 0 {
		t.Error("nothing says that the packed log is cut")
	}
	if _, err := mono.ReadLog(strings.NewReader("something else")); !errors.Is(err, mono.ErrNotLog) {
		t.Error(err)
	}
}

// A function that cannot be is left out.
func TestMonoLog_ImpossibleFunction(t *testing.T) {
	b := newLog(t)
	b.jit(1, 0x1000, 0x40000100, 1<<40, "App:Huge ()")
	b.jit(1, 0x1000, ^uint64(0)-5, 64, "App:Beyond ()")
	b.jit(1, 0x1000, 0x59, 0x7f65, "App:Low ()")
	b.jit(1, 0x1000, 0xffffffff0000000f, 64, "App:Kernel ()")
	b.jit(1, 0x1000, 0x40000100, 64, "")
	m := scanLog(t, bytes.NewReader(b.bytes()))
	if got := names(t, m); len(got) != 1 || got[0] != "(unnamed)" || m.Astray != 4 || len(m.Problems) != 0 {
		t.Errorf("%q, %d astray, problems %v", got, m.Astray, m.Problems)
	}
}

// Short names are those without parameters.
func TestMonoLog_ShortNames(t *testing.T) {
	for name, want := range map[string]string{
		"App:IsPrime (int)": "App:IsPrime",
		"(wrapper runtime-invoke) object:runtime_invoke_void (object,intptr)":          "(wrapper runtime-invoke) object:runtime_invoke_void",
		"System.Linq.Enumerable/WhereSelectEnumerableIterator`2<int, int>:MoveNext ()": "System.Linq.Enumerable/WhereSelectEnumerableIterator`2<int, int>:MoveNext",
		"(trampoline vcall)": "(trampoline vcall)",
		"(wrapper ":          "(wrapper ",
		"App:.ctor":          "App:.ctor",
	} {
		if got := string(mono.ShortName([]byte(name))); got != want {
			t.Errorf("%q: got %q; want %v", name, got, want)
		}
	}
}

// What a real log has, its map has, too; mprof-report's text of the same log was counted.
func TestMonoLog_RealLog(t *testing.T) {
	dir := testrec.Unpack(t, "mono")
	f, err := os.Open(filepath.Join(dir, "app.mlpd"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := scanLog(t, f)
	all := strings.Join(names(t, m), "\n")
	for _, want := range []string{"App:IsPrime (int)", "App/Stack`1<T_REF>:Push (T_REF)", "App/Stack`1<int>:Push (int)", "(wrapper managed-to-native) string:FastAllocateString (int)"} {
		if strings.Count(all, want+"\n") != 1 {
			t.Errorf("%d times %s", strings.Count(all, want+"\n"), want)
		}
	}
	if strings.Contains(all, "App/Stack`1<string>:Push") || len(m.Problems) > 0 || m.Cut != -1 {
		t.Errorf("a method has the name of one whose code it shares; %v", m.Problems)
	}
}

// A repeater is a log whose last buffer comes again and again.
type repeater struct {
	head, buffer []byte
	size         int64
}

func (r *repeater) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		switch at := off + int64(n); {
		case at >= r.size:
			return n, io.EOF
		case at < int64(len(r.head)):
			n += copy(p[n:], r.head[at:])
		default:
			n += copy(p[n:], r.buffer[(at-int64(len(r.head)))%int64(len(r.buffer)):])
		}
	}
	return n, nil
}

// A log of calls is read in little memory, however long it is: JITINJECT_MONO_BYTES says how
// long.
func TestMonoLog_BoundedMemory(t *testing.T) {
	b := newLog(t)
	b.jit(1, 0x1000, 0x40000100, 64, "App:Main ()")
	head := bytes.Clone(b.bytes())
	at := len(head)
	b.buffer()
	for i := range uint64(20000) {
		b.event(&monolog.Event{Kind: monolog.KindEnter, Time: logStart + i, Method: 0x1000 + i%100*8})
		b.event(&monolog.Event{Kind: monolog.KindLeave, Time: logStart + i, Method: 0x1000 + i%100*8})
	}
	size := int64(32 << 20)
	if s := os.Getenv("JITINJECT_MONO_BYTES"); s != "" {
		size = 0
		for _, c := range s {
			size = size*10 + int64(c-'0')
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := scanLog(t, &repeater{head, b.bytes()[at:], size})
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; m.NumFunctions() != 1 || used > 4<<20 {
		t.Errorf("%d functions, %d bytes for a log of %d", m.NumFunctions(), used, size)
	}
}

// A log with more functions than anybody has is cut there.
func TestMonoLog_TooManyFunctions(t *testing.T) {
	defer mono.LimitMonoFunctions(mono.LimitMonoFunctions(10))
	b := newLog(t)
	for i := range uint64(30) {
		b.jit(i, 0x1000+i, 0x40000000+i*64, 64, "App:Method ()")
		b.helper(monolog.HelperHelper, 0x41000000+i*64, 64, "")
		b.jit(i, 0x2000+i, 0, 0, "App:Lost ()")
	}
	m := scanLog(t, bytes.NewReader(b.bytes()))
	if m.NumFunctions() != 10 || m.Addressless > 20 || len(m.Problems) != 1 || !strings.Contains(m.Problems[0].Text, "one more than the 10 functions") {
		t.Errorf("%d functions, %d without address, %v", m.NumFunctions(), m.Addressless, m.Problems)
	}
}

// Machines, by Mono's name or the kernel's.
func TestMonoLog_MachineByName(t *testing.T) {
	for _, c := range []struct {
		arch, kernel string
		ptr          uint8
		want         uint32
	}{{"x86-64", "", 8, 62}, {"", "x86_64", 8, 62}, {"", "x86_64", 4, 3}, {"arm64", "x86_64", 8, 183}, {"", "aarch64", 4, 40}, {"", "s390x", 8, 22}, {"", "", 8, 0}} {
		var out bytes.Buffer
		w, err := monogen.NewWriter(&out, &monolog.Header{Major: 3, Version: 17, PtrSize: c.ptr, Arch: c.arch, StartupTime: 1})
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		m := scanLog(t, bytes.NewReader(out.Bytes()))
		m.SetMachine(source.Machine{Name: c.kernel, Order: binary.LittleEndian})
		if got := m.Target().Machine; got != c.want {
			t.Errorf("for %+v: got machine %d; want %d", c, got, c.want)
		}
	}
}

// FuzzMonoLog scans anything as a log: it must end, without a panic, and tell of functions that
// can be.
func FuzzMonoLog(f *testing.F) {
	b := newLog(f)
	b.jit(1, 0x1000, 0x40000100, 64, "App:Fill<string> (string)")
	b.jit(1, 0x1010, 0x40000100, 64, "App:Fill<T_REF> (T_REF)")
	b.helper(monolog.HelperSpecificTrampoline, 0x40000200, 14, "vcall")
	b.buffer()
	b.jit(2, 0x1020, 0, 0, "App:Lost ()")
	for i, kind := range []monolog.Kind{monolog.KindEnter, monolog.KindEnter, monolog.KindLeave, monolog.KindExcLeave} {
		b.event(&monolog.Event{Kind: kind, Time: logStart + 3e6 + uint64(i), Method: 0x1020 - 16*uint64(i%2)})
	}
	f.Add(b.bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := mono.ReadLog(bytes.NewReader(data))
		if err != nil {
			return
		}
		if err := m.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m.Cut > 0 && bytes.HasPrefix(data, []byte{1, 'Z', 'P', 'M'}) && m.Cut > int64(len(data)) {
			t.Fatalf("cut at %#x of %#x", m.Cut, len(data))
		}
		for i, name := range names(t, m) {
			e := &m.Events[i]
			if name == "" || strings.Contains(name, "\x00") || e.Size == 0 || e.Addr+e.Size < e.Addr {
				t.Fatalf("%q at %+v", name, e)
			}
		}
		m.MethodAt(0x1000, logStart)
		tids := make(map[*mono.LogThread]uint32)
		for _, thread := range m.Threads() {
			tids[thread] = 1
		}
		threads, err := m.Trace(bytes.NewReader(data), "", 1, tids).Threads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		merger, last, sum := calls.NewMerger(threads), uint64(0), uint64(0)
		for {
			e, err := merger.Next()
			if err != nil {
				break
			}
			if e.Time < last || e.Exclusive > e.Inclusive {
				t.Fatalf("got %+v; want a time of %d or later, and no more exclusive than inclusive time", e, last)
			}
			last = e.Time
			sum += e.Exclusive
		}
		if c := merger.Counts(); c.Traced != sum || len(merger.Errs()) > 0 {
			t.Fatalf("got %+v, %d, %v; want Traced = sum, no errors of the merger", c, sum, merger.Errs())
		}
	})
}
