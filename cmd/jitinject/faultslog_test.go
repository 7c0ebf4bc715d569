package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// stageV8Log returns a function that makes a recording of a process of V8 with three optimized
// functions, and a log with the name. In the log, each function has an inlined call.
func stageV8Log(name string) func(t testing.TB, dir string) {
	return func(t testing.TB, dir string) {
		t.Helper()
		const pid, start, base = 4711, uint64(1e9), uint64(0x7f1200000000)
		path := filepath.Join(dir, "jit-4711.dump")
		r := testrec.NewRecording()
		r.Comm(pid, start, "node", true)
		r.Marker(pid, start+1, path)
		var dump bytes.Buffer
		w, err := jitdump.NewWriter(&dump, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_X86_64), Pad: 0xdeadbeef, PID: pid})
		var log strings.Builder
		log.WriteString("v8-version,11,3,244,8,0\nscript-source,1,/a.js,one\\ntwo\\nthree\ncode-creation,JS,11,1,0x500,9,inner /a.js:2:1,0x30,~\ncode-source-info,0x500,1,4,7,,,\n")
		for i := range uint64(3) {
			addr, function := base+64*i, fmt.Sprintf("f%d /a.js:1:%d", i, i+1)
			fmt.Fprintf(&log, "code-creation,JS,13,%d,%#x,64,%s,%#x,*\ncode-source-info,%#x,1,%d,3,C0O0C8O5I0C16O1,F0O1,S0x30\n", 1000+i, addr, function, 0x40+8*i, addr, i)
			if err == nil {
				err = w.Write(start+1e6+1000*i, jitdump.NewDebugInfo(binary.LittleEndian, addr, []jitdump.DebugEntry{{Addr: addr, Line: 1, Discrim: 1, Name: []byte("/a.js")}}))
			}
			if err == nil {
				code := append(bytes.Repeat([]byte{0x90}, 62), byte(i), 0xc3)
				err = w.Write(start+1e6+1000*i, &jitdump.Load{PID: pid, TID: pid, VMA: addr, CodeAddr: addr, CodeIndex: i, Name: []byte("JS:*" + function), Code: code})
			}
			r.Sample(pid, start+2e6+i, addr+8)
		}
		if err == nil {
			err = os.WriteFile(path, dump.Bytes(), 0o644)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(log.String()), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.Write(t, filepath.Join(dir, "perf.data"))
	}
}

// The stage of a log has inlined calls. Faults may cost them.
func TestStageV8Log_InlinedCalls(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	stageV8Log("isolate-0x1-4711-v8.log")(t, dir)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var errs bytes.Buffer
	code := run([]string{"jitinject", "-i", "perf.data", "-o", "out.data"}, null, null, &errs)
	if want := "  inlines  "; code != exitOK || !strings.Contains(errs.String(), want) {
		t.Errorf("got exit code %d, %s; want 0, %q", code, errs.String(), want)
	}
}
