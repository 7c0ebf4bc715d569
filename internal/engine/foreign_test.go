package engine_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Recordings of machines with the other byte order.

// foreign unpacks a recording, changes its files, and injects it.
func foreign(t *testing.T, name string, change func(path string, content []byte) []byte) (dir string, sum *report.Summary) {
	t.Helper()
	dir = testrec.Place(t, name)
	for _, path := range append(testrec.Dumps(t, dir), filepath.Join(dir, "perf.data")) {
		put(t, path, change(path, read(t, path)))
	}
	sum, err := engine.Run(context.Background(), config.Options{
		Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"),
	})
	if err != nil || !sum.Complete() || sum.Objects == 0 {
		t.Fatalf("%s: got %s, %v; want no error, nothing missing, Objects other than 0", name, asJSON(sum), err)
	}
	return dir, sum
}

func swap(t *testing.T, content []byte) []byte {
	t.Helper()
	out, err := testrec.SwapFile(content)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What a big-endian machine recorded resolves as what a little-endian one did:
// under every perf, with dumps in the recording's byte order, in the other one (a
// JIT that writes them wrong, or runs under an emulator), and of other machines.
func TestByteOrder_SwappedRecording(t *testing.T) {
	variants := map[string]func(string, []byte) []byte{
		"recording": func(path string, content []byte) []byte {
			if strings.HasSuffix(path, ".dump") {
				return content
			}
			return swap(t, content)
		},
		"dumps": func(path string, content []byte) []byte {
			if strings.HasSuffix(path, ".dump") {
				return swap(t, content)
			}
			return content
		},
		"both": func(_ string, content []byte) []byte { return swap(t, content) },
		"s390x": func(path string, content []byte) []byte {
			content = swap(t, content)
			if strings.HasSuffix(path, ".dump") {
				binary.BigEndian.PutUint32(content[12:], uint32(elf.EM_S390))
			}
			return content
		},
	}
	for name, chosen := range map[string][]string{
		"node-fp": {"both"}, "node-dwarf": {"recording", "both"}, "node-forks": {"both"}, "erlang": {"both"},
		"php": {"recording", "dumps", "both", "s390x"}, "lli-hot": {"both"}, "toyjit": {"both"},
	} {
		if (name == "erlang" || strings.HasPrefix(name, "node-")) && os.Getenv("JITINJECT_ALL") == "" {
			continue // many thousands of objects: for make interop
		}
		recorded, plain := foreign(t, name, func(_ string, content []byte) []byte { return content })
		for _, variant := range chosen {
			dir, sum := foreign(t, name, variants[variant])
			if sum.Objects != plain.Objects || sum.Mappings != plain.Mappings || sum.Dropped != plain.Dropped {
				t.Errorf("%s, %s swapped: %d objects, %d mappings, %d dropped; as recorded: %d, %d, %d", name, variant,
					sum.Objects, sum.Mappings, sum.Dropped, plain.Objects, plain.Mappings, plain.Dropped)
			}
			for i := range sum.Dumps {
				if got, want := sum.Dumps[i].Fixes, plain.Dumps[i].Fixes; !slices.Equal(got, want) && variant != "s390x" {
					t.Errorf("%s, %s swapped: repairs %v, as recorded %v", name, variant, got, want)
				}
			}
			args := []string{"script", "--no-inline", "-F", "comm,tid,time,event,ip,sym,symoff", "-i", "out.data"}
			if name == "node-dwarf" && variant != "recording" {
				// There is no big-endian x86-64 whose unwind tables libunwind could read.
				args = append(args, "-G")
			}
			for version, perf := range testrec.Perfs(t) {
				if strings.HasPrefix(version, "6.12.") && plain.Mappings > 10_000 {
					continue // it takes minutes for them
				}
				a, b := testrec.Run(t, recorded, perf, args...), testrec.Run(t, dir, perf, args...)
				if want, got := firstDifference(a, b); want != got || len(a) < 1000 {
					t.Errorf("%s, %s swapped, perf %s:\n%s\nas recorded:\n%s", name, variant, version, got, want)
				}
			}
			if variant == "both" {
				checkSwappedObjects(t, recorded, dir)
			}
		}
	}
}

// firstDifference returns the lines in which two texts differ first.
func firstDifference(a, b string) (string, string) {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i], bs[i]
		}
	}
	return "", ""
}

// checkSwappedObjects wants the objects of a big-endian dump to say what those of
// the little-endian one say, in the eyes of LLVM: the same lines and frames.
func checkSwappedObjects(t *testing.T, little, big string) {
	t.Helper()
	readelf, lint, dwarfdump := testrec.Tool(t, "readelf"), testrec.Tool(t, "eu-elflint"), testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump")
	littleNames, bigNames := objectsByContent(t, little), objectsByContent(t, big)
	if len(littleNames) != len(bigNames) || len(bigNames) == 0 {
		t.Fatalf("%d objects of the big-endian dump, %d of the little-endian one", len(bigNames), len(littleNames))
	}
	var keys []string // of objects that say anything
	for key, name := range bigNames {
		if littleNames[key] == "" {
			t.Fatalf("no object of the little-endian dump has the functions of %s", name)
		}
		b := read(t, filepath.Join(big, "objects", name))
		if bytes.Contains(b, []byte(".eh_frame\x00")) || bytes.Contains(b, []byte(".debug_line\x00")) || len(bigNames) < 100 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	keys = testrec.Chosen(t, keys, 200, 1000)
	tell := func(tool, dir string, args ...string) string {
		names := bigNames
		if dir == little {
			names = littleNames
		}
		for _, key := range keys {
			args = append(args, names[key])
		}
		out, errs := testrec.RunBoth(t, filepath.Join(dir, "objects"), tool, args...)
		if errs != "" {
			t.Errorf("%s complains: %s", filepath.Base(tool), errs)
		}
		out = strings.ReplaceAll(out, "file format elf64-unknown", "file format ELF64-x86-64")
		return bundleID.ReplaceAllString(out, "")
	}
	for _, what := range []string{"--debug-line", "--debug-info", "--eh-frame"} {
		if a, b := firstDifference(tell(dwarfdump, little, what), tell(dwarfdump, big, what)); a != b {
			t.Errorf("llvm-dwarfdump %s\nlittle-endian: %s\nbig-endian:    %s", what, a, b)
		}
	}
	tell(readelf, big, "-aW")
	if n := strings.Count(tell(dwarfdump, big, "--verify"), "No errors."); n != len(keys) {
		t.Errorf("llvm-dwarfdump finds %d of %d objects right", n, len(keys))
	}
	var names []string
	for _, key := range keys {
		names = append(names, bigNames[key])
	}
	lintObjects(t, filepath.Join(big, "objects"), lint, names)
}

// bundleID is the part of a bundle's name that depends on every byte of it.
var bundleID = regexp.MustCompile(`-[0-9]{19}\.so`)

// objectsByContent returns the names of the objects of a result by what they are about:
// the name without a number made of the contents, and the functions with their places.
func objectsByContent(t *testing.T, dir string) map[string]string {
	t.Helper()
	names := make(map[string]string)
	maps := readMappings(t, filepath.Join(dir, "out.data"))
	for _, path := range objectPaths(t, filepath.Join(dir, "objects")) {
		name := filepath.Base(path)
		key := bundleID.ReplaceAllString(name, "")
		functions, spots := spotsIn(t, path, maps)
		for i, s := range spots {
			key += fmt.Sprintf("\n%s %#x %#x %d", functions[i], s.addr, s.memory, s.size)
		}
		if names[key] != "" {
			t.Fatalf("%s and %s have the same functions", names[key], name)
		}
		names[key] = name
	}
	return names
}

// Recordings made by hand, swapped: where ids and times lie differs.
func TestByteOrder_SwappedIDsAndTimes(t *testing.T) {
	for _, sampleType := range []uint64{
		testrec.IP | testrec.TID | testrec.Time | testrec.CPU,
		testrec.Identifier | testrec.IP | testrec.TID | testrec.Time | testrec.ID | testrec.StreamID | testrec.CPU | testrec.Period,
	} {
		w := newWorld(t)
		w.SampleType = sampleType
		w.mark(100, 1000, "jit-100.dump")
		w.expect(100, 1900, 0x10008, "")
		w.expect(100, 2000, 0x10008, "alpha+0x8")
		w.Round()
		w.expect(100, 4000, 0x30008, "alpha+0x8")
		h := x86(100)
		w.dump("jit-100.dump", h, load(2000, 100, 1, 0x10000, "alpha", code(64, 1)), move(3000, 100, 1, 0x10000, 0x30000, 64))
		w.Write(t, w.opts.Input)
		for _, path := range []string{w.opts.Input, w.path("jit-100.dump")} {
			put(t, path, swap(t, read(t, path)))
		}
		if sum, err := injectAgain(w); err != nil || !sum.Complete() {
			t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
		}
		w.resolve(w.opts.Output)
		if magic := string(read(t, w.opts.Output)[:8]); magic != "2ELIFREP" {
			t.Errorf("the output begins with %q", magic)
		}
	}
}
