package monolog_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/wire"
)

const base = 0x7f0000001000

// threeBuffers returns a log of three buffers, with three calls each, and where they begin.
func threeBuffers(tb testing.TB) (log []byte, at [3]int) {
	tb.Helper()
	var out bytes.Buffer
	w, err := monogen.NewWriter(&out, &monolog.Header{Major: 3, Version: 17, PtrSize: 8})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range at {
		if err := w.Flush(); err != nil {
			tb.Fatal(err)
		}
		at[i] = out.Len()
		if err := w.Buffer(monolog.BufferHeader{Time: 1e12 + uint64(i), PtrBase: base, Thread: uint64(i), MethodBase: base}); err != nil {
			tb.Fatal(err)
		}
		for k := range 3 {
			e := monolog.Event{Kind: monolog.KindEnter, Time: 1e12 + uint64(i+10*k+10), Method: base + uint64(k)}
			if err := w.Event(&e); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes(), at
}

// all reads a log, and says in short what it reads: buffers by their thread, a dot
// for each event, and the errors.
func all(tb testing.TB, src io.Reader) (string, []error) {
	tb.Helper()
	r, err := monolog.NewReader(src)
	if err != nil {
		tb.Fatal(err)
	}
	var s strings.Builder
	var errs []error
	for {
		b, err := r.NextBuffer()
		if err == io.EOF {
			return s.String(), errs
		}
		if err != nil {
			s.WriteByte('!')
			errs = append(errs, err)
			continue
		}
		fmt.Fprint(&s, b.Thread)
		for {
			_, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				s.WriteByte('?')
				errs = append(errs, err)
				if _, err := r.Next(); err != io.EOF {
					tb.Errorf("behind an error: %v", err)
				}
				break
			}
			s.WriteByte('.')
		}
	}
}

// place is what stands in TestReader_DamagedLog for an offset from the start of a buffer.
var place = regexp.MustCompile(`@\d\+\d+`)

func TestReader_DamagedLog(t *testing.T) {
	len0 := func(n uint32) func([]byte, [3]int) []byte {
		return func(log []byte, at [3]int) []byte {
			binary.LittleEndian.PutUint32(log[at[0]+4:], n)
			return log
		}
	}
	insert := func(log []byte, at int, p ...byte) []byte {
		return append(append(bytes.Clone(log[:at]), p...), log[at:]...)
	}
	for name, test := range map[string]struct {
		damage func(log []byte, at [3]int) []byte
		want   string
		errs   []string
	}{
		"none": {func(log []byte, _ [3]int) []byte { return log }, "0...1...2...", nil},
		"an unknown type": {func(log []byte, at [3]int) []byte { log[at[1]+48] = 0x0f; return log }, "0...1?2...",
			[]string{"Mono log: type 15: type at offset @1+48: is 15, which data version 17 does not have"}},
		"an unknown exinfo": {func(log []byte, at [3]int) []byte { log[at[1]+48] = 0x73; return log }, "0...1?2...",
			[]string{"Mono log: method: exinfo at offset @1+48: is 7, which data version 17 does not have"}},
		"a number without end": {func(log []byte, at [3]int) []byte {
			log = insert(log, at[1]+49, bytes.Repeat([]byte{0xff}, 12)...)
			log[at[1]+4] += 12
			return log
		}, "0...1?2...", []string{"Mono log: method enter: time diff at offset @1+49: a number of more than 64 bits"}},
		"a broken header": {func(log []byte, at [3]int) []byte { log[at[1]] = 0; return log }, "0...!2...",
			[]string{"Mono log: buffer header: bufid at offset @1+0: is 0x4d504c00, expected 0x4d504c01; 57 bytes are left out"}},
		"the last header broken": {func(log []byte, at [3]int) []byte { log[at[2]] = 0; return log }, "0...1...!",
			[]string{"Mono log: buffer header: bufid at offset @2+0: is 0x4d504c00, expected 0x4d504c01; 57 bytes are left out"}},
		"bytes between": {func(log []byte, at [3]int) []byte { return insert(log, at[2], 1, 2, 3) }, "0...1...!2...",
			[]string{"Mono log: buffer header: bufid at offset @2+0: is 0x01030201, expected 0x4d504c01; 3 bytes are left out"}},
		"zeros behind": {func(log []byte, at [3]int) []byte { return append(log, make([]byte, 100)...) }, "0...1...2...!",
			[]string{"Mono log: buffer header: bufid at offset @2+57: is 0x00000000, expected 0x4d504c01; 100 bytes are left out"}},
		"a length too large": {len0(100), "0...?1...2...",
			[]string{"Mono log: gc: exinfo at offset @1+0: is 0, which data version 17 does not have"}},
		"a length that ends in the next header": {len0(11), "0...?1...2...",
			[]string{"Mono log: gc: exinfo at offset @1+0: is 0, which data version 17 does not have"}},
		"a length beyond the log": {len0(1 << 31), "0...?1...2...",
			[]string{"Mono log: gc: exinfo at offset @1+0: is 0, which data version 17 does not have"}},
		"a length too small": {len0(8), "0..?!1...2...",
			[]string{"Mono log: method enter: method at offset @0+56: the buffer ends in it, after 0 bytes", "bufid at offset @0+56"}},
		"cut in an event": {func(log []byte, at [3]int) []byte { return log[:len(log)-1] }, "0...1...2..?",
			[]string{"Mono log: method enter: method at offset @2+56: the log ends in it, after 0 bytes"}},
		"cut between events": {func(log []byte, at [3]int) []byte { return log[:len(log)-3] }, "0...1...2..?",
			[]string{"len at offset @2+4: is 9, but the log ends after 6 bytes"}},
		"cut in a header": {func(log []byte, at [3]int) []byte { return log[:at[2]+9] }, "0...1...!",
			[]string{"Mono log: buffer header at offset @2+0: the log ends here: it needs 48 bytes, 9 are there"}},
	} {
		t.Run(name, func(t *testing.T) {
			log, at := threeBuffers(t)
			log = test.damage(log, at)
			for _, src := range []io.Reader{bytes.NewReader(log), iotest.OneByteReader(bytes.NewReader(log)), iotest.DataErrReader(bytes.NewReader(log))} {
				got, errs := all(t, src)
				if got != test.want {
					t.Errorf("%s, expected %s", got, test.want)
				}
				if len(errs) != len(test.errs) {
					t.Fatalf("%q, expected %q", errs, test.errs)
				}
				for i, err := range errs {
					want := place.ReplaceAllStringFunc(test.errs[i], func(s string) string {
						b, n, _ := strings.Cut(s[1:], "+")
						i, _ := strconv.Atoi(n)
						return fmt.Sprintf("%#x", at[b[0]-'0']+i)
					})
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q, expected %q", err, want)
					}
					var place *wire.Error
					if !errors.As(err, &place) && !errors.Is(err, monolog.ErrCut) {
						t.Errorf("%T has no place", err)
					}
					if cut := strings.HasPrefix(name, "cut"); errors.Is(err, monolog.ErrCut) != cut {
						t.Errorf("got %v; want that it is ErrCut: %v", err, cut)
					}
				}
			}
		})
	}
}

// Going from buffer to buffer without reading finds the same damage.
func TestReader_BuffersSkipped(t *testing.T) {
	for n, want := range map[uint32]string{0: "0!12", 8: "0!12", 9: "012", 11: "012", 100: "012", 1 << 31: "012"} {
		log, at := threeBuffers(t)
		binary.LittleEndian.PutUint32(log[at[0]+4:], n)
		r, err := monolog.NewReader(bytes.NewReader(log))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for {
			b, err := r.NextBuffer()
			if err == io.EOF {
				break
			}
			if err != nil {
				got += "!"
			} else {
				got += fmt.Sprint(b.Thread)
			}
		}
		if got != want {
			t.Errorf("a length of %d: %s, expected %s", n, got, want)
		}
	}
	log, _ := threeBuffers(t)
	r, err := monolog.NewReader(bytes.NewReader(log[:len(log)-1]))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := r.NextBuffer(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.NextBuffer(); !errors.Is(err, monolog.ErrCut) || !strings.Contains(err.Error(), "is 9, but the log ends after 8 bytes") {
		t.Errorf("the last buffer is cut: %v", err)
	}
	if _, err := r.NextBuffer(); err != io.EOF {
		t.Errorf("behind the end: %v", err)
	}
}

// Wherever a log ends, what is before is read, and the end is told once.
func TestReader_CutAnywhere(t *testing.T) {
	whole, at := threeBuffers(t)
	for n := range whole {
		r, err := monolog.NewReader(bytes.NewReader(whole[:n]))
		switch {
		case n < 8:
			if !errors.Is(err, monolog.ErrNotMonoLog) {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		case n < at[0]:
			if !errors.Is(err, monolog.ErrCut) {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		case err != nil:
			t.Fatal(err)
		case r.Header().Size != int64(at[0]):
			t.Errorf("a header of %d bytes", r.Header().Size)
		}
		got, errs := all(t, bytes.NewReader(whole[:n]))
		if want := strings.Repeat(".", max(0, n-at[0]-48)%57/3); !strings.HasPrefix("0...1...2...", strings.TrimRight(got, "!?")) || n < at[1] && !strings.Contains(got, want) {
			t.Errorf("%d bytes: %s", n, got)
		}
		whole := n == at[0] || n == at[1] || n == at[2]
		if !whole && (len(errs) != 1 || !errors.Is(errs[0], monolog.ErrCut)) || whole && errs != nil {
			t.Errorf("%d bytes: %v", n, errs)
		}
	}
}

// A packed log that is cut gives what was packed before, nearly all of it.
func TestReader_CutGzip(t *testing.T) {
	packed, err := os.ReadFile("testdata/v17-zip.mlpd")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{len(packed) / 4, len(packed) / 2, len(packed) - 500, len(packed) - 4} {
		got, errs := all(t, bytes.NewReader(packed[:n]))
		if len(errs) != 1 || !errors.Is(errs[0], monolog.ErrCut) || !errors.Is(errs[0], io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %v", n, errs)
		}
		z, err := stdgzip.NewReader(bytes.NewReader(packed[:n]))
		if err != nil {
			t.Fatal(err)
		}
		plain, _ := io.ReadAll(z)
		want, _ := all(t, bytes.NewReader(plain))
		if have, want := strings.Count(got, "."), strings.Count(want, "."); have < want || want < 100 {
			t.Errorf("%d of %d bytes give %d events; the %d bytes that another unpacks, %d", n, len(packed), have, len(plain), want)
		}
	}
	damaged := bytes.Clone(packed)
	damaged[len(damaged)/2] ^= 0xff
	if _, errs := all(t, bytes.NewReader(damaged)); len(errs) == 0 {
		t.Error("damage in the middle is not noticed")
	}
	if _, err := monolog.NewReader(bytes.NewReader(packed[:5])); err == nil {
		t.Error("five bytes are a log")
	}
}

// An error of the source is told as it is.
func TestReader_SourceFails(t *testing.T) {
	log, _ := threeBuffers(t)
	broken := errors.New("the disk is on fire")
	_, errs := all(t, io.MultiReader(bytes.NewReader(log[:len(log)-5]), iotest.ErrReader(broken)))
	if len(errs) != 1 || !errors.Is(errs[0], broken) || errors.Is(errs[0], monolog.ErrCut) {
		t.Errorf("got %v; want 1 err, errs[0] that is %v, errs[0] that is not ErrCut", errs, broken)
	}
	if _, err := monolog.NewReader(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v; want an error that is %v", err, broken)
	}
}

// TestReader_FlagsOfEvents: flags must be 0; otherwise the rest of the buffer is ignored, as the
// document says.
func TestReader_FlagsOfEvents(t *testing.T) {
	for name, want := range map[string]string{
		"v1-backtrace-flags": "exception throw: flags at offset 0x64: is 0x1, expected 0",
		"v1-class-flags":     "class: flags at offset 0x66: is 0x1, expected 0",
	} {
		log, err := os.Open("testdata/" + name + ".mlpd")
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		r, err := monolog.NewReader(log)
		if err != nil {
			t.Fatal(err)
		}
		var events []string
		var problems []error
		for {
			if _, err := r.NextBuffer(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			for {
				e, err := r.Next()
				if err == io.EOF {
					break
				} else if err != nil {
					problems = append(problems, err)
					break
				}
				events = append(events, e.Kind.String())
			}
		}
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), want) {
			t.Errorf("%s: %v; want one problem, %q", name, problems, want)
		}
		if got := strings.Join(events, ", "); got != "method jit, method enter, method enter" {
			t.Errorf("%s: events %s", name, got)
		}
	}
}

func TestReader_BadHeader(t *testing.T) {
	var out bytes.Buffer
	if _, err := monogen.NewWriter(&out, &monolog.Header{Major: 3, Version: 17, PtrSize: 8, Args: "log"}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		at   int
		b    byte
		want string
	}{
		{0, 2, "not a log of Mono's profiler"},
		{6, 0, "data version at offset 0x6: is 0: versions 1 to 17 are known"},
		{6, 18, "data version at offset 0x6: is 18: versions 1 to 17 are known"},
		{7, 5, "ptrsize at offset 0x7: is 5, expected 4 or 8"},
		{28, 1, "flags at offset 0x1c: is 0x1, expected 0"},
		{41, 0x7f, "args size at offset 0x26: is 2130706436; the limit is 1048576 bytes"},
		{40, 1, "args at offset 0x2a: the log ends in it"},
	} {
		log := bytes.Clone(out.Bytes())
		log[test.at] = test.b
		if _, err := monolog.NewReader(bytes.NewReader(log)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%d: %v, expected %s", test.at, err, test.want)
		}
	}
	for _, s := range []string{"", "x", "\x1f\x8b", "a text of some length"} {
		if _, err := monolog.NewReader(strings.NewReader(s)); err == nil {
			t.Errorf("%q is a log", s)
		}
	}
	if _, err := monolog.NewReader(strings.NewReader("JiTD and so on")); !errors.Is(err, monolog.ErrNotMonoLog) {
		t.Error(err)
	}
	if _, err := monogen.NewWriter(io.Discard, &monolog.Header{Version: 18, PtrSize: 8}); err == nil {
		t.Error("version 18 is written")
	}
}

// What a version does not have is not written.
func TestWriter_NotInVersion(t *testing.T) {
	var out bytes.Buffer
	w, err := monogen.NewWriter(&out, &monolog.Header{Version: 4, PtrSize: 8})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Event(&monolog.Event{Kind: monolog.KindEnter}); err == nil {
		t.Error("an event outside of a buffer")
	}
	if err := w.Buffer(monolog.BufferHeader{}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []monolog.Event{
		{}, {Kind: 200}, {Kind: monolog.KindJITHelper}, {Kind: monolog.KindSyncPoint}, {Kind: monolog.KindVTable},
	} {
		if err := w.Event(&e); err == nil {
			t.Errorf("%s is written", e.Kind)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if n := walk(t, bytes.NewReader(out.Bytes())); n != 0 {
		t.Errorf("%d events", n)
	}
}

// A gzip stream in members, as append makes them, is one log.
func TestReader_GzipMembers(t *testing.T) {
	log, at := threeBuffers(t)
	var out bytes.Buffer
	for _, part := range [][]byte{log[:at[1]], log[at[1]:]} {
		z := stdgzip.NewWriter(&out)
		if _, err := z.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, errs := all(t, &out); got != "0...1...2..." || errs != nil {
		t.Errorf(`got %s, %v; want "0...1...2...", no errors`, got, errs)
	}
}
