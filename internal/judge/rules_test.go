package judge

import (
	"strings"
	"testing"
)

func TestV8Builtins_SameCode(t *testing.T) {
	frame := func(symbol string, offset uint64) Frame {
		return Frame{Addr: 0x1801000, Symbol: symbol, Offset: offset, DSO: "/usr/bin/node"}
	}
	for _, c := range []struct {
		theirs, ours Frame
		excused      bool
	}{
		{frame("Builtin:JSEntry", 0x82), frame("Builtins_JSEntry", 0x82), true},
		{frame("BytecodeHandler:GetNamedProperty", 1), frame("Builtins_GetNamedPropertyHandler", 1), true},
		{frame("BytecodeHandler:Ldar.ExtraWide", 1), frame("Builtins_LdarExtraWideHandler", 1), true},
		{frame("BytecodeHandler:Star0", 1), frame("Builtins_ShortStarHandler", 1), true},
		{frame("Builtin:JSEntry", 0x82), frame("Builtins_JSEntry", 0x83), false},
		{frame("Builtin:JSEntry", 0x82), frame("Builtins_JSEntryTrampoline", 0x82), false},
		{frame("Builtin:JSEntry", 0x82), frame("JSEntry", 0x82), false},
		{frame("JS:*a /a.js:1:1", 1), frame("JS:^a /a.js:1:1", 1), false},
	} {
		losses := Compare(at(stack("a b _start"), 1, c.theirs), at(stack("a b _start"), 1, c.ours), Stated...)
		if len(losses) != 1 || (losses[0].Rule == V8Builtins.Name) != c.excused {
			t.Errorf("for %v beside %v: got %v, want excused %v", &c.theirs, &c.ours, losses, c.excused)
		}
	}
}

func TestJunkFrames_OnlyAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		theirs, ours string
		excused      bool
	}{
		{"a b ! !", "a b", true},
		{"a b !", "a b", true},
		{"a b ! c", "a b", false},
		{"a b ?", "a b", false}, // anonymous memory may be code
		{"a b c", "a b", false},
		{"a b !", "a b c", true},
		{"a b ! !", "a b c", true},
		{"a b ! !", "a b ! c", true},
		{"a b ! c", "a b ! ! !", false},
		{"a b ! c", "a b c d e", false}, // addresses in no mapping may be code
		{"a b ~ c", "a b x c d", true},
		{"a b ~ c", "a b x d", false},
		{"a b ~ c", "a b", false},
		{"a b ~", "a b", true},
	} {
		losses := Compare(stack(c.theirs), stack(c.ours), Stated...)
		if len(losses) != 1 || (losses[0].Rule == JunkFrames.Name) != c.excused {
			t.Errorf("%q beside %q: got %v, want excused %v", c.theirs, c.ours, losses, c.excused)
		}
	}
}

func TestEndlessFrames_OnlyWhereOursHasThem(t *testing.T) {
	// All frames of a name are one frame here: same symbol, same offset.
	for _, c := range []struct {
		theirs, ours string
		excused      bool
	}{
		{"a b b b b b", "a b c", true},
		{"a b b b b", "a b", true},
		{"a b b b", "a b", false},
		{"a b b b b", "a", false},
		{"a b b b b _start", "a b", false},
	} {
		losses := Real(Compare(stack(c.theirs), stack(c.ours), Stated...))
		if (len(losses) == 0) != c.excused {
			t.Errorf("%q beside %q: got %v, want excused %v", c.theirs, c.ours, Summary(losses), c.excused)
		}
	}
}

// A caller that only our stack has comes before builtins with two names.
func TestCompare_BuiltinsAfterAnotherCaller(t *testing.T) {
	theirs, ours := stack("a Builtin:Await _start"), stack("a b Builtins_Await _start")
	if losses := Compare(theirs, ours); len(losses) != 0 {
		t.Errorf("got %v, want no loss", losses[0].String())
	}
	theirs[0].Frames[1].Offset = 2
	if losses := Compare(theirs, ours); len(losses) != 1 {
		t.Errorf("another offset: got %s, want one loss", Summary(losses))
	}
}

func TestFullStacks_OnlyForTheEnd(t *testing.T) {
	many := func(n int) string { return strings.Repeat(" r", n) }
	for _, c := range []struct {
		name, theirs, ours string
		excused            bool
	}{
		{"a caller between", "a" + many(126), "a b" + many(125), true},
		{"four callers between", "a" + many(126), "a b c d e" + many(122), true},
		{"another function", "a c" + many(125), "a b" + many(125), false},
		{"many between", "a" + many(126), "a" + strings.Repeat(" b", 6) + many(120), false},
		{"junk", "a" + many(126), "a" + strings.Repeat(" b", 126), false},
		{"theirs has room", "a" + many(125), "a b" + many(125), true}, // all of their frames
		{"ours has room", "a" + many(126), "a b" + many(124), false},
	} {
		losses := Real(Compare(stack(c.theirs), stack(c.ours), Stated...))
		if (len(losses) == 0) != c.excused {
			t.Errorf("%s: got %v, want excused %v", c.name, Summary(losses), c.excused)
		}
	}
}

func TestStated_HaveNamesAndReasons(t *testing.T) {
	seen := make(map[string]bool)
	for _, rule := range Stated {
		if rule.Name == "" || rule.Why == "" || rule.Excuses == nil || seen[rule.Name] {
			t.Errorf("rule %+v has no name of its own, or no reason", rule)
		}
		seen[rule.Name] = true
	}
}

func TestJittedPart_FramesInFiles(t *testing.T) {
	for _, c := range []struct {
		theirs, ours string
		excused      bool
	}{
		{"a ? ? ?", "a b", true},
		{"a ? b c ?", "a j b c", true},
		{"a ? ? b c", "a b x c", true},
		{"a ? b c d", "a j b c", false},
		{"a ? b c ?", "a j c b", false},
		{"a b ? ?", "a c", false},
		{"? a b", "j a", false},
	} {
		losses := Compare(stack(c.theirs), stack(c.ours), JittedPart)
		if excused := len(Real(losses)) == 0; excused != c.excused {
			t.Errorf("%q beside %q: got %v, want excused %v", c.theirs, c.ours, losses, c.excused)
		}
	}
}
