package v8truth_test

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/v8truth"
)

// The DWARF of every optimized function has the frames of V8's log at every byte.
func TestObjects_FramesOfLog(t *testing.T) {
	for name, dir := range recordings(t) {
		for _, bundle := range []bool{false, true} {
			form := map[bool]string{false: "objects", true: "bundles"}[bundle]
			t.Run(name+"/"+form, func(t *testing.T) { compareAll(t, dir, bundle) })
		}
	}
}

// A score counts bytes of code.
type score struct{ same, wrong, before, inlined int }

func compareAll(t *testing.T, dir string, bundle bool) {
	var sum score
	objects := make(map[string]*object)
	list := pairs(t, logs(t, dir), injected(t, dir, bundle))
	functions, shown := 0, 0
	for _, p := range list {
		if !p.code.IsOptimized() {
			continue
		}
		if objects[p.object] == nil {
			objects[p.object] = openObject(t, p.object)
		}
		functions++
		s := compareOne(t, &p, objects[p.object], &shown)
		sum.same, sum.wrong, sum.before, sum.inlined = sum.same+s.same, sum.wrong+s.wrong, sum.before+s.before, sum.inlined+s.inlined
	}
	t.Logf("%d code objects paired, %d optimized; bytes: %d same, of them %d inlined, %d before the first position, %d wrong",
		len(list), functions, sum.same, sum.inlined, sum.before, sum.wrong)
	if sum.wrong > 0 {
		t.Errorf("%d of %d bytes are wrong", sum.wrong, sum.wrong+sum.same)
	}
	if sum.inlined == 0 {
		t.Error("got no byte of an inlined function; want some")
	}
}

// compareOne compares a function byte for byte.
func compareOne(t *testing.T, p *pair, o *object, shown *int) (s score) {
	for at := range p.size {
		want, got := p.code.Chain(at), o.chain(p.value+at)
		switch {
		case want == nil && len(got) <= 1:
			s.before++
		case same(p.code, got, want):
			s.same++
			if len(want) > 1 {
				s.inlined++
			}
		default:
			if s.wrong++; s.wrong == 1 && *shown < 20 {
				*shown++
				t.Errorf("%s (line %d of the log) at %#x: got\n%v; want\n%v", p.code.DumpName(), p.code.Line, at, got, plain(want))
			}
		}
	}
	return s
}

// plain returns the frames as places.
func plain(frames []v8truth.Frame) (list []place) {
	for _, f := range frames {
		list = append(list, place{f.Name, f.URL, f.Line, f.Column})
	}
	return list
}

// same reports whether DWARF has the frames of the log.
func same(c *v8truth.Code, got []place, want []v8truth.Frame) bool {
	if len(got) != len(want) {
		return false
	}
	for i, g := range got {
		w := want[i]
		unplaced := w.Outside && g.line == 0 && g.column == 0
		if g.line != w.Line && !unplaced || g.column != w.Column && !unplaced || !sameFile(g.file, w.URL) {
			return false
		}
		outermost := i == len(want)-1
		if !(outermost && g.name == c.DumpName()) && !sameName(g.name, w.Name) {
			return false
		}
	}
	return true
}

// sameName compares the name of a function. Anonymous ones have no name in the log.
func sameName(got, want string) bool {
	return got == want || want == "" && strings.Contains(got, "anonymous")
}

// sameFile compares a file with a script's URL. file: URLs may be paths. Code of eval has no file.
func sameFile(got, script string) bool {
	if p, ok := strings.CutPrefix(script, "file://"); ok {
		if p, err := url.PathUnescape(p); err == nil && got == path.Clean(p) {
			return true
		}
	}
	return got == script || got == path.Clean(script) || script == "<unknown>" && slices.Contains([]string{"", ".", "<unknown>"}, got)
}

// Three addr2lines and gdb read the DWARF as we do.
func TestObjects_ToolsAgree(t *testing.T) {
	const each = 12 // addresses of a function
	for _, name := range []string{"v8log-node25", "v8log-workers"} {
		dir := testrec.Place(t, name)
		tools := testrec.Symbolizers(t)
		asked := 0
		for _, p := range pairs(t, logs(t, dir), injected(t, dir, false)) {
			if !p.code.HasInlined() || asked >= 20 {
				continue
			}
			asked++
			o := openObject(t, p.object)
			var addrs []uint64
			for i := range uint64(each) {
				at := p.value + i*(p.size-1)/(each-1)
				chain := o.chain(at)
				// Each tool has its own words for no line, and a line for each name.
				if chain[0].line > 0 && !slices.ContainsFunc(chain, func(f place) bool { return strings.Contains(f.name, "\n") }) {
					addrs = append(addrs, at)
				}
			}
			for _, s := range tools {
				for i, got := range s.Stacks(t, p.object, addrs) {
					var want []testrec.Frame
					for _, f := range o.chain(addrs[i]) {
						w := testrec.Frame{Function: f.name, File: filepath.Base(f.file), Line: uint32(f.line)}
						if s.Columns {
							w.Column = uint32(f.column)
						}
						want = append(want, w)
					}
					for k := range got {
						got[k].File = filepath.Base(got[k].File)
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s: %s, %s at %#x: got\n%v; want\n%v", name, s.Name, p.name, addrs[i]-p.value, got, want)
					}
				}
			}
		}
		if asked < 10 {
			t.Errorf("%s: got %d functions with inlined calls; want 10 at least", name, asked)
		}
	}
}
