package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
	"github.com/jitinject/jitinject/perfdata"
)

// stageFunctions makes a recording with a dump of three functions, each of which is sampled.
func stageFunctions(t testing.TB, dir string) {
	t.Helper()
	functionsRecording(t, dir).Write(t, filepath.Join(dir, "perf.data"))
}

func functionsRecording(t testing.TB, dir string) *testrec.Recording {
	t.Helper()
	const pid, base = 4711, uint64(0x7f1200000000)
	path := filepath.Join(dir, "jit-4711.dump")
	r := testrec.NewRecording()
	r.Comm(pid, 900, "prog", true)
	r.Marker(pid, 1000, path)
	var out bytes.Buffer
	w, err := jitdump.NewWriter(&out, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_X86_64), PID: pid})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(1900, jitdump.NewEmbeddedSource("lib/f.toy", []byte("fn f() {\n"))); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		addr := base + 64*i
		code := append(bytes.Repeat([]byte{0x90}, 58), 0xe8, byte(i*3), 0, 0, 0, 0xc3) // a call
		err := w.Write(2000+i, &jitdump.Load{PID: pid, TID: pid, VMA: addr, CodeAddr: addr, CodeIndex: i, Name: fmt.Appendf(nil, "f%d", i), Code: code})
		if err != nil {
			t.Fatal(err)
		}
		r.Sample(pid, 1000000+i, addr+8)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return r
}

// stageDirectory makes a recording that is a directory, and earlier results.
func stageDirectory(t testing.TB, dir string) {
	t.Helper()
	stageFunctions(t, dir)
	file := openRecording(t, filepath.Join(dir, "perf.data"))
	for _, name := range []string{"perf.dir", "out.dir", "out.dir.old"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(path, "kcore_dir"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "kcore_dir", "kallsyms"), []byte("of "+name), 0o644); err != nil {
			t.Fatal(err)
		}
		data, err := os.Create(filepath.Join(path, "data"))
		if err != nil {
			t.Fatal(err)
		}
		w, err := perfdata.NewWriter(data, file)
		if err != nil {
			t.Fatal(err)
		}
		var samples []byte
		eachRecord(t, file, func(rec perfdata.Record) {
			if rec.Type == perfdata.RecordSample {
				samples = append(samples, rec.Data...)
			} else {
				w.Write(rec.Data)
			}
		})
		features := append(slices.Clone(file.Features), perfdata.NewFeature(perfdata.FeatureDirFormat, make([]byte, 8)))
		if err := errors.Join(w.Close(features), data.Close(), os.WriteFile(filepath.Join(path, "data.0"), samples, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// openRecording opens a recording until the test ends.
func openRecording(t testing.TB, path string) *perfdata.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := perfdata.Open(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// eachRecord calls f for the records of a recording.
func eachRecord(t testing.TB, file *perfdata.File, f func(perfdata.Record)) {
	t.Helper()
	for blocks := file.Blocks(); ; {
		block, err := blocks.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range block.Records() {
			f(rec)
		}
	}
}

// stagePipe makes the stream of a recording.
func stagePipe(t testing.TB, dir string) {
	t.Helper()
	stageFunctions(t, dir)
	writeStream(t, dir)
}

// writeStream writes the recording perf.data as the stream perf.pipe.
func writeStream(t testing.TB, dir string) {
	t.Helper()
	file := openRecording(t, filepath.Join(dir, "perf.data"))
	out, err := os.Create(filepath.Join(dir, "perf.pipe"))
	if err != nil {
		t.Fatal(err)
	}
	w := perfdata.NewPipeWriter(out, file.Header.Order)
	preamble, err := perfdata.AppendPreamble(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(preamble)
	eachRecord(t, file, func(rec perfdata.Record) { w.Write(rec.Data) })
	if err := errors.Join(w.Err(), out.Close()); err != nil {
		t.Fatal(err)
	}
}

// stageMono makes a recording of a process that runs Mono, with the log of two methods.
func stageMono(t testing.TB, dir string) {
	t.Helper()
	const pid, start, memory = 100, 1000, uint64(0x40000000)
	var log bytes.Buffer
	w, err := monogen.NewWriter(&log, &monolog.Header{Major: 3, Version: 17, PtrSize: 8, PID: pid, StartupTime: start + 10, Arch: "x86-64", OS: "linux"})
	if err == nil {
		err = w.Buffer(monolog.BufferHeader{Time: start + 20, PtrBase: memory, Thread: 0x7f0000001000, MethodBase: 0x5500000})
	}
	for i := range uint64(2) {
		if err == nil {
			err = w.Event(&monolog.Event{Kind: monolog.KindJIT, Time: start + 100 + i, Method: 1 + i, Code: memory + 0x100*i, Size: 64, Name: fmt.Appendf(nil, "App:F%d (int)", i)})
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "app.mlpd"), log.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	monoRecording().Write(t, filepath.Join(dir, "perf.data"))
}

// monoRecording returns the recording of stageMono.
func monoRecording() *testrec.Recording {
	const pid, start, memory = 100, 1000, uint64(0x40000000)
	r := testrec.NewRecording()
	r.Comm(pid, start, "mono", true)
	r.Mmap2(pid, start+1, 0x550000000000, 0x300000, 0, "/usr/bin/mono-sgen")
	r.Mmap2(pid, start+2, 0x7f1100000000, 0x20000, 0, "/usr/lib/libmono-profiler-log.so.0.0.0")
	r.Mmap2(pid, start+3, memory, 0x10000, 0, "//anon")
	for i := range uint64(2) {
		r.Sample(pid, start+1000+i, memory+0x100*i+8)
	}
	return r
}

// stageXRay makes a recording of a program and a short trace of its calls.
func stageXRay(t testing.TB, dir string) {
	t.Helper()
	unpacked := t.TempDir()
	if err := testrec.MakeXRay(unpacked, 100); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(unpacked)); err != nil {
		t.Fatal(err)
	}
}
