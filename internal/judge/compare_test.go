package judge

import (
	"strings"
	"testing"
)

// stack makes the stack of a sample: "a+1" is symbol a at offset 1 in an object, "?" is an
// address in anonymous memory, "!" one in no mapping, "~" an impossible one.
func stack(frames string) []Sample {
	s := Sample{Comm: "app", PID: 1, TID: 1, Time: 5, Event: "cpu-clock"}
	for i, text := range strings.Fields(frames) {
		f := Frame{Addr: 0x7f0000000000 + uint64(i)<<12, DSO: "/tmp/jitted-1-1.so", Offset: 1}
		switch text[0] {
		case '?':
			f = Frame{Addr: f.Addr, DSO: "//anon"}
		case '!':
			f = Frame{Addr: f.Addr, DSO: "[unknown]"}
		case '~':
			f = Frame{Addr: 0xfffffffffffffffe, DSO: "[unknown]"}
		default:
			f.Symbol = text
			for _, c := range text {
				f.Addr += uint64(c) // another symbol lies elsewhere
			}
		}
		s.Frames = append(s.Frames, f)
	}
	return []Sample{s}
}

func TestCompare_OneSample(t *testing.T) {
	for _, c := range []struct {
		name, theirs, ours string
		want               Kind // "" if nothing is lost
		frame              int
	}{
		{"same", "a b _start", "a b _start", "", 0},
		{"both empty", "", "", "", 0},
		{"ours goes on", "a b", "a b c", "", 0},
		{"ours reaches the bottom", "a x y z", "a b _start", "", 0},
		{"ours has frames between", "a c _start", "a b c _start", "", 0},
		{"ours has frames between, no bottom", "a c", "a b c d", "", 0},
		{"ours ends early", "a b c _start", "a b", NoBottom, 2},
		{"ours is empty", "a b", "", FewerFrames, 0},
		{"ours goes astray", "a b c _start", "a x y z w v", NoBottom, 1},
		{"ours goes on after the bottom", "a b _start", "a b _start x", NoBottom, 3},
		{"fewer, both whole", "a b c _start", "a c _start", FewerFrames, 1},
		{"fewer, neither whole", "a b c", "a b", FewerFrames, 2},
		{"others, both whole", "a b _start", "a x _start", OtherFrames, 1},
		{"others, neither whole", "a b c", "a x y z", OtherFrames, 1},
	} {
		losses := Compare(stack(c.theirs), stack(c.ours))
		if c.want == "" {
			if len(losses) != 0 {
				t.Errorf("%s: got %v, want no loss", c.name, losses[0].String())
			}
			continue
		}
		if len(losses) != 1 || losses[0].Kind != c.want || losses[0].Frame != c.frame {
			t.Errorf("%s: got %v, want %s at frame %d", c.name, Summary(losses), c.want, c.frame)
		}
	}
}

// at replaces a frame of a stack.
func at(s []Sample, i int, f Frame) []Sample {
	s[0].Frames[i] = f
	return s
}

func TestCompare_Symbols(t *testing.T) {
	const addr = 0x7f0000001000
	anon, nowhere := Frame{Addr: addr, DSO: "//anon"}, Frame{Addr: addr, DSO: "[unknown]"}
	named := Frame{Addr: addr, Symbol: "b", Offset: 1, DSO: "/tmp/jitted-1-1.so"}
	other, moved := named, named
	other.Symbol, moved.Offset = "x", 2
	small := Frame{Addr: 0x81, Symbol: "b", Offset: 1, DSO: "/tmp/jitted-1-1.so"} // as perf 6.1 prints it
	for _, c := range []struct {
		name         string
		theirs, ours Frame
		want         Kind
	}{
		{"ours names it", anon, named, ""},
		{"ours names it where no mapping was", nowhere, named, ""},
		{"ours names it, perf 6.1", anon, small, ""},
		{"both unknown, in another mapping", anon, nowhere, ""},
		{"only theirs names it", named, nowhere, NoSymbol},
		{"only theirs names it, perf 6.1", small, anon, NoSymbol},
		{"only theirs names it, in memory that belongs to no file", small, nowhere, NoSymbol},
		{"another symbol", named, other, OtherSymbol},
		{"another offset", named, moved, OtherSymbol},
	} {
		losses := Compare(at(stack("a b _start"), 1, c.theirs), at(stack("a b _start"), 1, c.ours))
		if c.want == "" && len(losses) == 0 {
			continue
		}
		if len(losses) != 1 || losses[0].Kind != c.want || losses[0].Frame != 1 {
			t.Errorf("%s: got %v, want %q at frame 1", c.name, Summary(losses), c.want)
		}
	}
}

func TestCompare_SamplesThatOnlyOneHas(t *testing.T) {
	a, b := stack("a")[0], stack("b")[0]
	b.Time = 6
	for _, c := range []struct {
		name         string
		theirs, ours []Sample
		want         string
	}{
		{"missing", []Sample{a, b}, []Sample{a}, "1 absent"},
		{"one of twins is missing", []Sample{a, a, b}, []Sample{a, b}, "1 absent"},
		{"more", []Sample{a}, []Sample{b, a}, "1 surplus"},
		{"another order", []Sample{a, b}, []Sample{b, a}, "none"},
		{"nothing", nil, nil, "none"},
	} {
		if got := Summary(Compare(c.theirs, c.ours)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestCompare_TextOfThreePerfs(t *testing.T) {
	for _, c := range []struct{ recording, perf, want, excused string }{
		{"php", "6.1", "none", "none"},
		{"php", "6.12", "none", "none"},
		{"php", "7.2", "none", "none"},
		{"node", "6.1", "none", "99 other symbol"},
		{"node", "6.12", "none", "99 other symbol"},
		{"node", "7.2", "none", "64 other symbol"},
	} {
		name := c.recording + "-" + c.perf
		losses := Compare(recorded(t, name+"-inject"), recorded(t, name+"-ours"), Stated...)
		var excused []Loss
		for _, l := range losses {
			if l.Rule != "" {
				excused = append(excused, l)
			}
		}
		if real := Real(losses); Summary(real) != c.want || Summary(excused) != c.excused {
			t.Errorf("%s: got %s and excused %s, want %s and %s", name, Summary(real), Summary(excused), c.want, c.excused)
		}
	}
}

// The other way round, perf inject's stacks lose what ours has.
func TestCompare_FindsWhatPerfInjectLoses(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"php-6.1", "4 no bottom"},
		{"php-6.12", "4 no bottom"},
		{"php-7.2", "4 no bottom"},
		{"node-6.12", "none"},
		{"node-7.2", "9 no bottom"},
	} {
		losses := Real(Compare(recorded(t, c.name+"-ours"), recorded(t, c.name+"-inject"), Stated...))
		if got := Summary(losses); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestLoss_SaysWhatIsLost(t *testing.T) {
	for _, c := range []struct {
		theirs, ours []Sample
		want         string
	}{
		{stack("a b c _start"), stack("a b"), "app 1/1 0.000000005 cpu-clock: no bottom: 2 frames, with perf inject 4; after b+0x1 (/tmp/jitted-1-1.so) perf inject's goes on with c+0x1 (/tmp/jitted-1-1.so)"},
		{stack("a b"), nil, "app 1/1 0.000000005 cpu-clock: absent"},
		{nil, stack("a b"), "app 1/1 0.000000005 cpu-clock: surplus"},
		{stack("a b"), stack(""), "app 1/1 0.000000005 cpu-clock: fewer frames: 0 frames, with perf inject 2; after nothing perf inject's goes on with a+0x1 (/tmp/jitted-1-1.so)"},
		{stack("a b _start"), stack("a ? _start"), "app 1/1 0.000000005 cpu-clock: other frames: 3 frames, with perf inject 3; they part at frame 1: 0x7f0000001000 [unknown] (//anon), with perf inject b+0x1 (/tmp/jitted-1-1.so)"},
	} {
		losses := Compare(c.theirs, c.ours)
		if len(losses) != 1 || losses[0].String() != c.want {
			t.Errorf("got %v\nwant %s", losses, c.want)
			for i := range losses {
				t.Log(losses[i].String())
			}
		}
	}
}

// perf 6.1 prints offsets in objects: several successive frames may have names only in
// ours.
func TestCompare_OffsetsInObjects(t *testing.T) {
	anon := func(n uint64) Frame { return Frame{Addr: 0x7f0000000000 + n, DSO: "/tmp/perf-1.map"} }
	object := func(symbol string, n uint64) Frame {
		return Frame{Addr: 0x80 + n, Symbol: symbol, Offset: n, DSO: "/tmp/ours/jitted-1-1.so"}
	}
	elsewhere := func(symbol string, n uint64) Frame {
		return Frame{Addr: 0x180 + n, Symbol: symbol, Offset: n, DSO: "/tmp/jitted-1-1.so"}
	}
	start := Frame{Addr: 0x1234, Symbol: "_start", Offset: 4, DSO: "/usr/bin/app"}
	other := Frame{Addr: 0x1234, Symbol: "other", Offset: 4, DSO: "/usr/bin/app"}
	for _, c := range []struct {
		name         string
		theirs, ours []Frame
		want         string
	}{
		{"ours names two", []Frame{start, anon(1), anon(2), start}, []Frame{start, object("a", 1), object("b", 2), start}, "none"},
		{"ours names the last", []Frame{start, anon(1), anon(2)}, []Frame{start, object("a", 1), object("b", 2)}, "none"},
		{"ours goes on", []Frame{start, anon(1)}, []Frame{start, object("a", 1), object("b", 2)}, "none"},
		{"ours ends early", []Frame{start, anon(1), anon(2)}, []Frame{start, object("a", 1)}, "1 fewer frames"},
		{"ours has a caller between", []Frame{start, elsewhere("r", 1), elsewhere("r", 1), start}, []Frame{start, object("a", 2), object("r", 1), object("r", 1), start}, "none"},
		{"another caller", []Frame{start, elsewhere("r", 1), elsewhere("r", 1), start}, []Frame{start, object("a", 2), object("r", 1), start}, "1 other symbol"},
		{"the caller is another", []Frame{start, anon(1), start}, []Frame{start, object("a", 1), other}, "1 no bottom"},
	} {
		got := Summary(Compare([]Sample{{Frames: c.theirs}}, []Sample{{Frames: c.ours}}))
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
