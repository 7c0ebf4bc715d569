package checkj9_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// Methods of the body, and where it is.
// captured writes a capture of some bytes, and says more about it in the JSON.
func captured(t *testing.T, dir string, b *j9meta.Body, blob []byte, more string) string {
	t.Helper()
	if b.Layout.Machine == elf.EM_X86_64 {
		more += `, "machine": "x86_64"`
	}
	write(t, dir, "f.json", fmt.Appendf(nil, `{"base": "%#x", "startPC": "%#x"%s}`, b.Base, b.Header.StartPC, more))
	return write(t, dir, "f.bin", blob)
}

// j9Before returns the breach of a capture of a body that was changed before it was verifytest.Laid
// out, j9After one that was changed behind that.
func j9Before(rule string, change func(b *j9meta.Body), also ...string) breach {
	return j9Changed(rule, change, nil, also...)
}

func j9After(rule string, change func(b *j9meta.Body), also ...string) breach {
	return j9Changed(rule, nil, change, also...)
}

func j9Changed(rule string, before, after func(b *j9meta.Body), also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		b := verifytest.Laid(t, before, after)
		return captured(t, dir, b, verifytest.Encoded(t, b), ""), verify.Options{}
	}, Also: also}
}

// j9Bytes returns the breach of a capture whose bytes were changed.
func j9Bytes(rule string, change func(b *j9meta.Body, blob []byte) []byte, also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		b := verifytest.Laid(t, nil, nil)
		return captured(t, dir, b, change(b, verifytest.Encoded(t, b)), ""), verify.Options{}
	}, Also: also}
}

// debugged makes a body one that was compiled for full-speed debug.
func debugged(b *j9meta.Body) {
	b.Header.Flags |= j9meta.IsFSDComp
	b.Header.NumExceptionRanges |= 0x4000
	m := &b.Atlas.Maps[1]
	m.Shared, m.Info.DoNotProfile, m.Bits = false, false, []byte{0}
}

var j9Breaches = []breach{
	j9Bytes("j9/cut", func(_ *j9meta.Body, blob []byte) []byte { return blob[:len(blob)-1] }),
	j9Bytes("j9/cut", func(_ *j9meta.Body, blob []byte) []byte { return blob[:90] }),
	j9Bytes("j9/size", func(_ *j9meta.Body, blob []byte) []byte { return append(blob, 1, 2, 3, 4) }),
	j9After("j9/section", func(b *j9meta.Body) { b.Header.OSRInfo = verifytest.J9Base + 1<<20 }),
	j9After("j9/section", func(b *j9meta.Body) { b.Header.OSRInfo, b.Header.GPUCode = b.Header.GPUCode, b.Header.OSRInfo }),
	j9Bytes("j9/damaged", func(b *j9meta.Body, blob []byte) []byte { blob[b.OSR.Offset]++; return blob }),
	j9After("j9/damaged", func(b *j9meta.Body) { b.Header.Size = 7 }),
	j9After("j9/damaged", func(b *j9meta.Body) { b.GPU.PTXArray++ }),
	j9Bytes("j9/damaged", func(b *j9meta.Body, blob []byte) []byte { blob[b.Atlas.Offset+18] = 0; return blob }),
	{Rule: "j9/header-size", Make: func(t *testing.T, dir string) (string, verify.Options) {
		b := verifytest.Laid(t, nil, nil)
		return captured(t, dir, b, verifytest.Encoded(t, b), `, "epoch": 216`), verify.Options{}
	}},
	j9After("j9/uninitialized", func(b *j9meta.Body) { b.Header.Flags |= j9meta.NotInitialized }),
	j9Before("j9/stub", func(b *j9meta.Body) {
		*b = j9meta.Body{Layout: b.Layout, Base: b.Base, Header: j9meta.Header{StartPC: dumpBase, EndPC: dumpBase + 8, Flags: j9meta.IsStub}}
	}),
	// What the VM leaves of a body has the size of what is gone.
	j9Before("j9/stub", func(b *j9meta.Body) {
		*b = j9meta.Body{Layout: b.Layout, Base: b.Base, Header: j9meta.Header{StartPC: dumpBase, EndPC: dumpBase + 8, Size: 0x500, Flags: j9meta.IsStub}}
	}),
	j9After("j9/flags", func(b *j9meta.Body) { b.Header.Flags |= 0x1000 }),

	j9After("j9/code", func(b *j9meta.Body) { b.Header.EndPC = b.Header.StartPC }),
	j9After("j9/code", func(b *j9meta.Body) { b.Header.EndPC += 1 << 32 }),
	j9After("j9/code", func(b *j9meta.Body) { b.Header.StartPC, b.Header.CodeCacheAlloc = 0, 0 }),
	j9After("j9/cold", func(b *j9meta.Body) { b.Header.StartColdPC = 0 }),
	j9After("j9/cold", func(b *j9meta.Body) { b.Header.StartColdPC = b.Header.EndWarmPC - 1 }),
	j9After("j9/cold", func(b *j9meta.Body) { b.Header.EndWarmPC = b.Header.StartPC }),
	j9After("j9/code-cache", func(b *j9meta.Body) { b.Header.CodeCacheAlloc = b.Header.StartPC + 1 }),
	j9After("j9/frame", func(b *j9meta.Body) { b.Header.TempOffset = -1 }),
	j9Before("j9/wide-offsets", func(b *j9meta.Body) { b.Header.Flags |= j9meta.GCMap32BitOffsets }),
	j9After("j9/wide-offsets", func(b *j9meta.Body) { b.Header.EndPC = b.Header.StartPC + 0xffff }),
	j9Changed("j9/wide-offsets", func(b *j9meta.Body) { b.Exceptions, b.Header.EndPC = b.Exceptions[:1], b.Header.StartPC+0x10030 }, func(b *j9meta.Body) {
		b.Header.NumExceptionRanges = 3 // of 8 bytes, as long as one of 24
		b.Exceptions = slices.Repeat([]j9meta.Exception{{Start: 4, End: 8, Handler: 8}}, 3)
	}),

	j9After("j9/exception-range", func(b *j9meta.Body) { b.Exceptions[0].End = 3 }),
	j9After("j9/exception-range", func(b *j9meta.Body) { b.Exceptions[0].End = 0x31 }),
	j9After("j9/exception-range", func(b *j9meta.Body) { b.Exceptions[1].End = verifytest.J9Cold + 0x31 }),
	j9After("j9/exception-range", func(b *j9meta.Body) { b.Exceptions[1].Start = verifytest.J9Cold - 1 }),
	j9After("j9/exception-handler", func(b *j9meta.Body) { b.Exceptions[0].Handler = 0x30 }),
	j9After("j9/exception-method", func(b *j9meta.Body) { b.Exceptions[0].Method++ }),
	j9Changed("j9/exception-index", debugged, func(b *j9meta.Body) { b.Exceptions[0].ByteCodeIndex = 65535 }),
	j9Changed("j9/exception-debug", func(b *j9meta.Body) { b.Atlas.Maps = slices.Delete(b.Atlas.Maps, 1, 2) }, func(b *j9meta.Body) { b.Header.Flags |= j9meta.IsFSDComp }),

	j9After("j9/site-caller", func(b *j9meta.Body) { b.Sites[0].Info.CallerIndex = 1 }),
	j9After("j9/site-caller", func(b *j9meta.Body) { b.Sites[1].Info.CallerIndex = 1 }),
	j9After("j9/site-caller", func(b *j9meta.Body) { b.Sites[1].Info.CallerIndex = -2 }),
	j9After("j9/site-method", func(b *j9meta.Body) { b.Sites[1].Method = 0 }),
	j9After("j9/site-index", func(b *j9meta.Body) { b.Sites[0].Info.ByteCodeIndex = -1 }),
	j9After("j9/site-index", func(b *j9meta.Body) { b.Sites[0].Info.ByteCodeIndex = 65535 }),
	j9After("j9/site-monitors", func(b *j9meta.Body) { b.Sites[0].Info.SameReceiver = false }),
	j9After("j9/monitor-mask", func(b *j9meta.Body) { b.Sites[0].Monitors[0] |= 0x80 }),
	j9After("j9/monitor-mask", func(b *j9meta.Body) { b.Atlas.Monitors[0] |= 0x80 }),
	j9After("j9/monitor-mask", func(b *j9meta.Body) { b.Atlas.Maps[2].LiveMonitors[0] |= 0x80 }),

	j9Before("j9/no-atlas", func(b *j9meta.Body) {
		b.Sites, b.Atlas, b.StackAlloc, b.InternalPointers, b.OSR, b.Exceptions = nil, nil, nil, nil, nil, nil
	}),
	j9Before("j9/no-maps", func(b *j9meta.Body) { b.Atlas.Maps = nil }),
	j9After("j9/atlas-counts", func(b *j9meta.Body) { b.Atlas.NumberOfParmSlots = 8 }),
	{Rule: "j9/atlas-counts", Make: func(t *testing.T, dir string) (string, verify.Options) {
		b := verifytest.Laid(t, func(b *j9meta.Body) {
			b.Base, b.Layout = 0x7e000000, j9meta.Layout{Order: binary.LittleEndian, PointerSize: 4, Machine: elf.EM_ARM, HeaderSize: 124}
			h := &b.Header
			h.StartPC, h.EndWarmPC, h.StartColdPC, h.EndPC, h.CodeCacheAlloc = 0x10000, 0x10030, 0x11000, 0x11030, 0
			b.Bytecodes, b.InternalPointers.Pad = nil, make([]byte, 1)
		}, nil)
		return captured(t, dir, b, verifytest.Encoded(t, b), `, "machine": "arm"`), verify.Options{}
	}},
	j9Before("j9/first-shared", func(b *j9meta.Body) {
		b.Atlas.Maps[0].Shared, b.Atlas.Maps[0].Info.DoNotProfile = true, true
	}),
	j9After("j9/first-map", func(b *j9meta.Body) { b.Atlas.Maps[0].Low = 1 }),
	j9After("j9/first-map", func(b *j9meta.Body) { b.Atlas.Maps[0].Info.CallerIndex = 0 }),
	j9After("j9/map-order", func(b *j9meta.Body) { b.Atlas.Maps[2].Low = 7 }),
	j9After("j9/map-empty", func(b *j9meta.Body) { b.Atlas.Maps[2].Low = 8 }),
	j9After("j9/map-outside", func(b *j9meta.Body) { b.Atlas.Maps[3].Low = verifytest.J9Cold - 1 }),
	j9After("j9/map-outside", func(b *j9meta.Body) { b.Atlas.Maps[3].Low = verifytest.J9Cold + 0x30 }),
	j9After("j9/map-site", func(b *j9meta.Body) { b.Atlas.Maps[1].Info.CallerIndex = 2 }),
	j9After("j9/map-site", func(b *j9meta.Body) { b.Atlas.Maps[2].Info.CallerIndex = -2 }),
	j9Before("j9/map-site", func(b *j9meta.Body) { // no gap: that would have no byte code
		b.InternalPointers, b.Atlas.Maps[2].Pointers = nil, nil
		b.Atlas.Maps[2].RegisterMap, b.Atlas.Maps[2].Info.CallerIndex = j9meta.GapMap, 7
	}),
	j9After("j9/map-index", func(b *j9meta.Body) { b.Atlas.Maps[2].Info.ByteCodeIndex = -2 }),
	j9After("j9/map-index", func(b *j9meta.Body) { b.Atlas.Maps[2].Info.ByteCodeIndex = 65535 }),
	j9Before("j9/map-debug", func(b *j9meta.Body) { b.Header.NumExceptionRanges |= 0x4000 }),
	j9After("j9/map-pointers", func(b *j9meta.Body) { b.Atlas.Maps[2].Pointers.Arrays[1].Index = 1 }),
	j9Bytes("j9/map-pointers", func(b *j9meta.Body, blob []byte) []byte { blob[b.Atlas.Maps[2].Offset+15]--; return blob }),
	j9After("j9/live-monitors", func(b *j9meta.Body) { b.Atlas.Maps[2].LiveMonitors[0] = 4 }),

	j9After("j9/first-map-pointer", func(b *j9meta.Body) { b.StackAlloc.FirstMap++ }),
	j9After("j9/first-map-pointer", func(b *j9meta.Body) { b.InternalPointers.FirstMap = 0 }),
	j9Bytes("j9/internal-pointers", func(b *j9meta.Body, blob []byte) []byte { blob[b.InternalPointers.Offset+13]--; return blob }),
	j9After("j9/osr-order", func(b *j9meta.Body) { b.OSR.Mappings[1].PC = 0x10 }),
	j9After("j9/osr-site", func(b *j9meta.Body) { b.OSR.Mappings[0].Slots[0].Site = 2 }),
	j9Before("j9/osr-site", func(b *j9meta.Body) { b.OSR.CatchBlocks = append(b.OSR.CatchBlocks, 4) }),
	j9After("j9/osr-offset", func(b *j9meta.Body) { b.OSR.Mappings[1].PC++ }),
	j9After("j9/osr-offset", func(b *j9meta.Body) { b.OSR.CatchBlocks[1] = 0x30 }),
	j9After("j9/osr-offset", func(b *j9meta.Body) { b.OSR.Mappings[0].Slots[0].Size = 9 }),
	j9After("j9/gpu", func(b *j9meta.Body) { b.GPU.Kernels[0].Line = 0 }),
	j9After("j9/bytecode-map", func(b *j9meta.Body) { b.Bytecodes.Entries[0].Instruction = dumpBase - 1 }),
	j9After("j9/invoke-basic", func(b *j9meta.Body) { b.InvokeBasic.Sites[0].ReturnOffset = 0 }),
	j9Before("j9/invoke-basic", func(b *j9meta.Body) { b.Base += 4 }),
	j9After("j9/gap", func(b *j9meta.Body) {
		b.Sections = append(b.Sections, j9meta.Section{Kind: j9meta.Gap, Offset: int(b.Header.Size), Size: 4, Bytes: []byte{1, 2, 3, 4}})
		b.Header.Size += 4
	}),
	j9After("j9/padding", func(b *j9meta.Body) { b.Sites[0].Pad[0] = 1 }),
	j9After("j9/padding", func(b *j9meta.Body) { b.Atlas.Pad[3] = 1 }),
	j9After("j9/padding", func(b *j9meta.Body) { b.Header.HotnessPad[3] = 1 }),
	j9After("j9/padding", func(b *j9meta.Body) { b.InvokeBasic.Sites[0].Pad[2] = 1 }),

	{Rule: "j9/capture", Make: func(t *testing.T, dir string) (string, verify.Options) {
		write(t, dir, "f.json", []byte(`{"base": 1, "startPC": 2, "pointer_size": 5}`))
		return write(t, dir, "f.bin", verifytest.Encoded(t, verifytest.Laid(t, nil, nil))), verify.Options{}
	}},
	{Rule: "j9/capture", Make: func(t *testing.T, dir string) (string, verify.Options) {
		write(t, dir, "f.json", []byte(`{"base": `))
		return write(t, dir, "f.bin", verifytest.Encoded(t, verifytest.Laid(t, nil, nil))), verify.Options{}
	}},
	{Rule: "j9/capture-code", Make: func(t *testing.T, dir string) (string, verify.Options) {
		b := verifytest.Laid(t, nil, nil)
		write(t, dir, "warm", code()[:0x2f])
		return captured(t, dir, b, verifytest.Encoded(t, b), `, "code": "warm"`), verify.Options{}
	}},
	{Rule: "j9/capture-code", Make: func(t *testing.T, dir string) (string, verify.Options) {
		b := verifytest.Laid(t, func(b *j9meta.Body) { b.Header.StartColdPC, b.Header.EndWarmPC = 0, b.Header.EndPC }, nil)
		write(t, dir, "cold", code())
		return captured(t, dir, b, verifytest.Encoded(t, b), `, "cold_code": "cold"`), verify.Options{}
	}},
	{Rule: "j9/capture-start", Make: func(t *testing.T, dir string) (string, verify.Options) {
		b := verifytest.Laid(t, nil, nil)
		blob := verifytest.Encoded(t, b)
		b.Header.StartPC++
		return captured(t, dir, b, blob, ""), verify.Options{}
	}},
}

// goodJ9 is a capture with everything in it and nothing wrong.
func goodJ9(t *testing.T, dir string) (string, verify.Options) {
	t.Helper()
	b := verifytest.Laid(t, nil, nil)
	write(t, dir, "code", code())
	return captured(t, dir, b, verifytest.Encoded(t, b), fmt.Sprintf(`, "epoch": 232, "code": "code", "cold_code": "code", "methods": [{"method": %d, "class": "Main", "name": "main"}, {"method": %d, "class": "A", "name": "f", "signature": "(I[LA;)[J"}, {"method": %d, "class": "B", "name": "<init>", "signature": "()V", "file": "B.java", "lines": [[0, 4], [3, 5]]}]`, verifytest.J9Main, verifytest.J9Outer, verifytest.J9Inner)), verify.Options{}
}

// TestGenerated: nothing is said of bodies that keep what OpenJ9 keeps, of all shapes.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	names := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_386: "i386", elf.EM_AARCH64: "aarch64", elf.EM_ARM: "arm", elf.EM_PPC64: "ppc64le", elf.EM_PPC: "ppc", elf.EM_RISCV: "riscv64", elf.EM_S390: "s390x"}
	checked := 0
	for seed := range uint64(400) {
		b := j9gen.Random(rand.New(rand.NewPCG(seed, 9)), j9gen.Options{GapMaps: j9gen.Choice(seed % 2)})
		name := names[b.Layout.Machine]
		big := b.Layout.Order == binary.ByteOrder(binary.BigEndian)
		switch {
		case b.Layout.HeaderSize > 232 || b.Layout.PointerSize == 4 && b.Layout.HeaderSize > 124:
			continue // of an OpenJ9 to come: a capture cannot say so
		case b.Layout.Machine == elf.EM_PPC64 && big:
			name = "ppc64"
		case b.Layout.Machine == elf.EM_S390 && b.Layout.PointerSize == 4:
			name = "s390"
		}
		if name == "" {
			t.Fatalf("nobody knows %v", b.Layout)
		}
		more := fmt.Sprintf(`, "epoch": %d`, b.Layout.HeaderSize)
		if b.Layout.Machine != elf.EM_X86_64 {
			more += fmt.Sprintf(`, "machine": %q`, name)
		}
		rules, all := verified(t, captured(t, dir, b, verifytest.Encoded(t, b), more), verify.Options{})
		if len(rules) > 0 {
			t.Errorf("seed %d, %v: %v: %+v", seed, b.Layout, rules, all[0])
		}
		checked++
	}
	if checked < 200 {
		t.Errorf("%d bodies were checked", checked)
	}
}

// TestDamaged: whatever is wrong with metadata is told of by rules of the table, at
// offsets that are in the file.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	files, err := filepath.Glob("../../format/j9meta/testdata/*.bin")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		blob, description := read(t, file), read(t, file[:len(file)-3]+"json")
		write(t, dir, "f.json", description)
		for i := 0; i < len(blob); i += 7 {
			damaged := slices.Clone(blob)
			damaged[i] ^= byte(1 << (i % 8))
			_, all := verified(t, write(t, dir, "f.bin", damaged), verify.Options{})
			for _, c := range all {
				if c.Offset < 0 || c.Offset > int64(len(blob)) {
					t.Errorf("%s, bit %d of byte %#x: %+v", file, i%8, i, c)
				}
			}
		}
		for n := 0; n < len(blob); n += 13 {
			rules, _ := verified(t, write(t, dir, "f.bin", blob[:n]), verify.Options{})
			if !slices.Equal(rules, []string{"j9/cut"}) {
				t.Errorf("%s, cut at %#x: %v", file, n, rules)
			}
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCaptureOfRecording: of a recording that names no dump nothing is said if a capture of
// one of its processes is among the files.
func TestCaptureOfRecording(t *testing.T) {
	dir := t.TempDir()
	capture, _ := goodJ9(t, dir)
	for addr, want := range map[u64][]string{dumpBase &^ 0xfff: nil, dumpBase + 1<<20: {"recording/no-jit"}} {
		r := testrec.NewRecording()
		r.Mmap2(dumpPID, 5e9, addr, 0x4000, 0, "//anon")
		r.Sample(dumpPID, 5e9+1000, addr+0x10)
		path := write(t, dir, "perf.data", r.Bytes())
		if rules, all := verified(t, path, verify.Options{Logs: []string{capture}}); !slices.Equal(rules, want) {
			t.Errorf("code at %#x: %v, want %v: %+v", addr, rules, want, all)
		}
	}
}
