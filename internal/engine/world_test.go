package engine_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
	"github.com/jitinject/jitinject/perfdata"
)

// A world is a recording made by hand, with its dumps, in a directory of its
// own. Samples say what they should resolve to; after the injection a model of
// mappings in this file is asked, and every perf there is.
type world struct {
	*testrec.Recording
	t     *testing.T
	dir   string
	opts  config.Options
	wants []want
	newer bool // not every perf reads such recordings
}

type want struct {
	pid      uint32
	time, ip uint64
	sym      string // "name+0x10", "" for unknown
}

func newWorld(t *testing.T) *world {
	dir := t.TempDir()
	return &world{
		Recording: testrec.NewRecording(), t: t, dir: dir,
		opts: config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data")},
	}
}

// path returns the path of a file of the world.
func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// expect adds a sample that is to resolve to sym.
func (w *world) expect(pid uint32, time, ip uint64, sym string) {
	w.Sample(pid, time, ip)
	w.wants = append(w.wants, want{pid, time, ip, sym})
}

// mark adds the marker of a dump, and makes the process known.
func (w *world) mark(pid uint32, time uint64, dump string) {
	w.Comm(pid, time-1, "prog", true)
	w.Marker(pid, time, w.path(dump))
}

// A record of a dump, with its time.
type timed struct {
	time uint64
	rec  jitdump.Record
}

func load(time uint64, pid uint32, index, addr uint64, name string, code []byte) timed {
	return timed{time, &jitdump.Load{PID: pid, TID: pid, VMA: addr, CodeAddr: addr, CodeIndex: index, Name: []byte(name), Code: code}}
}

func move(time uint64, pid uint32, index, from, to uint64, size int) timed {
	return timed{time, &jitdump.Move{PID: pid, TID: pid, VMA: to, OldCodeAddr: from, NewCodeAddr: to, CodeSize: uint64(size), CodeIndex: index}}
}

// Names of functions have some letters: newer perfs take "a" for the mangled name
// of a type and show "signed char".

// code is n bytes of instructions, different for each seed.
func code(n int, seed byte) []byte {
	return bytes.Repeat([]byte{0xb8, seed, 0, 0, 0, 0xc3, 0x90, 0x90}, n/8)
}

// dump writes a dump.
func (w *world) dump(name string, h jitdump.Header, recs ...timed) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), dumpBytes(w.t, h, recs...), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func dumpBytes(t testing.TB, h jitdump.Header, recs ...timed) []byte {
	t.Helper()
	var out bytes.Buffer
	jw, err := jitdump.NewWriter(&out, &h)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		if err := jw.Write(r.time, r.rec); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// x86 is the header of a dump of process pid.
func x86(pid uint32) jitdump.Header {
	return jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_X86_64), PID: pid}
}

// run injects.
func (w *world) run() (*report.Summary, error) {
	w.t.Helper()
	w.Write(w.t, w.opts.Input)
	sum, err := engine.Run(context.Background(), w.opts)
	if sum != nil {
		for _, p := range sum.Problems {
			if p.Advice == "" || strings.Contains(p.Text, p.Advice) {
				w.t.Errorf("no advice: %+v", p)
			}
		}
	}
	return sum, err
}

// check injects, which must leave nothing out, and asks about all samples.
func (w *world) check() *report.Summary {
	w.t.Helper()
	sum, err := w.run()
	if err != nil {
		w.t.Fatal(err)
	}
	if !sum.Complete() {
		w.t.Errorf("problems: %v", sum.Problems)
	}
	w.checkCount(sum)
	w.resolve(w.opts.Output)
	w.checkLayouts()
	return sum
}

// checkCount compares how many samples should be in functions with what the summary says.
func (w *world) checkCount(sum *report.Summary) {
	w.t.Helper()
	want := int64(0)
	for _, s := range w.wants {
		if s.sym != "" {
			want++
		}
	}
	if sum.Samples == nil || sum.Samples.Total == int64(len(w.wants)) && sum.Samples.Resolved != want {
		w.t.Errorf("the summary counts %+v, and %d of %d samples should be in functions", sum.Samples, want, len(w.wants))
	}
}

// checkLayouts injects once more into bundles, and once more what is sampled: nothing
// resolves to anything else. perf is asked about the last one, which is both.
func (w *world) checkLayouts() {
	w.t.Helper()
	dir := w.t.TempDir()
	for _, layout := range layouts {
		opts := w.opts
		opts.Bundle, opts.Sampled, opts.Output, opts.Objects = layout.bundle, layout.sampled, filepath.Join(dir, layout.name+".data"), filepath.Join(dir, layout.name)
		sum, err := engine.Run(context.Background(), opts)
		if err != nil {
			w.t.Fatalf("for %v: unexpected error: %v", layout.name, err)
		}
		if !sum.Complete() {
			w.t.Errorf("%s: problems: %v", layout.name, sum.Problems)
		}
		w.checkCount(sum)
		w.resolveByModel(opts.Output)
		if layout.bundle && layout.sampled {
			w.resolveByPerf(opts.Output)
		}
		if w.t.Failed() {
			w.t.Fatalf("with layout %s", layout.name)
		}
	}
}

// resolve asks the model and every perf about all samples in a result.
func (w *world) resolve(output string) {
	w.t.Helper()
	w.resolveByModel(output)
	w.resolveByPerf(output)
}

func (w *world) resolveByModel(output string) {
	w.t.Helper()
	m := readMappings(w.t, output)
	for _, s := range w.wants {
		if got := m.symbol(w.t, s); got != s.sym {
			w.t.Errorf("time %d: %#x is %q, want %q", s.time, s.ip, got, s.sym)
		}
	}
}

func (w *world) resolveByPerf(output string) {
	w.t.Helper()
	sort.SliceStable(w.wants, func(i, j int) bool { return w.wants[i].time < w.wants[j].time })
	for version, perf := range testrec.Perfs(w.t) {
		if w.newer && testrec.Command(w.t, w.dir, perf, "script", "-i", w.opts.Input).Run() != nil {
			continue
		}
		out, errs := testrec.RunBoth(w.t, w.dir, perf, "script", "-i", output, "-F", "ip,sym,symoff")
		if strings.Contains(errs, "order") || strings.Contains(errs, "nknown") {
			w.t.Errorf("perf %s complains: %s", version, errs)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != len(w.wants) {
			w.t.Errorf("perf %s shows %d samples, want %d:\n%s%s", version, len(lines), len(w.wants), out, errs)
			continue
		}
		for i, s := range w.wants {
			_, got, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
			if strings.TrimSpace(got) == "[unknown]" {
				got = ""
			}
			if strings.TrimSpace(got) != s.sym {
				w.t.Errorf("perf %s, time %d: %#x is %q, want %q", version, s.time, s.ip, got, s.sym)
			}
		}
	}
}

// mappings is what a recording says about address spaces, in order of time.
type mappings struct {
	all   []mapping
	forks map[uint32]perfdata.Task // by child
	execs map[uint32]uint64

	forgets bool // at an exec

	objects map[string]*object // by path, of those that were asked for
}

// An object is what the model knows of a file.
type object struct {
	machine elf.Machine
	note    []byte // with the build id at its end
	symbols []elf.Symbol
}

func (m *mappings) object(t testing.TB, path string) *object {
	t.Helper()
	if o := m.objects[path]; o != nil {
		return o
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := &object{machine: f.Machine}
	if o.note, err = f.Section(".note.gnu.build-id").Data(); err == nil {
		o.symbols, err = f.Symbols()
	}
	if err != nil {
		t.Fatal(err)
	}
	m.objects[path] = o
	return o
}

type mapping struct {
	perfdata.Mmap
	time uint64
}

func readMappings(t testing.TB, path string) *mappings {
	t.Helper()
	m := &mappings{forks: make(map[uint32]perfdata.Task), execs: make(map[uint32]uint64), objects: make(map[string]*object)}
	eachRecord(t, path, func(ls *perfdata.Layouts, rec perfdata.Record) {
		switch rec.Type {
		case perfdata.RecordMmap, perfdata.RecordMmap2:
			mm, err := ls.Mmap(rec)
			if err != nil {
				t.Fatal(err)
			}
			mm.Filename, mm.BuildID = bytes.Clone(mm.Filename), bytes.Clone(mm.BuildID)
			time, _ := ls.Time(rec)
			m.all = append(m.all, mapping{mm, time})
		case perfdata.RecordFork:
			task, err := ls.Task(rec)
			if err != nil {
				t.Fatal(err)
			}
			m.forks[task.PID] = task
		case perfdata.RecordComm:
			if c, err := ls.Comm(rec); err == nil && c.Exec {
				m.execs[c.PID], _ = ls.Time(rec)
			}
		}
	})
	slices.SortStableFunc(m.all, func(a, b mapping) int { return int(int64(a.time - b.time)) })
	return m
}

// eachRecord calls f for every record of a file. It checks that rounds are true:
// when one ends, perf uses everything up to the newest record of the round before,
// so nothing older may follow.
func eachRecord(t testing.TB, path string, f func(*perfdata.Layouts, perfdata.Record)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	st, _ := file.Stat()
	pd, err := perfdata.Open(file, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	ls, err := perfdata.NewLayouts(pd.Header.Order, pd.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	var newest, before, flushed uint64 // newest record: of all, at the end of the last round, of the one before
	for r := pd.Blocks(); ; {
		block, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range block.Records() {
			if rec.Type == perfdata.RecordFinishedRound {
				flushed, before = before, newest
			}
			if time, ok := ls.Time(rec); ok {
				if time < flushed {
					t.Errorf("got %v of time %d after a round that ended at %d; want nothing earlier", rec.Type, time, flushed)
				}
				newest = max(newest, time)
			}
			f(ls, rec)
		}
	}
}

// has reports whether a process has a mapping at a time: one of its own, or one
// from a parent. perf keeps them at an exec, and the process does not (forgets).
func (m *mappings) has(pid uint32, time uint64, mm *mapping) bool {
	if exec, ok := m.execs[pid]; ok && m.forgets && exec <= time {
		return mm.PID == pid && mm.time >= exec
	}
	fork, ok := m.forks[pid]
	ok = ok && fork.Time <= time // or it is that of a later process
	if mm.PID == pid {
		return mm.time <= time && (!ok || mm.time >= fork.Time)
	}
	return ok && fork.Clones && fork.Time <= time && m.has(fork.ParentPID, fork.Time, mm) && mm.time <= fork.Time
}

// symbol says what is at an address, as far as jitted objects tell.
func (m *mappings) symbol(t testing.TB, s want) string {
	t.Helper()
	for i := len(m.all) - 1; i >= 0; i-- {
		mm := &m.all[i]
		if mm.time > s.time || s.ip-mm.Addr >= mm.Len {
			continue
		}
		if !m.has(s.pid, s.time, mm) {
			continue
		}
		if !strings.Contains(string(mm.Filename), "/jitted-") {
			return ""
		}
		o := m.object(t, string(mm.Filename))
		if !bytes.HasSuffix(o.note, mm.BuildID) || len(mm.BuildID) != 20 {
			t.Errorf("%s: the note % x does not have the build id of its mapping, % x", mm.Filename, o.note, mm.BuildID)
		}
		at := s.ip - mm.Addr + mm.PgOff
		for _, sym := range o.symbols {
			if o.machine == elf.EM_ARM {
				sym.Value &^= 1 // says that the code is T32
			}
			if at-sym.Value < sym.Size {
				return fmt.Sprintf("%s+%#x", sym.Name, at-sym.Value)
			}
		}
		return ""
	}
	return ""
}

// injectAgain runs without writing the recording.
func injectAgain(w *world) (*report.Summary, error) { return engine.Run(context.Background(), w.opts) }

// eachRaw calls f with the bytes of every record of a file.
func eachRaw(t testing.TB, path string, f func([]byte)) {
	t.Helper()
	eachRecord(t, path, func(_ *perfdata.Layouts, rec perfdata.Record) { f(rec.Data) })
}
