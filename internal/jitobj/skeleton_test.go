package jitobj_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
)

var amd64 = jitcode.Target{Machine: uint32(elf.EM_X86_64), Order: binary.LittleEndian, HighAddress: 1 << 47}

const skeletonSource = `
int before(int x) { return x * 2; }
__attribute__((aligned(64))) int one(int x) { return x * 3 + 1; }
__attribute__((aligned(64))) int two(int x) { return before(x) * 5 - 2; }
int main(void) { return two(one(1)); }
int data[5000] = {1};
`

// A skeleton has the file's code, unwind tables and segments at the file's own places, and symbols
// that tools find. That holds for libraries, and for programs whose addresses are not offsets.
func TestSkeleton_LikeItsFile(t *testing.T) {
	for name, flags := range map[string][]string{
		"library":            {"-shared", "-fPIC"},
		"program":            {"-no-pie"},
		"no separate code":   {"-shared", "-fPIC", "-Wl,-z,noseparate-code"},
		"addresses and more": {"-no-pie", "-Wl,-Ttext=0x7001000"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, source := filepath.Join(dir, "file"), filepath.Join(dir, "s.c")
			if err := os.WriteFile(source, []byte(skeletonSource), 0o644); err != nil {
				t.Fatal(err)
			}
			testrec.Run(t, dir, testrec.Tool(t, "gcc", "cc"), append(flags, "-O1", "-fno-inline", "-fasynchronous-unwind-tables", "-o", path, source)...)
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			f, err := elffile.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			const start = 0x7f0000000000
			at := map[string]uint64{} // offset in the file
			vaddr := map[string]uint64{}
			text := f.Section(".text")
			for s := range f.Symbols(elf.SHT_SYMTAB) {
				at[s.Name()], vaddr[s.Name()] = s.Value-text.Addr+text.Offset, s.Value
			}
			b, err := jitobj.NewBuilder(amd64, jitobj.Options{})
			if err != nil {
				t.Fatal(err)
			}
			region := jitobj.Region{Low: start + at["one"], High: start + at["two"] + 8}
			if err := b.BeginSkeleton(region, jitobj.Image{ELF: f, Data: file, Start: start}); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"one", "two"} {
				fn := &jitcode.Function{Name: []byte("Builtin:" + name), Size: 8}
				if err := b.AddToSkeleton(fn, start+at[name]); err != nil {
					t.Fatal(err)
				}
			}
			made := filepath.Join(dir, "skeleton")
			out, err := os.Create(made)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			obj, err := b.EndSkeleton(out)
			if err != nil {
				t.Fatal(err)
			}

			s, err := elf.Open(made)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.Type != f.Type {
				t.Errorf("it is of type %v, the file of %v", s.Type, f.Type)
			}
			whole, err := elf.NewFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := loads(s), loads(whole); got != want {
				t.Errorf("got segments\n%s, want\n%s", got, want)
			}
			id, err := s.Section(".note.gnu.build-id").Data()
			if err != nil || !bytes.HasSuffix(id, obj.BuildID[:]) {
				t.Errorf("got a note %x, %v; want build id %x", id, err, obj.BuildID)
			}
			for _, tool := range []string{"readelf", "llvm-dwarfdump"} {
				dump := map[string]string{"readelf": "--debug-dump=frames", "llvm-dwarfdump": "--eh-frame"}[tool]
				got, want := tables(t, tool, dump, made), tables(t, tool, dump, path)
				if got != want || !strings.Contains(got, "DW_CFA_def_cfa") {
					t.Errorf("%s shows other unwind tables:\n%s\nwant\n%s", tool, got, want)
				}
			}
			content, err := s.Section(".text").Data()
			want := make([]byte, region.High-region.Low)
			if _, rerr := file.ReadAt(want, int64(at["one"])); rerr != nil || err != nil || !bytes.Equal(content, want) {
				t.Errorf("got code %x, %v; want %x, %v", content, err, want, rerr)
			}
			for _, tool := range []string{"addr2line", "eu-addr2line", "llvm-symbolizer"} {
				for _, name := range []string{"one", "two"} {
					args := []string{"-f", "-e", made, fmt.Sprintf("%#x", vaddr[name]+3)}
					if got := tables(t, tool, args...); !strings.HasPrefix(got, "Builtin:"+name+"\n") {
						t.Errorf("%s %v: got %q", tool, args, got)
					}
				}
			}
			if strings.Contains(name, "addresses") {
				return // eu-elflint misses the sections of the first executable segment
			}
			if got := tables(t, "eu-elflint", "--quiet", made); got != "" {
				t.Errorf("eu-elflint: %s", got)
			}
		})
	}
}

// loads lists the PT_LOADs and PT_GNU_EH_FRAME of a file, without the right to write.
func loads(f *elf.File) string {
	var text strings.Builder
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD || p.Type == elf.PT_GNU_EH_FRAME {
			p.Flags &^= elf.PF_W
			fmt.Fprintln(&text, p.ProgHeader)
		}
	}
	return text.String()
}

// tables returns what a tool prints, without the lines that name the file.
func tables(t *testing.T, tool string, args ...string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(testrec.Run(t, "", testrec.Tool(t, tool), args...)) {
		if !strings.Contains(line, "file format") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// A skeleton needs a segment that has all of its functions.
func TestSkeleton_OutsideOfSegments(t *testing.T) {
	file, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := elffile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := jitobj.NewBuilder(amd64, jitobj.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, region := range []jitobj.Region{{Low: 0x10000, High: 1 << 60}, {Low: 1 << 50, High: 1<<50 + 1}} {
		if err := b.BeginSkeleton(region, jitobj.Image{ELF: f, Data: file, Start: 0}); err == nil {
			t.Errorf("%#x to %#x is no part of a segment, and there is no error", region.Low, region.High)
		}
	}
}
