package showmono_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// With bytes, every byte of a log is shown once: in the header, a buffer's or an event.
func TestMonoBytes(t *testing.T) {
	log := testrec.Gunzip(t, "../testdata/mono/v17-all.mlpd.gz")
	path := filepath.Join(t.TempDir(), "all.mlpd")
	showtest.Put(t, path, log)
	var all []byte
	for line := range strings.Lines(showtest.Whole(t, path, show.Options{JSON: true, Hex: true})) {
		var it struct {
			Offset, Size int
			Hex          string
		}
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, len(it.Hex)/2)
		if _, err := fmt.Sscanf(it.Hex, "%x", &b); err != nil && it.Hex != "" {
			t.Fatal(err)
		}
		if len(b) > 0 && (it.Offset != len(all) || it.Size != len(b)) {
			t.Fatalf("%d bytes at %d, want %d at %d", len(b), it.Offset, it.Size, len(all))
		}
		all = append(all, b...)
	}
	if !bytes.Equal(all, log) {
		t.Errorf("%d bytes are shown, the log has %d", len(all), len(log))
	}
}

// What is shown of small logs, byte for byte: whole, and with damage.
func TestGoldenMono(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	log := showtest.MonoLog(t, 17)
	showtest.Put(t, "mono17.mlpd", log)
	showtest.Put(t, "mono4.mlpd", showtest.MonoLog(t, 4))
	second := bytes.LastIndex(log, []byte("\x01LPM"))
	broken := append(append(bytes.Clone(log[:second-2]), 0xff, 0xff), log[second:len(log)-3]...)
	showtest.Put(t, "mono-damaged.mlpd", broken)
	showtest.Golden(t, testdata, "mono17.txt", showtest.Whole(t, "mono17.mlpd", show.Options{Hex: true}))
	showtest.Golden(t, testdata, "mono17.json", showtest.Whole(t, "mono17.mlpd", show.Options{JSON: true}))
	showtest.Golden(t, testdata, "mono4.txt", showtest.Whole(t, "mono4.mlpd", show.Options{}))
	showtest.Golden(t, testdata, "mono-damaged.txt", showtest.Shown(t, "mono-damaged.mlpd", show.Options{}))
}

// Filters let through what they say of logs.
func TestMonoFilters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.mlpd")
	showtest.Put(t, path, showtest.MonoLog(t, 17))
	for _, c := range []struct {
		name string
		set  func(*show.Filter)
		want []string
	}{
		{"a method's name", func(f *show.Filter) { f.Names = showtest.Names(t, "Leaf") },
			[]string{"method_jit Demo:Leaf (int)", "method_enter Demo:Leaf (int)", "method_leave Demo:Leaf (int)"}},
		{"a class's name", func(f *show.Filter) { f.Names = showtest.Names(t, "/^Node/") }, []string{"class Node<T>", "vtable"}},
		{"code", func(f *show.Filter) { f.Address = showtest.Range(t, show.ParseAddress, "7f000000102f") }, []string{"method_jit Demo:Leaf (int)"}},
		{"behind code", func(f *show.Filter) { f.Address = showtest.Range(t, show.ParseAddress, "7f0000001030+80") }, nil},
		{"an event without fields", func(f *show.Filter) { f.Types = []string{"gc_resize"} }, []string{"gc_resize"}},
		{"types", func(f *show.Filter) { f.Types = []string{"jit", "BUFFER"} },
			[]string{"buffer", "method_jit Demo:Leaf (int)", "method_jit Demo:\x1b[31m\ufffd ()", "buffer"}},
		{"a time", func(f *show.Filter) { f.Time = showtest.Range(t, show.ParseTime, "2000005500ns-2000006500ns") }, []string{"method_enter Demo:Leaf (int)"}},
		{"the process", func(f *show.Filter) { f.PIDs = []uint32{17}; f.Types = []string{"thread"} }, []string{"thread Main"}},
		{"another process", func(f *show.Filter) { f.PIDs = []uint32{18} }, nil},
		{"the header", func(f *show.Filter) { f.Types = []string{"header"} }, []string{"header"}},
	} {
		got := showtest.Kinds(t, showtest.Shown(t, path, showtest.Options(t, c.set)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// -d is refused where there is no code, and not ignored.
func TestNoCode(t *testing.T) {
	dir := t.TempDir()
	log, trace := filepath.Join(dir, "app.mlpd"), filepath.Join(dir, "xray-log.x")
	showtest.Put(t, log, showtest.MonoLog(t, 17))
	showtest.Put(t, trace, showtest.XRayTrace(t, binary.LittleEndian))
	for _, path := range []string{log, trace} {
		var b bytes.Buffer
		if err := showtest.File(&b, path, &show.Options{Disassemble: true}); err == nil || b.Len() > 0 || !strings.Contains(err.Error(), "leave out -d") {
			t.Errorf("%s: %v, and %d bytes of output", path, err, b.Len())
		}
	}
}

// A log may come through a pipe, and gzip that holds something else is no log.
func TestMonoPipe(t *testing.T) {
	for _, packed := range []bool{false, true} {
		log := showtest.MonoLog(t, 17)
		if packed {
			log = testrec.Gunzip(t, "../testdata/mono/v1.mlpd.gz")
		}
		path := filepath.Join(t.TempDir(), "app.mlpd")
		showtest.Put(t, path, log)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			w.Write(log)
			w.Close()
		}()
		got := showtest.Whole(t, "-", show.Options{Stdin: r, Hex: true})
		if want := strings.Replace(showtest.Whole(t, path, show.Options{Hex: true}), "name="+path, "name=-", 1); got != want {
			t.Errorf("through a pipe, %d bytes of text; from the file, %d", len(got), len(want))
		}
		r.Close()
	}
	// A shell unpacks a log as the error about its bytes says.
	packed, err := os.ReadFile("../testdata/mono/v1.mlpd.gz")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a log")
	showtest.Put(t, path, packed)
	_, command, ok := strings.Cut(fmt.Sprint(showtest.File(io.Discard, path, &show.Options{Hex: true})), "with -x, unpack it: ")
	command, last, piped := strings.Cut(command, " | ")
	unpacked, err := exec.Command("sh", "-c", command).Output()
	if want := testrec.Gunzip(t, "../testdata/mono/v1.mlpd.gz"); !ok || !piped || last != "jitinject dump -x -" || err != nil || !bytes.Equal(unpacked, want) {
		t.Errorf("got the command %q | %q, %v, %d bytes; want %d", command, last, err, len(unpacked), len(want))
	}
	if err := showtest.File(io.Discard, "../testdata/mono/v1.debug.txt.gz", &show.Options{}); !errors.Is(err, show.ErrUnknown) {
		t.Errorf("a packed text: %v", err)
	}
	for _, cut := range []int{4, 20, 30} {
		path := filepath.Join(t.TempDir(), "cut.mlpd")
		showtest.Put(t, path, showtest.MonoLog(t, 17)[:cut])
		var out bytes.Buffer
		if err := showtest.File(&out, path, &show.Options{}); err == nil || errors.Is(err, show.ErrUnknown) || out.Len() > 0 {
			t.Errorf("%d bytes: %v, and %d bytes of output", cut, err, out.Len())
		}
	}
}

// Memory does not grow with a log, the first output comes at once, and who stops reading
// stops the work.
func TestLargeLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.mlpd")
	log := testrec.Gunzip(t, "../testdata/mono/v17-all.mlpd.gz")
	first := bytes.Index(log, []byte("\x01LPM"))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Write(log[:first])
	for range testrec.Rounds(400, 100) {
		f.Write(log[first:])
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []show.Options{{}, {JSON: true, Hex: true}} {
		p := showtest.NewPeak()
		if err := showtest.File(&p, path, &opts); err != nil {
			t.Fatal(err)
		}
		t.Logf("JSON %v: %v, of text %d MB, first after %v, heap %d MB", opts.JSON, time.Since(p.Began).Round(time.Millisecond), p.Written>>20, p.First, p.Heap>>20)
		if p.Heap > 32<<20 || p.Written < 10<<20 || p.First > time.Second/2 {
			t.Errorf("%d MB of heap for %d MB of output, the first after %v", p.Heap>>20, p.Written>>20, p.First)
		}
	}
	c := showtest.Closed{After: 3}
	if err := showtest.File(&c, path, &show.Options{}); !errors.Is(err, syscall.EPIPE) || c.Calls > 4 {
		t.Errorf("got no reader, but %d writes and %v", c.Calls, err)
	}
}
