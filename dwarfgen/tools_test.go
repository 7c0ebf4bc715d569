package dwarfgen_test

import (
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/internal/testrec"
)

// What the files of a line table can have besides names.
const (
	namesOnly = iota
	withMD5
	withSource // and MD5
)

const leafText = "// a \"leaf\"\nfunction leaf() {}\n"

// forEachObject runs test for the function in every encoding, with what files can
// have.
func forEachObject(t *testing.T, test func(t *testing.T, enc dwarfgen.Encoding, contents int, path string)) {
	forEach(t, func(t *testing.T, enc dwarfgen.Encoding) {
		for contents := namesOnly; contents <= withSource; contents++ {
			var u dwarfgen.Unit
			describe(&u)
			for i, f := range files {
				if contents >= withMD5 {
					u.Lines.SetMD5(dwarfgen.FileID(i), md5.Sum([]byte(f)))
				}
			}
			if contents == withSource {
				u.Lines.SetSource(1, "")
				u.Lines.SetSource(2, leafText)
			}
			test(t, enc, contents, object(t, enc, &u))
		}
	})
}

// llvm-dwarfdump finds nothing wrong, and readers that print everything do not
// stumble.
func TestTools_FindNothingWrong(t *testing.T) {
	verify, readelf, euReadelf := testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump"), testrec.Tool(t, "readelf"), testrec.Tool(t, "eu-readelf")
	forEachObject(t, func(t *testing.T, _ dwarfgen.Encoding, contents int, path string) {
		if out := testrec.Run(t, ".", verify, "--verify", path); !strings.Contains(out, "No errors.") || strings.Contains(out, "error:") || strings.Contains(out, "warning:") {
			t.Errorf("contents %d: llvm-dwarfdump finds\n%s", contents, out)
		}
		if _, errs := testrec.RunBoth(t, ".", readelf, "--debug-dump=info,abbrev,rawline,decodedline,Ranges,aranges,str", path); errs != "" {
			t.Errorf("contents %d: readelf complains: %s", contents, errs)
		}
		if _, errs := testrec.RunBoth(t, ".", euReadelf, "-w", path); errs != "" {
			t.Errorf("contents %d: eu-readelf complains: %s", contents, errs)
		}
	})
}

// Three vendors' addr2line see the calls that were inlined, at every byte.
func TestTools_InlineStacksLikeAddr2line(t *testing.T) {
	gnu, elfutils, llvm := testrec.Tool(t, "addr2line"), testrec.Tool(t, "eu-addr2line"), testrec.Tool(t, "llvm-symbolizer-14", "llvm-symbolizer")
	forEachObject(t, func(t *testing.T, enc dwarfgen.Encoding, contents int, path string) {
		run := func(tool string, args ...string) string {
			for addr := textAt; addr < textAt+textSize; addr++ {
				args = append(args, fmt.Sprintf("%#x", addr))
			}
			return testrec.Run(t, ".", tool, args...)
		}
		sameStacks(t, llvm, run(llvm, "-a", "--inlines", "-e", path), true)
		sameStacks(t, elfutils, run(elfutils, "-a", "-i", "-f", "-e", path), true)
		if enc.Version < 5 || contents < withSource { // see LineTable.SetSource
			sameStacks(t, gnu, run(gnu, "-a", "-i", "-f", "-e", path), false)
		}
	})
}

var inlinedAt = regexp.MustCompile(` inlined at \S+ in \S+$`) // elfutils says it on the first line, too

// sameStacks compares what a tool prints of all addresses, a line with the
// address and two for each frame, with what is there.
func sameStacks(t *testing.T, tool, out string, columns bool) {
	t.Helper()
	var got [][]string
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i := 0; i < len(lines); i++ {
		switch line := inlinedAt.ReplaceAllString(lines[i], ""); {
		case strings.HasPrefix(line, "0x"):
			got = append(got, nil)
		case line != "" && i+1 < len(lines):
			i++
			got[len(got)-1] = append(got[len(got)-1], line+" "+lines[i])
		}
	}
	if len(got) != textSize {
		t.Fatalf("%s speaks of %d addresses, want %d", tool, len(got), textSize)
	}
	for offset, frames := range got {
		want := strings.Join(stack(uint64(offset)), " < ")
		if !columns {
			want = withoutColumns(want)
		}
		if s := strings.Join(frames, " < "); s != want {
			t.Fatalf("%s at offset %d: %s\nwant %s", tool, offset, s, want)
		}
	}
}

var column = regexp.MustCompile(`(\.js:\d+):\d+`)

func withoutColumns(stack string) string { return column.ReplaceAllString(stack, "$1") }

// gdb knows the function of a block, and of a block that was inlined its call.
const gdbScript = `
import gdb
for pc in range(%d, %d):
    at = gdb.find_pc_line(pc)
    path, line, frames = at.symtab.filename, at.line, []
    block = gdb.block_for_pc(pc)
    while block:
        if block.function:
            frames.append("%%s %%s:%%d" %% (block.function.name, path, line))
            path, line = block.function.symtab.filename, block.function.line
        block = block.superblock
    print(" < ".join(frames))
`

func TestTools_GDB(t *testing.T) {
	gdb := testrec.Tool(t, "gdb")
	script := filepath.Join(t.TempDir(), "stacks.py")
	if err := os.WriteFile(script, fmt.Appendf(nil, gdbScript, textAt, textAt+textSize), 0o600); err != nil {
		t.Fatal(err)
	}
	forEachObject(t, func(t *testing.T, _ dwarfgen.Encoding, contents int, path string) {
		out, errs := testrec.RunBoth(t, ".", gdb, "-nx", "-batch", "-x", script, path)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != textSize {
			t.Fatalf("gdb says %d lines:\n%s%s", len(lines), out, errs)
		}
		for offset, got := range lines {
			if want := withoutColumns(strings.Join(stack(uint64(offset)), " < ")); got != want {
				t.Fatalf("gdb at offset %d: %s\nwant %s", offset, got, want)
			}
		}
		if errs != "" {
			t.Errorf("contents %d: gdb complains: %s", contents, errs)
		}
	})
}

// LLVM shows the digests and texts of files.
func TestTools_FileContents(t *testing.T) {
	dump := testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump")
	forEachObject(t, func(t *testing.T, enc dwarfgen.Encoding, contents int, path string) {
		var want []string
		for i := -1; i < len(files); i++ { // the first is there twice
			entry := fmt.Sprintf("name: %q", filepath.Base(files[max(i, 0)]))
			if enc.Version >= 5 && contents >= withMD5 {
				entry += fmt.Sprintf(" md5_checksum: %x", md5.Sum([]byte(files[max(i, 0)])))
			}
			if enc.Version >= 5 && contents >= withSource {
				entry += " source: " + []string{`""`, `"\n"`, `"// a \"leaf\"\nfunction leaf() {}\n"`}[max(i, 0)]
			}
			want = append(want, entry)
		}
		if enc.Version < 5 {
			want = want[1:]
		}
		var got []string
		for line := range strings.Lines(testrec.Run(t, ".", dump, "--debug-line", path)) {
			switch line = strings.TrimSpace(line); {
			case strings.HasPrefix(line, "name: "):
				got = append(got, line)
			case strings.HasPrefix(line, "md5_checksum: "), strings.HasPrefix(line, "source: "):
				got[len(got)-1] += " " + line
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("contents %d: llvm-dwarfdump shows\n%s\nwant\n%s", contents, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
