package judge

// A Key identifies a sample in both results. Several samples may share all fields but the
// number.
type key struct {
	pid, tid int
	time     uint64
	event    string
	nth      int // number among samples with the same other fields, from 0
}

// keys returns the key of each sample.
func keys(samples []Sample) []key {
	seen := make(map[key]int)
	out := make([]key, len(samples))
	for i := range samples {
		s := &samples[i]
		k := key{pid: s.PID, tid: s.TID, time: s.Time, event: s.Event}
		k.nth = seen[k]
		seen[key{pid: s.PID, tid: s.TID, time: s.Time, event: s.Event}]++
		out[i] = k
	}
	return out
}

// A Pair is one sample in both results. Either is nil where the result does not have it.
type Pair struct{ Theirs, Ours *Sample }

// Jitted reports whether a frame of either stack is in an object made of a jitdump. For
// code that is also in the runtime's own file, one result may show the object and the other
// the file.
func (p *Pair) Jitted() bool {
	return p.Theirs != nil && p.Theirs.Jitted() || p.Ours != nil && p.Ours.Jitted()
}

// Pairs pairs samples of the same thread, time and event. Pairs of theirs come first, in
// their order, then samples that only ours has, in their order. The pairs point into the
// slices passed.
func Pairs(theirs, ours []Sample) []Pair {
	index := make(map[key]int, len(ours))
	for i, k := range keys(ours) {
		index[k] = i
	}
	pairs := make([]Pair, 0, len(theirs))
	paired := make([]bool, len(ours))
	for i, k := range keys(theirs) {
		p := Pair{Theirs: &theirs[i]}
		if j, ok := index[k]; ok {
			p.Ours, paired[j] = &ours[j], true
		}
		pairs = append(pairs, p)
	}
	for j, ok := range paired {
		if !ok {
			pairs = append(pairs, Pair{Ours: &ours[j]})
		}
	}
	return pairs
}

// Compare returns the losses of our samples against theirs, in the order of Pairs. Both
// must come from the same perf. A sample has at most one loss of its stack, and one for
// each frame with another symbol. The first rule that applies to a loss excuses it.
//
// The losses point into the slices passed.
func Compare(theirs, ours []Sample, rules ...Rule) []Loss {
	var losses []Loss
	for _, p := range Pairs(theirs, ours) {
		switch {
		case p.Ours == nil:
			losses = append(losses, Loss{Kind: Absent, Theirs: p.Theirs})
		case p.Theirs == nil:
			losses = append(losses, Loss{Kind: Surplus, Ours: p.Ours})
		default:
			losses = append(losses, compareStacks(p.Theirs, p.Ours)...)
		}
	}
	for i := range losses {
		for _, rule := range rules {
			if rule.Excuses(&losses[i]) {
				losses[i].Rule = rule.Name
				break
			}
		}
	}
	return losses
}

// compareStacks returns the losses of one sample.
func compareStacks(theirs, ours *Sample) (losses []Loss) {
	at := 0
walk:
	for ; at < len(theirs.Frames) && at < len(ours.Frames); at++ {
		relation := relate(theirs.Frames, ours.Frames, at)
		if relation == otherSymbol && !shows(&ours.Frames[at], &theirs.Frames[at]) && elsewhere(&theirs.Frames[at], &ours.Frames[at]) && contains(ours.Frames[at:], theirs.Frames[at:]) {
			relation = otherFrame // only ours has it, before the same caller
		}
		switch relation {
		case same:
		case lostSymbol:
			losses = append(losses, Loss{Kind: NoSymbol, Theirs: theirs, Ours: ours, Frame: at})
		case otherSymbol:
			losses = append(losses, Loss{Kind: OtherSymbol, Theirs: theirs, Ours: ours, Frame: at})
		case otherFrame:
			break walk
		}
	}
	if kind := stackLoss(theirs, ours, at); kind != "" {
		losses = append(losses, Loss{Kind: kind, Theirs: theirs, Ours: ours, Frame: at})
	}
	return losses
}

// stackLoss returns the loss between stacks that agree before frame at and differ or end
// there, or "" if there is none.
func stackLoss(theirs, ours *Sample, at int) Kind {
	nTheirs, nOurs := len(theirs.Frames), len(ours.Frames)
	switch wholeTheirs, wholeOurs := theirs.Whole(), ours.Whole(); {
	case at == nTheirs && (!wholeTheirs || at == nOurs):
		return "" // ours has all of their frames
	case wholeOurs && !wholeTheirs:
		return ""
	case wholeTheirs && !wholeOurs:
		return NoBottom
	case contains(ours.Frames[at:], theirs.Frames[at:]):
		return "" // theirs left frames out
	case nOurs < nTheirs:
		return FewerFrames
	default:
		return OtherFrames
	}
}

// contains reports whether our stack has all of their frames, in their order.
func contains(ours, theirs []Frame) bool {
	for i := range ours {
		if len(theirs) > 0 && shows(&ours[i], &theirs[0]) {
			theirs = theirs[1:]
		}
	}
	return len(theirs) == 0
}

// shows reports whether a frame of ours matches one of theirs. A match is the same
// frame, the same builtin of V8 by its other name, or a place that is unknown to theirs
// and cannot be compared by address.
func shows(ours, theirs *Frame) bool {
	switch {
	case ours.equal(theirs):
		return true
	case theirs.Symbol == "":
		return incomparable(theirs, ours) && (ours.Symbol == "" || theirs.Anonymous() && ours.Jitted())
	default:
		return theirs.Offset == ours.Offset && builtin(theirs.Symbol) != "" && builtin(theirs.Symbol) == builtin(ours.Symbol)
	}
}

// A relation is the relation of a frame of ours to theirs at the same depth.
type relation int

const (
	same        relation = iota // the same frame, or one that only ours names
	otherFrame                  // another place in memory
	otherSymbol                 // the same place with another symbol or offset
	lostSymbol                  // the same place, and only theirs names it
)

// relate returns the relation of the frames at a depth.
func relate(theirs, ours []Frame, at int) relation {
	a, b := &theirs[at], &ours[at]
	switch {
	case a.equal(b):
		return same
	case a.Addr != b.Addr && !samePlace(theirs, ours, at):
		return otherFrame
	case a.Symbol == "":
		return same
	case b.Symbol == "":
		return lostSymbol
	default:
		return otherSymbol
	}
}

// samePlace reports whether frames with different addresses stand for the same place in
// memory. Some perfs print offsets in the mapped file, and the objects of perf inject and
// ours are different files. So the neighbouring frames decide: the sample's own function is
// the same, and so is a frame with the same caller.
func samePlace(theirs, ours []Frame, at int) bool {
	for ; at < len(theirs) && at < len(ours); at++ {
		a, b := &theirs[at], &ours[at]
		if a.equal(b) {
			return true
		}
		if !incomparable(a, b) {
			return false
		}
		if at == 0 || a.Symbol != "" && b.Symbol != "" && a.Offset == b.Offset {
			return true // the sample's own address; another name for the same code
		}
		if !a.Anonymous() || a.Symbol != "" || !b.Jitted() {
			if at+1 == len(theirs) && at+1 == len(ours) {
				return a.Symbol == "" && b.Symbol == "" // nothing else is known
			}
			// Its caller decides.
			return at+1 < len(theirs) && at+1 < len(ours) && theirs[at+1].equal(&ours[at+1])
		}
		// Theirs has no name for the code and ours has one: the next frame decides.
	}
	return true
}

// incomparable reports whether the addresses of two frames cannot be compared: at least one
// is an offset in a file, and the files differ.
func incomparable(a, b *Frame) bool {
	const noOffset = 1 << 32 // no file is as large
	return a.DSO != b.DSO && (a.Addr < noOffset || b.Addr < noOffset)
}

// elsewhere reports whether two frames may be at different places in memory.
func elsewhere(a, b *Frame) bool { return a.Addr != b.Addr || incomparable(a, b) }

// equal reports whether two frames show the same symbol and offset, or the same address if
// they have no symbol.
func (f *Frame) equal(g *Frame) bool {
	if f.Symbol == "" || g.Symbol == "" {
		return f.Symbol == g.Symbol && f.Addr == g.Addr
	}
	return f.Symbol == g.Symbol && f.Offset == g.Offset && f.Inlined == g.Inlined
}
