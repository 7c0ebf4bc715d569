package cfi

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A told is what readelf shows of a row that a compiler wrote.
type told struct {
	loc   uint64
	reg   string // of the CFA
	off   int64
	saved map[string]int64
}

type toldFDE struct {
	low, high uint64
	rows      []told
}

var fdeLine = regexp.MustCompile(` FDE cie=[0-9a-f]+ pc=([0-9a-f]+)\.\.([0-9a-f]+)`)

// tellFrames reads what readelf makes of a file's .eh_frame. FDEs with expressions
// are left out.
func tellFrames(t testing.TB, path string) (fdes []toldFDE) {
	t.Helper()
	out := testrec.Run(t, ".", testrec.Tool(t, "readelf"), "-W", "--debug-dump=frames-interp,no-follow-links", path)
	var cur *toldFDE
	var columns []string
	inCIE, bad := false, false
	flush := func() {
		if cur != nil && !bad && len(cur.rows) > 0 {
			fdes = append(fdes, *cur)
		}
		cur, bad = nil, false
	}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if m := fdeLine.FindStringSubmatch(line); m != nil {
			flush()
			low, _ := strconv.ParseUint(m[1], 16, 64)
			high, _ := strconv.ParseUint(m[2], 16, 64)
			cur, inCIE = &toldFDE{low: low, high: high}, false
			continue
		}
		switch {
		case len(f) > 3 && f[3] == "CIE":
			flush()
			inCIE = true
		case len(f) > 1 && f[0] == "LOC":
			columns = f[2:]
		case cur != nil && !inCIE && len(f) >= 2:
			loc, err := strconv.ParseUint(f[0], 16, 64)
			if err != nil || len(f) != len(columns)+2 {
				continue
			}
			row := told{loc: loc, saved: map[string]int64{}}
			at := strings.IndexAny(f[1], "+-")
			if at < 0 {
				bad = true
				continue
			}
			row.reg = f[1][:at]
			row.off, _ = strconv.ParseInt(f[1][at:], 10, 64)
			for i, c := range f[2:] {
				if strings.HasPrefix(c, "c") {
					row.saved[columns[i]], _ = strconv.ParseInt(c[1:], 10, 64)
				} else if c == "exp" || strings.HasPrefix(c, "v") {
					bad = true
				}
			}
			cur.rows = append(cur.rows, row)
		}
	}
	flush()
	return fdes
}

// A score counts instructions.
type score struct{ equal, unknown, incomparable, wrong, unreached int }

func (s score) String() string {
	all := float64(s.equal+s.unknown+s.incomparable+s.wrong+s.unreached) / 100
	return fmt.Sprintf("%.0f instructions: %.3f%% equal, %.3f%% unknown, %.3f%% never come by, %.3f%% cannot be compared, %d wrong (%.4f%%)",
		all*100, float64(s.equal)/all, float64(s.unknown)/all, float64(s.unreached)/all, float64(s.incomparable)/all, s.wrong, float64(s.wrong)/all)
}

// compareCompiled holds what is derived from the code of an ELF file against what its
// compiler said.
func compareCompiled(t testing.TB, path string, target jitcode.Target, names map[string]uint8, sp, fpName string, shown *int) (whole, parts score) {
	f, err := elf.Open(path)
	if err != nil {
		testrec.Skip(t, "%v", err)
	}
	defer f.Close()
	var text *elf.Section
	for _, s := range f.Sections {
		if s.Name == ".text" {
			text = s
		}
	}
	data, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	var s Synthesizer
	last := uint64(0)
	for _, fde := range tellFrames(t, path) {
		if fde.low < text.Addr || fde.high > text.Addr+text.Size || fde.high <= fde.low {
			continue
		}
		code := data[fde.low-text.Addr : fde.high-text.Addr]
		var entry *Entry
		first := fde.rows[0]
		m := machineOf(target)
		if first.reg != sp {
			continue // a part of a function that lies elsewhere
		}
		if first.off != int64(m.entrySP()) || len(first.saved) > 1 {
			e := Entry{Row: jitcode.FrameRow{Known: true, CFA: jitcode.CFA{Reg: m.sp, Offset: first.off}}}
			for name, off := range first.saved {
				if reg, ok := names[name]; ok {
					e.Row.Saved = append(e.Row.Saved, jitcode.SavedReg{Reg: reg, Offset: off})
				}
			}
			entry = &e
		}
		s.Synthesize(target, code, entry)
		total := &whole
		if entry != nil {
			total = &parts
		}
		next, piece := 0, 0
		for at := 0; at < len(code); {
			_, n := m.decode(code, at, nil)
			if n == 0 {
				break
			}
			pc := fde.low + uint64(at)
			for next+1 < len(fde.rows) && fde.rows[next+1].loc <= pc {
				next++
			}
			for piece < len(s.pieces) && int(s.pieces[piece].end) <= at {
				piece++
			}
			want := &fde.rows[next]
			at += n
			if piece >= len(s.pieces) || int(s.pieces[piece].start) > at-n {
				if m.padding(code[at-n:]) > 0 {
					continue
				}
				total.unreached++
				continue
			}
			p := &s.pieces[piece]
			row := s.row(p)
			var got int64
			ok := false
			switch want.reg {
			case sp:
				got, ok = int64(p.sp), p.spOK
			case fpName:
				got, ok = int64(p.fp), p.fpOK
			}
			good := got == want.off
			for name, off := range want.saved {
				if reg, known := names[name]; known {
					i, _ := m.index(reg)
					if p.saved[i] != 0 && int64(p.saved[i]) != -off && p.intact>>i&1 == 0 {
						good = false
					}
					// It must not be taken for intact in a register, or gone.
					if p.saved[i] == 0 && p.intact>>i&1 == 0 && (i == fp || i == ra && m.linked) {
						good = false
					}
				}
			}
			switch {
			case !row.Known:
				total.unknown++
			case !ok:
				total.incomparable++
			case good:
				total.equal++
			default:
				total.wrong++
				if *shown > 0 && fde.low != last && entry == nil {
					*shown--
					last = fde.low
					t.Logf("%s: %#x in %#x..%#x: %v %+d %v, want %v", path, pc, fde.low, fde.high, row, got, p.state, want)
				}
			}
		}
	}
	return whole, parts
}

var amd64Names = map[string]uint8{"rbp": 6, "rbx": 3, "r12": 12, "r13": 13, "r14": 14, "r15": 15}

func arm64Names() map[string]uint8 {
	names := map[string]uint8{"x29": 29, "ra": 30}
	for reg := uint8(19); reg < 29; reg++ {
		names[fmt.Sprintf("x%d", reg)] = reg
	}
	return names
}

// shapes compiles testdata/shapes.c in several ways, and holds what is derived from it
// against what GCC says of it, at every instruction.
func shapes(t *testing.T, gcc string, target jitcode.Target, names map[string]uint8, sp, fpName string) {
	source, err := filepath.Abs(filepath.Join("testdata", "shapes.c"))
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-O0"}, {"-O1"}, {"-O2"}, {"-O2", "-fomit-frame-pointer"}, {"-O2", "-fno-omit-frame-pointer"}, {"-Os"}, {"-O3", "-fno-jump-tables"}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "shapes.so")
		testrec.Run(t, dir, gcc, append([]string{"-ffreestanding", "-fasynchronous-unwind-tables", "-shared", "-nostdlib", "-fPIC", "-o", path, source}, flags...)...)
		shown := 10
		whole, _ := compareCompiled(t, path, target, names, sp, fpName, &shown)
		if t.Logf("%v: %v", flags, whole); whole.equal == 0 || whole.wrong > 0 {
			t.Error("wrong")
		}
	}
}

func TestSynthesize_FunctionsOfGCC(t *testing.T) {
	t.Run("amd64", func(t *testing.T) {
		if runtime.GOARCH != "amd64" {
			testrec.Skip(t, "gcc compiles for another machine")
		}
		shapes(t, testrec.Tool(t, "gcc"), amd64, amd64Names, "rsp", "rbp")
	})
	t.Run("arm64", func(t *testing.T) {
		shapes(t, testrec.Tool(t, "aarch64-linux-gnu-gcc"), arm64, arm64Names(), "sp", "x29")
	})
}

// Compilers' own tables, at every instruction of real programs. What is wrong there
// is code behind calls that do not return, which nothing but another part of the
// function leads to, and assembly whose author told the unwinder nothing.
func TestSynthesize_LikeCompilersTables(t *testing.T) {
	paths := []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/php8.2", "/usr/aarch64-linux-gnu/lib/libc.so.6"}
	if extra := os.Getenv("CFI_COMPILED"); extra != "" {
		paths = strings.Split(extra, ":")
	}
	shown, any := 5, false
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		any = true
		target, names, sp, fpName := amd64, amd64Names, "rsp", "rbp"
		if strings.Contains(path, "aarch64") {
			target, names, sp, fpName = arm64, arm64Names(), "sp", "x29"
		}
		whole, parts := compareCompiled(t, path, target, names, sp, fpName, &shown)
		t.Logf("%s: %v", path, whole)
		t.Logf("%s, parts of functions that are elsewhere: %v", path, parts)
		if all := whole.equal + whole.unknown + whole.unreached + whole.incomparable + whole.wrong; whole.wrong*1000 > all || (whole.equal+whole.incomparable)*100 < all*97 {
			t.Errorf("%s: too much is wrong or unknown", path)
		}
	}
	if !any {
		testrec.Skip(t, "none of these programs is here")
	}
}

// Vector code of all kinds, which no recording has: the decoder agrees with
// golang.org/x/arch about it.
func TestDecode_VectorCodeOfLibc(t *testing.T) {
	const path = "/lib/x86_64-linux-gnu/libc.so.6"
	f, err := elf.Open(path)
	if err != nil {
		testrec.Skip(t, "%v", err)
	}
	defer f.Close()
	text := f.Section(".text")
	data, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	insns := 0
	for _, fde := range tellFrames(t, path) {
		if fde.low >= text.Addr && fde.high <= text.Addr+text.Size {
			insns += compareX86(t, fmt.Sprintf("%#x", fde.low), data[fde.low-text.Addr:fde.high-text.Addr])
		}
	}
	t.Logf("%d instructions", insns)
}
