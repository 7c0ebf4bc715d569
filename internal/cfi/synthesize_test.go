package cfi

import (
	"debug/elf"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

var amd64 = jitcode.Target{Machine: uint32(elf.EM_X86_64), Order: binary.LittleEndian}

// What share of the code of the recordings has rows that know something.
func TestSynthesize_ShareOfRecordings(t *testing.T) {
	var s Synthesizer
	eachDump(t, func(t testing.TB, name string, codes [][]byte, names []string) {
		var known, all, functions, returns, jumps, popped, rows, none uint64
		for _, code := range codes {
			r := s.Synthesize(amd64, code, nil)
			functions++
			all += uint64(len(code))
			rows += uint64(len(r.Rows))
			if r.Returns {
				returns++
			} else if r.Jumps {
				jumps++
			}
			if r.Popped > 0 {
				popped++
			}
			if len(r.Rows) == 0 {
				none++
			}
			for j, row := range r.Rows {
				end := uint64(len(code))
				if j+1 < len(r.Rows) {
					end = r.Rows[j+1].Offset
				}
				if end <= row.Offset {
					t.Fatalf("rows at %d and %d of %d", row.Offset, end, len(code))
				}
				if row.Known {
					known += end - row.Offset
				}
			}
		}
		t.Logf("%s: %d functions, %d return, %d only jump, %d pop, %d have no rows; rows for %.1f%% of %d bytes, %d rows", name, functions, returns, jumps, popped, none, 100*float64(known)/float64(all), all, rows)
	})
}

func BenchmarkErlang(b *testing.B) {
	var codes [][]byte
	for _, path := range dumpsBelow(b, recording(b, "erlang")) {
		codes, _ = loads(b, read(b, path))
	}
	var s Synthesizer
	size := 0
	for _, c := range codes {
		size += len(c)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range codes {
			s.Synthesize(amd64, c, nil)
		}
	}
}

// PHP's traces run in the frame of its interpreter, execute_ex: the stack pointer is 160
// bytes below the CFA, and four registers are saved. (The number depends on the build of
// PHP. It is what unwinds fresh recordings down to _start.) Functions that are called
// show that they are, and the one that is entered with 8 bytes more, that it is not.
func TestSynthesize_PHPFrame(t *testing.T) {
	saved := []jitcode.SavedReg{{Reg: 3, Offset: -40}, {Reg: 6, Offset: -32}, {Reg: 12, Offset: -24}, {Reg: 13, Offset: -16}, {Reg: 16, Offset: -8}}
	entry := func(cfa int64) *Entry {
		return &Entry{Row: jitcode.FrameRow{Known: true, CFA: jitcode.CFA{Reg: 7, Offset: cfa}, Saved: saved}, Shared: true}
	}
	var s Synthesizer
	for _, path := range dumpsBelow(t, recording(t, "php-dwarf")) {
		codes, names := loads(t, read(t, path))
		for i, code := range codes {
			called := s.Synthesize(amd64, code, nil)
			returns, jumps, popped := called.Returns, called.Jumps, called.Popped
			switch name := names[i]; {
			case strings.HasPrefix(name, "JIT$$assign"):
				if !returns || popped != 0 {
					t.Errorf("%s: returns %v, pops %d", name, returns, popped)
				}
				continue
			case name == "JIT$$double_one": // a number
				continue
			case name == "JIT$$trace_exit":
				if popped != 8 {
					t.Errorf("%s pops %d bytes, want 8", name, popped)
				}
			case strings.HasPrefix(name, "TRACE-"):
				if returns || !jumps || popped != 0 {
					t.Errorf("%s: returns %v, jumps %v, pops %d", name, returns, jumps, popped)
				}
				r := s.Synthesize(amd64, code, entry(160))
				if len(r.Rows) != 1 || !r.Rows[0].Known || r.Rows[0].CFA.Offset != 160 || !slices.Equal(r.Rows[0].Saved, saved) {
					t.Errorf("%s: got %+v; want 1 row, Rows[0].Known, Rows[0].CFA.Offset = 160, Rows[0].Saved equal to %+v", name, r, saved)
				}
				continue
			}
			r := s.Synthesize(amd64, code, entry(160+int64(popped)))
			if r.Popped != 0 {
				t.Errorf("%s pops %d bytes", names[i], r.Popped)
			}
			for _, row := range r.Rows {
				if !row.Known {
					t.Errorf("%s: got %+v; want Known", names[i], row)
				}
			}
		}
	}
}

// Where code ends in something that is none, nobody knows anything of what is behind
// it: OpenJDK's interpreter begins with data, a jump in which leads behind itself.
func TestSynthesize_BehindUndecodable(t *testing.T) {
	var s Synthesizer
	code := append([]byte{0x68, 0x02, 0x64, 0x5c, 0x50, 0x7f, 0x00, 0x00, 0xe0, 0x01, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff}, make([]byte, 100)...)
	r := s.Synthesize(amd64, code, nil)
	if last := r.Rows[len(r.Rows)-1]; last.Known || last.Offset > 13 {
		t.Errorf("got %+v; want not last.Known, last.Offset <= 13", r.Rows)
	}
}

// A function whose prologue is in what it calls first: V8's baseline compiler makes
// such code. It pushes what it never pops, and leaves by a jump.
func TestSynthesize_PrologueInCallee(t *testing.T) {
	code := []byte{
		0xbb, 0xa0, 0, 0, 0, // mov ebx, 0xa0
		0xe8, 0, 1, 0, 0, // call prologue
		0x50, 0x50, // push rax, twice
		0x48, 0x89, 0x45, 0xd0, // mov [rbp-0x30], rax
		0xe8, 0, 1, 0, 0, // call something
		0xe9, 0, 1, 0, 0, // jmp epilogue
	}
	var s Synthesizer
	want := []jitcode.FrameRow{
		{Known: true, CFA: jitcode.CFA{Reg: 7, Offset: 8}, Saved: []jitcode.SavedReg{{Reg: 16, Offset: -8}}},
		{Offset: 6, Known: true, CFA: jitcode.CFA{Reg: 6, Offset: 16}, Saved: []jitcode.SavedReg{{Reg: 6, Offset: -16}, {Reg: 16, Offset: -8}}},
	}
	if r := s.Synthesize(amd64, code, nil); !reflect.DeepEqual(r.Rows, want) {
		t.Errorf("got %+v; want r.Rows equal to %+v", r.Rows, want)
	}
	// With a frame of its own, the same code has rows of its own.
	own := append([]byte{0x55, 0x48, 0x89, 0xe5}, code...)
	if r := s.Synthesize(amd64, own, nil); r.Rows[2].CFA.Reg != 6 || r.Rows[2].Offset != 4 {
		t.Errorf("got %+v; want r.Rows[2].CFA.Reg = 6, r.Rows[2].Offset = 4", r.Rows)
	}
}
