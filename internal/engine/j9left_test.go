package engine_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
)

// Captures that are left out, and what is left of those that have something missing.

// A capture that is named with its process is of that, though its directory is named as well.
func TestJ9_NamedAndInNamedDirectory(t *testing.T) {
	w := newWorld(t)
	w.runJava(100, monoStart, j9Memory)
	w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods)
	w.capture("b", vector(t, j9Memory+0x100000, 0x200, 0, 0), j9Methods)
	w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}, {Kind: formats.J9, PID: 100, Path: w.path("b.bin")}}
	w.expect(100, monoStart+100, j9Memory+0x1010, "App.run(I)V+0x10")
	w.expect(100, monoStart+101, j9Memory+0x100010, "App.run(I)V+0x10")
	if sum := w.check(); sum.Dumps[0].Captures != 2 {
		t.Errorf("got %s; want Dumps[0].Captures = 2", asJSON(sum))
	}
}

// What is in a directory and cannot be used is told, file by file.
func TestJ9_UnusableFilesInDirectory(t *testing.T) {
	w := newWorld(t)
	w.runJava(100, monoStart, j9Memory)
	metadata := vector(t, j9Memory+0x1000, 0x200, 0, 0)
	w.capture("good", metadata, j9Methods)
	for name, text := range map[string]string{"base": `{"startPC": "0x200000001000"}`, "cut": `{"base": "0x1", `, "start": `{"base": 1}`} {
		put(t, w.path(name+".bin"), metadata)
		put(t, w.path(name+".json"), []byte(text))
	}
	if err := os.Symlink("good.json", w.path("link.json")); err != nil {
		t.Fatal(err)
	}
	put(t, w.path("link.bin"), metadata)
	put(t, w.path("alone.bin"), metadata) // is no capture
	w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}}
	w.expect(100, monoStart+100, j9Memory+0x1010, "App.run(I)V+0x10")
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 4 || sum.Complete() || sum.Dumps[0].Captures != 1 {
		t.Fatalf("got %s, %v; want no error, 4 problems, something missing, Dumps[0].Captures = 1", asJSON(sum), err)
	}
	for i, want := range []string{
		`base.json: it has no "base"`, "cut.json: it is no JSON: line 1", "link.json: it is a symbolic link", `start.json: it has no "startPC"`,
	} {
		if text := sum.Problems[i].String(); !strings.Contains(text, want) {
			t.Errorf("%s, not %s", text, want)
		}
	}
	w.resolve(w.opts.Output)

	alone := w.path("alone")
	if err := os.Mkdir(alone, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, w.path("alone/x.bin"), metadata)
	w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: alone}}
	if _, err := w.run(); err == nil || !strings.Contains(err.Error(), "it has no capture (X.bin and X.json)") {
		t.Error(err)
	}
}

// A process whose captures were all left out is not told to look for another runtime's dump.
func TestJ9_AllCapturesLeftOut(t *testing.T) {
	w := newWorld(t)
	w.Machine = "x86_64"
	w.Comm(100, monoStart, "main", true)
	w.Mmap2(100, monoStart+1, 0x550000000000, 0x10000, 0, "/usr/bin/main")
	w.Mmap2(100, monoStart+2, j9Memory, 0x40000, 0, "//anon")
	for i := range 30 {
		w.Sample(100, monoStart+100+uint64(i), j9Memory+0x1010)
	}
	w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods)
	w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}}
	put(t, w.path("a.json"), []byte(`{"base": 1, "startPC": 2}`))
	sum, err := w.run()
	if err != nil || len(sum.Reasons) != 1 || len(sum.Problems) != 1 {
		t.Fatalf("got %s, %v; want no error, 1 reason, 1 problem", asJSON(sum), err)
	}
	if r := sum.Reasons[0]; r.Kind != report.ReasonUnknownRuntime || !strings.Contains(r.Text, "the unused captures (1) may describe that code") || r.Advice != "" {
		t.Errorf(`got %+v; want Kind = ReasonUnknownRuntime, Text with "the unused captures (1) may describe that code", Advice = ""`, r)
	}
}

// A file with code that is not there costs its bytes, and a core dump may have them.
func TestJ9_CodeFileMissing(t *testing.T) {
	for _, core := range []bool{false, true} {
		w := newWorld(t)
		w.runJava(100, monoStart, j9Memory)
		w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods, `"code": "gone.code"`)
		if core {
			put(t, w.path("core"), tinyCore(100, j9Memory, code(0x3000, 2), map[string]uint64{"/usr/bin/java": 0x550000000000}))
			w.opts.CodeFrom = []string{w.path("core")}
		}
		w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.path("a.bin")}}
		w.expect(100, monoStart+100, j9Memory+0x1010, "App.run(I)V+0x10")
		sum, err := w.run()
		if err != nil || len(sum.Problems) != 1 || sum.Dumps[0].WithLines != 1 || (sum.Dumps[0].WithoutCode == 0) != core {
			t.Fatalf("got %s, %v; want no error, 1 problem, Dumps[0].WithLines = 1, (Dumps[0].WithoutCode == 0) = %v", asJSON(sum), err, core)
		}
		if p := sum.Problems[0]; p.File != w.path("a.bin") || !strings.Contains(p.Text, `its JSON names "gone.code" as code: there is no such file; that code is without instructions`) || !strings.Contains(p.Advice, "Options.CodeFrom") {
			t.Errorf("got %+v; want File = %v, Text with `its JSON names \"gone.code\" as code: there is no such file; that code is without instructions`, Advice with \"Options.CodeFrom\"", p, w.path("a.bin"))
		}
		w.resolve(w.opts.Output)
	}
}

// The sections prove the size of the header, whatever a capture says of it.
func TestJ9_WrongHeaderSize(t *testing.T) {
	w := newWorld(t)
	w.runJava(100, monoStart, j9Memory)
	w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods, `"epoch": 224`)
	w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}}
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 0 || len(sum.Dumps) != 1 || sum.Dumps[0].WithLines != 1 || sum.Dumps[0].Inlining != 1 {
		t.Fatalf("got %s, %v; want no error, no problem, 1 dump, Dumps[0].WithLines = 1, Dumps[0].Inlining = 1", asJSON(sum), err)
	}
}

// A time before the program began is as good as none: perf forgets what was there before.
func TestJ9_TimeBeforeProgram(t *testing.T) {
	for _, mode := range []string{"auto", "1000000"} {
		for _, time := range []uint64{0, 1, monoStart - 1} {
			w := newWorld(t)
			w.opts.Clock = mode
			if mode != "auto" {
				w.ClockID = -1
				time -= min(time, 1000000)
			}
			w.runJava(100, monoStart, j9Memory)
			w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods, fmt.Sprintf(`"time": %d`, time))
			w.capture("b", vector(t, j9Memory+0x2000, 0x200, 0, 0), j9Methods, fmt.Sprintf(`"time": %d`, monoStart+200))
			w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}}
			w.expect(100, monoStart+100, j9Memory+0x1010, "App.run(I)V+0x10")
			if mode == "auto" {
				w.expect(100, monoStart+150, j9Memory+0x2010, "")
				w.expect(100, monoStart+250, j9Memory+0x2010, "App.run(I)V+0x10")
			}
			if sum := w.check(); sum.Dumps[0].Captures != 2 {
				t.Errorf("got %s; want Dumps[0].Captures = 2", asJSON(sum))
			}
		}
	}
}

// Of a capture of another machine, verify would find nothing wrong: it is not what is advised.
func TestJ9_CaptureOfOtherMachine(t *testing.T) {
	w := newWorld(t)
	w.runJava(100, monoStart, j9Memory)
	b := vector(t, j9Memory+0x1000, 0x200, 0, 0)
	binary.BigEndian.PutUint64(b[40:], j9Memory+0x1000)
	put(t, w.path("a.bin"), b)
	put(t, w.path("a.json"), []byte(fmt.Sprintf(`{"base": 1, "startPC": "%#x"}`, uint64(j9Memory+0x1000))))
	w.capture("b", vector(t, j9Memory+0x2000, 0x200, 0, 0), j9Methods)
	w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}}
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "it is of another machine than the recording: EM_X86_64, with pointers of 8 bytes, BigEndian; its functions are missing") || strings.Contains(sum.Problems[0].Advice, "verify") {
		t.Errorf(`got %s, %v; want no error, 1 problem, Problems[0].Text with "it is of another machine than the recording: EM_X86_64, with pointers of 8 bytes, BigEndian; its functions are missing", Problems[0].Advice without "verify"`, asJSON(sum), err)
	}
}
