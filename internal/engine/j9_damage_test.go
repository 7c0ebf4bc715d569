package engine_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// j9Damage are ways to spoil a record, or the body in it.
var j9Damage = []struct {
	name string
	do   func(f *j9Function) jitdump.Record
	told string // of the problem that it is; "" if it is none
}{
	{"whole", func(f *j9Function) jitdump.Record { return &f.record }, ""},
	{"cut", func(f *j9Function) jitdump.Record {
		f.record.Metadata = f.record.Metadata[:len(f.record.Metadata)/2]
		return &f.record
	}, "J9JITExceptionTable: size"},
	{"empty", func(f *j9Function) jitdump.Record { f.record.Metadata = nil; return &f.record }, "className"},
	{"noise", func(f *j9Function) jitdump.Record {
		for i := range f.record.Metadata {
			f.record.Metadata[i] = byte(i*i) ^ byte(i>>3)
		}
		return &f.record
	}, "J9JITExceptionTable"},
	{"elsewhere", func(f *j9Function) jitdump.Record { f.record.Base += 0x10000; return &f.record }, "is outside the"},
	{"other code", func(f *j9Function) jitdump.Record { f.record.Metadata[5*8+1] ^= 1; return &f.record }, "startPC"},
	{"32 bit", func(f *j9Function) jitdump.Record {
		f.record.PointerSize, f.record.HeaderSize = 4, 0
		return &f.record
	}, "J9JITExceptionTable"},
	{"circle", func(f *j9Function) jitdump.Record {
		if len(f.body.Sites) == 0 {
			f.body.Sites = []j9meta.InlinedSite{{Monitors: make([]byte, len(f.body.Atlas.Monitors))}}
		}
		for i := range f.body.Sites {
			f.body.Sites[i].Info.CallerIndex = len(f.body.Sites) - 1
		}
		f.body.Atlas.Maps[0].Info.CallerIndex = 0
		j9gen.Lay(f.body)
		return f.again()
	}, "which is no earlier one"},
	{"no site", func(f *j9Function) jitdump.Record {
		for i := range f.body.Atlas.Maps {
			f.body.Atlas.Maps[i].Info.CallerIndex = 4000
		}
		return f.again()
	}, "callerIndex"},
	{"no load", func(f *j9Function) jitdump.Record { f.record.CodeAddr++; return &f.record }, ""},
	{"somebody else's", func(f *j9Function) jitdump.Record {
		return &jitdump.Unknown{ID: jitdump.IDOpenJ9, Body: []byte("no metadata of anything")}
	}, ""},
	{"too short", func(f *j9Function) jitdump.Record {
		return &jitdump.Unknown{ID: jitdump.IDOpenJ9, Body: []byte("DM9J\x01\x00\x00\x00")}
	}, "code_addr"},
}

// again encodes the body that was changed.
func (f *j9Function) again() jitdump.Record {
	blob, err := j9gen.Encode(f.body)
	if err != nil {
		panic(err)
	}
	f.record.Metadata = blob
	return &f.record
}

// Metadata that is implausible costs lines and inlined calls, and nothing else.
func TestJ9_DamagedMetadataInDump(t *testing.T) {
	dir := testrec.Place(t, "toyjit-dwarf")
	damage := make(map[string]string) // by function
	functions := makeJ9(t, dir, j9Options{every: 1, spoil: func(i int, f *j9Function) jitdump.Record {
		d := j9Damage[i%len(j9Damage)]
		damage[string(f.load.Name)] = d.name
		return d.do(f)
	}})
	objects := filepath.Join(dir, "objects")
	sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: objects})
	if err != nil || sum.Dumps[0].Functions != 13 || sum.Samples.Resolved != 101 || len(functions) < len(j9Damage) {
		t.Fatalf("%d functions, %+v, %v", len(functions), sum, err)
	}
	problems := 0
	for _, d := range j9Damage {
		if d.told == "" {
			continue
		}
		problems++
		if !slices.ContainsFunc(sum.Problems, func(p report.Problem) bool { return strings.Contains(p.Text, d.told) && p.Offset > 0 }) {
			t.Errorf("%s: no problem is told of %q: %v", d.name, d.told, sum.Problems)
		}
	}
	if len(sum.Problems) != problems {
		t.Errorf("%d problems, expected %d", len(sum.Problems), problems)
	}
	code := newJ9Code(functions)
	code.find(t, objects)
	llvm := testrec.Symbolizers(t)[2]
	for _, f := range functions {
		p, ok := code.places[f]
		damage := damage[string(f.load.Name)]
		if !ok {
			t.Errorf("%s: %s is in no object", damage, f.load.Name)
			continue
		}
		if got := (spot{object: p.object, addr: p.addr, size: f.load.CodeSize}).code(t); !bytes.Equal(got, f.load.Code) {
			t.Errorf("%s: the code of %s is % x, want % x", damage, f.load.Name, got, f.load.Code)
		}
		addrs := []uint64{p.addr, p.addr + f.load.CodeSize/2, p.addr + f.load.CodeSize - 1}
		for i, got := range llvm.Stacks(t, p.object, addrs) {
			right := len(got) == 1 && got[0].Function == string(f.load.Name)
			if damage == "whole" {
				right = sameStack(got, code.stack(string(f.load.Name), addrs[i]))
			}
			if !right {
				t.Errorf("%s: %#x of %s is %v", damage, addrs[i], f.load.Name, got)
			}
		}
	}
}
