package v8

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/v8log"
)

// Parts of names of code, of a script with a URL as logged.
func TestSplitName_Scripts(t *testing.T) {
	for _, c := range []struct{ name, url, want string }{
		{"f /a.js:3:4", "/a.js", "f 3:4"},
		{"sp ace x.js:7:8 /a b:1.js:3:4", "/a b:1.js", "sp ace x.js:7:8 3:4"},
		{" /a.js:1:1", "/a.js", " 1:1"},
		{"  lead /a.js:1:2", "/a.js", "  lead 1:2"},
		{"a,\\x62\nc /x\\x2C:1:2", `/x\x2C`, "a,\\x62\nc 1:2"},
		{"evaluated :1:20", "<unknown>", "evaluated 1:20"},
		{"f <unknown>:1:20", "<unknown>", "f 1:20"},
		{" :1:20", "", " 1:20"},
		{"f /other.js:1:20", "/a.js", "f 1:20"},
		{"new", "/a.js", " 0:0"},
		{"a /b.js:1:x", "/a.js", " 0:0"},
		{":1:1", "/a.js", " 1:1"},
	} {
		n := splitName([]byte(c.name), &script{logged: c.url})
		if got := fmt.Sprintf("%s %d:%d", c.name[:n.function], n.line, n.column); got != c.want {
			t.Errorf("%q of %s: got %q; want %q", c.name, c.url, got, c.want)
		}
	}
}

// Names that V8 does not escape are the same in the dump and in the log, and name inlined calls.
func TestMatch_RawNames(t *testing.T) {
	const url, logged = "/dir, ü😀/a.js", `/dir\x2C \xfc\ud83d\ude00/a.js`
	names := []string{"a,b", `back\x41slash \s`, "new\nline", "größe→😀", ",0x1,*", "sp ace x.js:7:8", "", "\x01\t" + strings.Repeat("a,", 400)}
	log := "v8-version,11,3,244,8,0\nscript-source,1," + logged + ",one line\n"
	wanted := make(map[place]int)
	l := newLoads()
	for i, name := range names {
		at := place{uint64(0x1000 * (i + 1)), 64}
		log += fmt.Sprintf("code-creation,JS,13,%d,%#x,%d,%s %s:1:%d,%#x,o*'\n", 1000*i, at.addr, at.size, name, logged, i+1, 0x20+i)
		log += fmt.Sprintf("code-source-info,%#x,1,%d,8,C0O0C4O2I0,F0O1,S%#x\n", at.addr, i, 0x20+i)
		wanted[at]++
		l.add(at, load{i, uint64(5e9 + 1e6*i), dumpKey(fmt.Appendf(nil, "JS:o*'%s %s:1:%d", name, url, i+1))})
	}
	x, err := readIndex(context.Background(), strings.NewReader(log), "v8.log", wanted)
	if err != nil || x.damaged > 0 {
		t.Fatalf("got %v, damage %v; want none", err, x.damage)
	}
	found := l.match(x)
	if len(found.pairs) != len(names) || found.near != len(names) {
		t.Errorf("got pairs %v, %d of them near; want %d", found.pairs, found.near, len(names))
	}
	trees := &Trees{functions: make(map[int]described)}
	for _, p := range found.pairs {
		trees.functions[p.function] = described{index: x, object: p.object}
	}
	for i, name := range names {
		info, problem, err := trees.Tree(i, 64)
		if err != nil || problem != nil || len(info.Calls) != 1 {
			t.Fatalf("%q: got %v, %v, %+v; want an inlined call", name, err, problem, info)
		}
		if f := info.Functions[info.Calls[0].Function]; string(info.Names[f.Name]) != name || string(info.Files[f.File]) != url || f.Column != uint32(i) {
			t.Errorf("got %q of %s, column %d; want %q of %s, column %d", info.Names[f.Name], info.Files[f.File], f.Column, name, url, i)
		}
	}
}

// A name's place is its offset and its length, of the longest names, too.
func TestNameRef_Parts(t *testing.T) {
	for _, want := range []v8log.Span{{}, {Off: 1, Size: v8log.MaxName}, {Off: 1 << 46, Size: 1}} {
		if got := newNameRef(want.Off, int(want.Size)).span(); got != want {
			t.Errorf("got %v; want %v", got, want)
		}
	}
}
