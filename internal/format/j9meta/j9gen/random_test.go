package j9gen

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

func random(seed uint64, o Options) *j9meta.Body { return Random(rand.New(rand.NewPCG(seed, 1)), o) }

// A shape is something that bodies may have or not.
var shapes = map[string]func(b *j9meta.Body) bool{
	"little endian":   func(b *j9meta.Body) bool { return b.Layout.Order == binary.LittleEndian },
	"4-byte pointers": func(b *j9meta.Body) bool { return b.Layout.PointerSize == 4 },
	"ARM":             func(b *j9meta.Body) bool { return b.Layout.Machine == elf.EM_ARM },
	"POWER, little endian": func(b *j9meta.Body) bool {
		return b.Layout.Machine == elf.EM_PPC64 && b.Layout.Order == binary.LittleEndian
	},
	"oldest header": func(b *j9meta.Body) bool { return b.Layout.HeaderSize == j9meta.HeaderSizes(b.Layout.PointerSize)[0] },
	"newest header": func(b *j9meta.Body) bool { return b.Layout.HeaderSize == j9meta.HeaderSizes(b.Layout.PointerSize)[2] },
	"wide maps":     func(b *j9meta.Body) bool { return b.Header.Flags&j9meta.GCMap32BitOffsets != 0 },
	"ahead of time": func(b *j9meta.Body) bool { return b.Header.Flags&j9meta.IsRemoteComp != 0 },
	"cold part":     func(b *j9meta.Body) bool { return b.Header.StartColdPC != 0 },
	"sites":         func(b *j9meta.Body) bool { return len(b.Sites) > 0 },
	"many sites":    func(b *j9meta.Body) bool { return len(b.Sites) > 90 },
	"unloaded sites": func(b *j9meta.Body) bool {
		return slices.ContainsFunc(b.Sites, func(s j9meta.InlinedSite) bool { return b.Layout.Unloaded(s.Method) })
	},
	"monitors of sites": func(b *j9meta.Body) bool {
		return slices.ContainsFunc(b.Sites, func(s j9meta.InlinedSite) bool { return s.Info.SameReceiver })
	},
	"shared maps":       hasMap(func(m *j9meta.StackMap) bool { return m.Shared }),
	"live monitors":     hasMap(func(m *j9meta.StackMap) bool { return m.LiveMonitors != nil }),
	"exceptions":        hasSection(j9meta.ExceptionInfo),
	"other":             hasSection(j9meta.Other),
	"register pointers": hasMap(func(m *j9meta.StackMap) bool { return m.Pointers != nil }),
	"natives":           hasMap(func(m *j9meta.StackMap) bool { return m.Info.ByteCodeIndex == -1 }),
}

func hasSection(kind j9meta.SectionKind) func(b *j9meta.Body) bool {
	return func(b *j9meta.Body) bool {
		return slices.ContainsFunc(b.Sections, func(s j9meta.Section) bool { return s.Kind == kind })
	}
}

func hasMap(f func(m *j9meta.StackMap) bool) func(b *j9meta.Body) bool {
	return func(b *j9meta.Body) bool {
		return slices.ContainsFunc(b.Atlas.Maps, func(m j9meta.StackMap) bool { return f(&m) })
	}
}

// Each shape comes often enough that a few thousand bodies have it in company of
// most others, and no shape is in all bodies.
func TestGenerate_EveryShapeOccurs(t *testing.T) {
	const bodies = 3000
	count := make(map[string]int)
	for seed := range uint64(bodies) {
		b := random(seed, Options{})
		for name, has := range shapes {
			if has(b) {
				count[name]++
			}
		}
	}
	for name := range shapes {
		if n := count[name]; n < 20 || n > bodies*9/10 {
			t.Errorf("%s: %d of %d bodies", name, n, bodies)
		}
	}
}

// What OpenJ9's writer holds to, and its reader relies on.
func TestGenerate_RulesOfOpenJ9Writer(t *testing.T) {
	for seed := range uint64(2000) {
		b := random(seed, Options{})
		bad := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: "+format, append([]any{seed}, args...)...)
		}
		h, maps := &b.Header, b.Atlas.Maps
		if m := maps[0]; m.Low != 0 || m.Info.CallerIndex != -1 || m.Shared {
			bad("first map %+v", m)
		}
		size := h.EndPC - h.StartPC
		for i := 1; i < len(maps); i++ {
			if m := maps[i]; m.Low <= maps[i-1].Low || uint64(m.Low) >= size || m.Info.CallerIndex >= len(b.Sites) {
				bad("map %d: %+v, behind %+v", i, m, maps[i-1])
			}
		}
		if wide := h.Flags&j9meta.GCMap32BitOffsets != 0; wide != (size >= 65535) {
			bad("wide maps %t, the code has %d bytes", wide, size)
		}
		for i, s := range b.Sites {
			if s.Info.CallerIndex >= i || s.Info.SameReceiver != slices.ContainsFunc(s.Monitors, func(b byte) bool { return b != 0 }) {
				bad("site %d: %+v", i, s)
			}
		}
	}
}

// The same seed gives the same blob, another one another.
func TestGenerate_SameSeed(t *testing.T) {
	encode := func(seed uint64, o Options) []byte {
		blob, err := Encode(random(seed, o))
		if err != nil {
			t.Fatal(err)
		}
		return blob
	}
	o := Options{Sites: 5, Maps: 20}
	if !bytes.Equal(encode(1, o), encode(1, o)) || bytes.Equal(encode(1, o), encode(2, o)) {
		t.Error("a seed does not say what the blob is")
	}
}

// What Options ask for is what comes.
func TestGenerate_Options(t *testing.T) {
	all := Options{
		Layout: j9meta.Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64, HeaderSize: 232},
		Base:   0x7f0000001000, StartPC: 0x7f1000000040, CodeSize: 500, Cold: Always, ColdPC: 0x7f1000001000, ColdSize: 60,
		Method: 0x5000, Inlines: []uint64{0x6000, 0x7000}, Sites: 7, Maps: 30,
		Unloaded: Always, Native: Never,
	}
	for seed := range uint64(50) {
		b := random(seed, all)
		h := &b.Header
		if b.Layout != all.Layout || b.Base != all.Base || h.StartPC != all.StartPC || h.EndWarmPC != all.StartPC+500 || h.StartColdPC != all.ColdPC ||
			h.EndPC != all.ColdPC+60 || h.RAMMethod != 0x5000 || len(b.Sites) != 7 || len(b.Atlas.Maps) != 30 {
			t.Fatalf("seed %d: %+v", seed, b)
		}
		if !shapes["unloaded sites"](b) {
			t.Fatalf("seed %d: no site is unloaded", seed)
		}
		for _, s := range b.Sites {
			if s.Method != 0x6000 && s.Method != 0x7000 && !b.Layout.Unloaded(s.Method) {
				t.Fatalf("seed %d: site %+v", seed, s)
			}
		}
	}
}

// Every method that is named gets a name of its own, and lines in order.
func TestGenerate_MethodNames(t *testing.T) {
	for seed := range uint64(500) {
		b := random(seed, Options{})
		list := Methods(rand.New(rand.NewPCG(seed, 2)), b)
		known, names := make(map[j9meta.Address]bool), make(map[string]bool)
		for _, m := range list {
			name := m.Class + "." + m.Name + m.Signature
			if known[m.Method] || names[name] {
				t.Fatalf("seed %d: twice: %+v", seed, m)
			}
			known[m.Method], names[name] = true, true
			for i, l := range m.Lines {
				if i == 0 && l[0] != 0 || i > 0 && l[0] <= m.Lines[i-1][0] || l[1] == 0 {
					t.Fatalf("seed %d: lines %+v", seed, m.Lines)
				}
			}
		}
		if uint64(list[0].Method) != b.Header.RAMMethod {
			t.Fatalf("seed %d: the first is %+v", seed, list[0])
		}
		for _, s := range b.Sites {
			if known[j9meta.Address(s.Method)] == b.Layout.Unloaded(s.Method) {
				t.Fatalf("seed %d: site %+v is known: %t", seed, s, known[j9meta.Address(s.Method)])
			}
		}
	}
}
