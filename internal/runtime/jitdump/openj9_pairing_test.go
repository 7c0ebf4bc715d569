package jitdump_test

import (
	"strings"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// j9At returns a record of j9Body at addr.
func j9At(t *testing.T, addr uint64) *jitdump.OpenJ9Metadata {
	t.Helper()
	body := j9Body(t)
	h := &body.Header
	h.StartPC, h.EndWarmPC, h.EndPC = addr, addr+0x40, addr+0x40
	return j9Record(t, body, j9Methods(), addr)
}

// Records find their loads by address, whatever is between; what finds none is counted.
func TestJ9Record_PairedByAddress(t *testing.T) {
	at := func(addr uint64) *jitdump.OpenJ9Metadata { return j9At(t, addr) }
	b := newDump(t, x86)
	b.add(at(0x1000))
	b.add(at(0x2000))
	b.add(jitdump.NewTier(1, jitdump.Blue, "hot"))
	b.debug(0x3000, "a.js", 0)
	b.load("second", 0x2000, 0x40)
	b.load("other", 0x3000, 0x40)
	b.add(&jitdump.Unwinding{})
	b.load("first outer", 0x1000, 0x40)
	b.load("again", 0x1000, 0x40) // its metadata was for the one before
	b.add(at(0x4000))
	b.add(at(0x4000)) // the later one counts
	b.load("twice", 0x4000, 0x40)
	b.add(at(0x5000)) // its load never comes
	b.add(&jitdump.Unknown{ID: jitdump.IDOpenJ9, Body: []byte("somebody else's")})
	d := b.scan()
	r := d.Reader()
	for i, want := range []int{3, 0, 3, 0, 3} {
		fn, err := r.Function(i)
		if err != nil || len(fn.Inlines) != want {
			t.Errorf("function %d has %d inlined calls, want %d; %v", i, len(fn.Inlines), want, err)
		}
	}
	if d.Orphans() != 2 || d.Unknown != 1 || len(d.Problems) > 0 {
		t.Errorf("%d orphans, %d unknown, problems %v", d.Orphans(), d.Unknown, d.Problems)
	}
	// One that waits for long is given up.
	b = newDump(t, x86)
	b.add(at(0x1000))
	for i := range uint64(64) {
		b.add(at(0x10000 + 0x1000*i))
	}
	b.load("late", 0x1000, 0x40)
	b.load("outer in time", 0x10000, 0x40)
	d = b.scan()
	r = d.Reader()
	for i, want := range []int{0, 3} {
		if fn, err := r.Function(i); err != nil || len(fn.Inlines) != want {
			t.Errorf("function %d has %d inlined calls, want %d; %v", i, len(fn.Inlines), want, err)
		}
	}
	if d.Orphans() != 64 {
		t.Errorf("%d orphans", d.Orphans())
	}
}

// Metadata whose load was lost is not that of what comes to lie at its address later.
func TestJ9Record_LoadLost(t *testing.T) {
	for _, test := range []struct {
		name    string
		between int
		size    int
		load    string
		damage  bool
		inlines int
		orphans int
		want    string
	}{
		{"its own", 0, 0x40, "anything", false, 3, 0, ""},
		{"its own, others between", 63, 0x40, "p.A.outer()V", false, 3, 0, ""},
		{"another name, others between", 1, 0x40, "~Stub", false, 0, 1, `is that of a method "outer"`},
		{"long after", 64, 0x40, "p.A.outer()V", false, 0, 1, ""},
		{"another size", 0, 0x3f, "p.A.outer()V", false, 0, 0, "is 0x1040, so that there are 64 bytes of code; the function has 63"},
		{"larger", 0, 0x41, "p.A.outer()V", false, 0, 0, "so that there are 64 bytes of code; the function has 65"},
		{"damage between", 0, 0x40, "p.A.outer()V", true, 0, 1, "JIT_CODE_DEBUG_INFO"},
	} {
		b := newDump(t, x86)
		b.add(j9At(t, 0x1000))
		for i := range test.between {
			b.load("other", 0x10000+0x100*uint64(i), 0x10)
		}
		if test.damage {
			b.add(&jitdump.Unknown{ID: jitdump.IDDebugInfo, Body: make([]byte, 3)})
		}
		b.load(test.load, 0x1000, test.size)
		d := b.scan()
		r := d.Reader()
		fn, err := r.Function(test.between)
		if err != nil {
			t.Fatal(err)
		}
		problems := append(d.Problems, r.Problems...)
		if test.want == "" && len(problems) > 0 || test.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].Text, test.want)) {
			t.Errorf("%s: problems %v, want %q", test.name, problems, test.want)
		}
		if len(fn.Inlines) != test.inlines || (len(fn.Lines) > 0) != (test.inlines > 0) || d.Orphans() != test.orphans {
			t.Errorf("%s: %d inlined calls, want %d; lines %v; %d orphans, want %d", test.name, len(fn.Inlines), test.inlines, fn.Lines, d.Orphans(), test.orphans)
		}
	}
}
