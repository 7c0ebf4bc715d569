package monolog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

func unzip(tb testing.TB, path string) []byte {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// compare holds our reading of a log against mprof-report's text.
func compare(t *testing.T, log io.Reader, text []byte) map[Kind]int {
	t.Helper()
	r, err := NewReader(log)
	if err != nil {
		t.Fatal(err)
	}
	var ours bytes.Buffer
	counts, err := new(mprof).print(r, &ours)
	if err != nil {
		t.Error(err)
	}
	got, want := strings.Split(strings.TrimSpace(ours.String()), "\n"), []string(nil)
	for line := range strings.SplitSeq(string(text), "\n") {
		if mprofKept.MatchString(line) {
			want = append(want, mprofCut.ReplaceAllString(line, "$1$2"))
		}
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("line %d:\n got %s\nwant %s", i+1, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines, mprof-report prints %d", len(got), len(want))
	}
	return counts
}

// Real logs of two versions, 14 years apart: every event is mprof-report's, to the last byte of
// each buffer.
func TestReader_RealLogsOfTwoVersions(t *testing.T) {
	for name, want := range map[string]map[Kind]int{
		"v1-small":   {KindGCEvent: 12, KindGCResize: 1, KindGCMove: 2, KindClass: 506, KindImage: 2, KindJIT: 156, KindThrow: 2},
		"v1-zip":     {KindGCEvent: 12, KindGCResize: 1, KindGCMove: 2, KindClass: 506, KindImage: 2, KindJIT: 156, KindThrow: 2},
		"v1-core":    {KindGCEvent: 6, KindGCResize: 1, KindGCMove: 4, KindClass: 729, KindImage: 2, KindJIT: 435, KindThrow: 21},
		"v17-jit":    {KindClass: 719, KindJIT: 369, KindJITHelper: 671, KindVTable: 142, KindThread: 20, KindRootRegister: 102},
		"v17-events": nil,
		"v17-calls":  nil,
		"v17-zip":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".mlpd")
			packed, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			counts := compare(t, bytes.NewReader(packed), unzip(t, filepath.Join("testdata", name+".txt.gz")))
			for k, n := range want {
				if counts[k] != n {
					t.Errorf("%d events %s, expected %d", counts[k], k, n)
				}
			}
		})
	}
}

// Each buffer by itself gives what reading all gives.
func TestReadBufferAt_EachBuffer(t *testing.T) {
	log := unzip(t, "testdata/v17-events.mlpd")
	r, err := NewReader(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	buffers := 0
	for {
		b, err := r.NextBuffer()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		buffers++
		one, err := ReadBufferAt(bytes.NewReader(log), r.Header(), b.Offset)
		if err != nil {
			t.Fatal(err)
		}
		if b2, err := one.NextBuffer(); err != nil || *b2 != *b {
			t.Fatalf("got %+v, %v, want %+v", b2, err, b)
		}
		for {
			e, err := r.Next()
			e2, err2 := one.Next()
			if err != err2 {
				t.Fatalf("got %v, %v; want the same error twice", err, err2)
			}
			if err != nil {
				break
			}
			if fmt.Sprintf("%+v", e) != fmt.Sprintf("%+v", e2) {
				t.Fatalf("got %+v, want %+v", e2, e)
			}
		}
	}
	if buffers < 10 {
		t.Fatalf("%d buffers", buffers)
	}
	if _, err := ReadBufferAt(bytes.NewReader(log), r.Header(), -1); err == nil {
		t.Error("a buffer before the file")
	}
}

// Fresh logs in all modes of the Mono that is installed.
func TestReader_FreshLogs(t *testing.T) {
	if os.Getenv("JITINJECT_ALL") == "" {
		testrec.Skip(t, "JITINJECT_ALL is not set")
	}
	mono, mcs, mprofReport := testrec.Tool(t, "mono"), testrec.Tool(t, "mcs"), testrec.Tool(t, "mprof-report")
	dir := t.TempDir()
	run := func(name string, args ...string) []byte {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: unexpected error: %v\n%s", name, args, err, out)
		}
		return out
	}
	exe, log := filepath.Join(dir, "events.exe"), filepath.Join(dir, "log.mlpd")
	run(mcs, "-optimize", "-out:"+exe, "testdata/events.cs")
	for _, mode := range []string{
		"", "calls", "calls,alloc", "nodefaults,jit", "legacy", "legacy,calls", "heapshot", "heapshot-on-shutdown,gcroot", "sample",
		"sample=5000,nodefaults,counter,gcalloc", "zip,jit", "nodefaults,gcalloc,maxframes=0", "calls,calldepth=3,exception,monitor,gchandle",
		"alloc,gcalloc,gcmove,gchandle,monitor,exception,finalization,gcroot,domain,context,assembly,counter,maxframes=8",
	} {
		t.Run(mode, func(t *testing.T) {
			run(mono, "--profile=log:"+strings.TrimPrefix(mode+",output="+log, ","), exe)
			text, _, _ := strings.Cut(string(run(mprofReport, "--debug", log)), "\nMono log profiler data")
			b, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			counts := compare(t, bytes.NewReader(b), []byte(text))
			t.Log(counts)
			if err := os.Remove(log); err != nil {
				t.Fatal(err)
			}
		})
	}
}
