package plan

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/plan/gaps"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Another layout has one object for all functions of a run of memory. Its .text is
// that memory as it was. One mapping covers it, from the time of its first function on. In
// recordings with copies of stacks, there are regions as well (regions.go).
//
// A bundle shows what an object for each function would show. So it has one mapping, and nothing
// else is ever mapped inside it: hotspot looks symbols up from the start of the first part of a
// file that it comes across. A function stays alone if others have its addresses at other times,
// if it moves, or if something refers to it before it is loaded. A bundle ends at a gap that
// something refers to (bundlerefs.go), and where functions with lines meet functions without
// (bundlekinds.go).

// A placed is a placed function: a function at one address. It is small, because there may be a
// million.
type placed struct {
	first   *model.Mapping // its first mapping: place, process and time
	object  int32          // index in the objects of the plan; -1 if there is none
	piece   int32          // index in the pieces of its object
	region  int32          // index in the bundler's regions, or noRegion
	seat    int32          // index in its region's list; set by newSeating
	noCode  bool           // its bytes are unknown
	dropped bool           // its object lacks it, because nothing refers to it
	uses    uint32         // referenced and others
}

// The code of a placed function is at [lo, hi).
func (p *placed) lo() uint64 { return p.first.Addr }
func (p *placed) hi() uint64 { return p.first.Addr + p.first.Len }

// function returns the index in the list of functions.
func (p *placed) function() int32 { return p.first.Object }

// noRegion is the region of a placed function that is in none.
const noRegion = -1

// A bundler makes a plan with bundles.
type bundler struct {
	whole     bool // --bundle: neighbouring regions share an object
	functions *Functions
	in        *model.Functions // those to divide among objects
	plan      *model.Plan
	gaps      *gaps.Gaps // nil unless stacks are copied
	regions   []*region
	runs      []run
	pieces    [][]piece // of each object of the plan
	reserved  map[*model.Dump]reserved
	ofFiles   map[uint32]recording.Ranges      // see filesOf
	cleared   map[*model.Dump]recording.Ranges // see clearedOf; nil before the first call
	// in recordings with copies of stacks: the regions of each dump
	apart           []dumpRegions
	rec             *recording.Recording
	placedFunctions []placed
	// of has the placed function of each mapping, or -1.
	of []int32
	// objectOf has an object for each function, or -1.
	objectOf []int32
	// dumps has the placed functions of each dump, by address after layOut.
	dumps map[*model.Dump][]int
	// ends has, by dump and index in dumps, the highest end of a function up to that one.
	ends map[*model.Dump]func() []uint64
	// sharers has, by dump, others with code in the same processes. It is nil unless stacks are copied.
	sharers map[*model.Dump][]*model.Dump
	// dumpsOf has, by process, the dumps with code in it.
	dumpsOf map[uint32][]*model.Dump
	// mappingsOf has the mappings of functions by process, for those with several dumps.
	// It is nil before the first call of overlapsOf.
	mappingsOf map[uint32][]int
	// pids has, by dump, the processes that have code of it.
	pids map[*model.Dump][]uint32
	// taken has the addresses of functions and blank tables, and gaps between them that are
	// too small for a blank table. It is nil before the first call of behind.
	taken *addrs.Owners
	blind bool // the references of samples are unknown
	lines map[*model.Dump]lineInspector
	// unread gets problems of reading functions.
	unread *report.Findings
	once   bool // each function is at one address
}

// A run is a series of functions of a dump, or of a region, in the order of their addresses. They do not overlap,
// and no wall is between them. One mapping may cover all of them.
type run struct {
	dump    *model.Dump
	members []int     // placed functions
	regions []*region // those of its functions, or nil if these are in none
}

// A piece is a part of an object that has one mapping. It is [lo, hi).
type piece struct {
	first  int // its first placed function
	lo, hi uint64
	// late pieces have one function, and are mapped when it is loaded. All others are mapped
	// with the first of their functions.
	late bool
}

// A unit is a part of a run that is in one bundle as a whole, or in none: a function, or a region
// with a single image.
type unit struct {
	members []int   // placed functions
	region  *region // nil for a function
}

// units returns the number of a run's units.
func (r *run) units() int {
	if r.regions != nil {
		return len(r.regions)
	}
	return len(r.members)
}

// unit returns the i-th unit of a run.
func (r *run) unit(i int) unit {
	if r.regions != nil {
		return unit{r.regions[i].placedFunctions, r.regions[i]}
	}
	return unit{r.members[i : i+1 : i+1], nil}
}

// A place is a function at an address.
type place struct {
	function int32 // index in the list of functions
	home     bool  // in a file that keeps its place
	addr     uint64
}

const (
	// maxHole is the longest gap without functions that a bundle spans, in bytes. A gap costs
	// nothing in the file, but other things may be mapped there.
	maxHole = 1 << 20

	// maxPadding is the longest gap that is padding, in bytes: alignment and headers of
	// objects leave it between functions.
	maxPadding = 256

	// maxSpan bounds the addresses that a bundle spans, in bytes: offsets in unwind tables
	// have 32 bits.
	maxSpan = 512 << 20
)

// maxMembers bounds the functions of a bundle where stacks are not unwound, so that the division
// is free. perf starts an addr2line for each file that it wants lines of, which favours fewer
// files. But addr2line of binutils goes through all symbols of the file for every answer. This
// value takes the least time.
const maxMembers = 512

// bundles is the layout with bundles. With whole, they are as few as possible. Without, there is one for
// each image of a region, which recordings with copies of stacks have. Errors are ctx's or those of reading
// the recording.
func (f *Functions) bundles(ctx context.Context, whole bool) (*model.Plan, error) {
	b := &bundler{
		whole: whole, functions: f, in: &f.Functions, plan: new(model.Plan), rec: f.rec,
		dumps: make(map[*model.Dump][]int), lines: make(map[*model.Dump]lineInspector),
		reserved: make(map[*model.Dump]reserved), ofFiles: make(map[uint32]recording.Ranges),
		ends: make(map[*model.Dump]func() []uint64), unread: &f.Found,
		dumpsOf: make(map[uint32][]*model.Dump), pids: make(map[*model.Dump][]uint32),
	}
	if f.inRegions != nil {
		b.in = f.inRegions
	}
	if f.rec.CopiesStacks() {
		b.gaps = gaps.New(f.rec, f.dumps, func(p *recording.Process) []addrs.Range { return rangesOf(filesAndData(p)) })
	}
	b.finish()
	if f.rec.CopiesStacks() {
		b.findSharers()
	}
	for _, d := range f.dumps {
		b.layOut(d)
	}
	b.joinDumps()
	for i := range b.apart {
		b.finishRegions(b.apart[i].regions)
	}
	if err := b.placeCrowds(ctx, b.apart); err != nil {
		return nil, err
	}
	for i := range b.apart {
		b.layOutRegions(&b.apart[i])
	}
	if err := b.findReferences(ctx); err != nil {
		return nil, err
	}
	if err := b.divideRuns(ctx); err != nil {
		return nil, err
	}
	names := make(model.ObjectNames)
	for i := range b.plan.Objects {
		if o := &b.plan.Objects[i]; o.Bundle == nil {
			o.IsRepeated = names.IsRepeated(o.PID, o.Index)
		}
	}
	b.plan.Mappings = newBundleMapper(b).mapAll()
	return b.plan, nil
}

// finish finds the placed functions.
func (b *bundler) finish() {
	b.placedFunctions = make([]placed, 0, len(b.in.List))
	b.of = make([]int32, len(b.in.Mappings))
	b.objectOf = slices.Repeat([]int32{-1}, len(b.in.List))
	first := slices.Clone(b.objectOf) // the first placed function of each object, or -1
	others := make(map[place]int32)
	hasCode, last := make(map[processDump]bool), processDump{}
	latest, list := (*model.Dump)(nil), []int(nil) // the latest dump, and its placed functions
	for i := range b.in.Mappings {
		m := &b.in.Mappings[i]
		b.of[i] = -1
		if m.Clear || m.Len == 0 || m.Addr+m.Len < m.Addr {
			continue
		}
		d := b.in.List[m.Object].Dump
		if at := (processDump{m.PID, d}); at != last && !hasCode[at] {
			hasCode[at], last = true, at
			b.dumpsOf[m.PID] = append(b.dumpsOf[m.PID], d)
			b.pids[d] = append(b.pids[d], m.PID)
		}
		r, ok := first[m.Object], first[m.Object] >= 0
		if ok && (b.placedFunctions[r].lo() != m.Addr || b.placedFunctions[r].first.Home != m.Home) {
			r, ok = others[place{m.Object, m.Home, m.Addr}]
		}
		if ok {
			b.of[i] = r // mappings are in the order of their times: it was there before
			continue
		}
		r = int32(len(b.placedFunctions))
		b.of[i] = r
		if first[m.Object] < 0 {
			first[m.Object] = r
		} else {
			others[place{m.Object, m.Home, m.Addr}] = r
		}
		if d != latest {
			b.dumps[latest], latest = list, d
			if list = b.dumps[d]; list == nil {
				list = make([]int, 0, min(d.Source.NumFunctions(), len(b.in.Mappings)))
			}
		}
		list = append(list, int(r))
		b.placedFunctions = append(b.placedFunctions, placed{
			first: m, noCode: !d.HasCode(int(b.in.List[m.Object].Number)), region: noRegion,
			dropped: b.in == b.functions.inRegions && !b.functions.isKept[m.Object],
		})
	}
	b.dumps[latest] = list
	b.once = len(others) == 0
}

// A processDump is a dump with code in a process.
type processDump struct {
	pid  uint32
	dump *model.Dump
}

// layOut divides the placed functions of a dump among objects.
func (b *bundler) layOut(d *model.Dump) {
	list := b.dumps[d]
	slices.SortFunc(list, b.byAddress)
	list = b.addSkeletons(d, list)
	reserved := b.reservedOf(d)
	b.reserved[d] = reserved
	b.ends[d] = sync.OnceValue(func() []uint64 { return b.endsOf(d) })
	if b.rec.CopiesStacks() {
		b.apart = append(b.apart, dumpRegions{d, b.regionsOf(d, list), reserved})
		return
	}
	// A function where another dump has functions, too, gets an object of its own.
	if len(reserved.code) > 0 {
		list = slices.DeleteFunc(slices.Clone(list), func(r int) bool {
			alone := reserved.code.Overlap(b.placedFunctions[r].lo(), b.placedFunctions[r].hi())
			if alone {
				b.addSingle(d, r)
			}
			return alone
		})
	}
	absent := b.functions.absent[d]
	sorting.By(absent, func(x, y addrs.Range) int { return cmp.Compare(x.Lo, y.Lo) })
	cleared := b.clearedOf(d)
	for len(list) > 0 {
		together := list[:b.span(list, reserved, absent)]
		list = list[len(together):]
		for len(together) > 0 {
			n := b.cut(together)
			b.addRuns(d, together[:n], cleared)
			together = together[n:]
		}
	}
}

// span returns how many of the placed functions one bundle can hold, from the first on. list is
// in the order of addresses. absent are the addresses of dropped functions: a bundle spans them
// like code.
func (b *bundler) span(list []int, reserved reserved, absent []addrs.Range) int {
	first, end := b.placedFunctions[list[0]].lo(), b.placedFunctions[list[0]].hi()
	for n := 1; n < len(list); n++ {
		p := &b.placedFunctions[list[n]]
		reach := end
		for ; len(absent) > 0 && absent[0].Lo < p.lo(); absent = absent[1:] {
			if absent[0].Lo <= reach+maxPadding {
				reach = max(reach, absent[0].Hi)
			}
		}
		walled := p.lo() > end && reserved.code.Overlap(end, p.lo()) ||
			p.lo() > reach+maxPadding && (p.lo()-reach > maxHole || reserved.hasFile(reach, p.lo()))
		if walled || p.hi()-first > maxSpan && p.lo() >= end {
			return n
		}
		end = max(end, p.hi())
	}
	return len(list)
}

// addRuns adds the runs of placed functions that no wall is between, and an object for each
// function that must stay alone: others have its addresses at other times, or code leaves them.
func (b *bundler) addRuns(d *model.Dump, list []int, cleared recording.Ranges) {
	together := 0 // the number of functions since the last run
	flush := func(end int) {
		if together > 0 {
			b.runs = append(b.runs, run{dump: d, members: list[end-together : end : end]})
			together = 0
		}
	}
	for at := 0; at < len(list); {
		n := b.cluster(list[at:])
		if p := &b.placedFunctions[list[at]]; n == 1 && !cleared.Overlap(p.lo(), p.hi()) {
			together++
		} else {
			flush(at)
			for _, r := range list[at : at+n] {
				b.addSingle(d, r)
			}
		}
		at += n
	}
	flush(len(list))
}

// cut returns how many of the placed functions the first bundle gets. If there are more than
// maxMembers, it cuts at the longest gap after half of that number.
func (b *bundler) cut(list []int) (n int) {
	if len(list) <= maxMembers {
		return len(list)
	}
	end, longest := uint64(0), uint64(0)
	for i, r := range list {
		lo := b.placedFunctions[r].lo()
		if i >= maxMembers/2 && lo >= end && (n == 0 || i < maxMembers && lo-end > longest) {
			n, longest = i, lo-end
		}
		if i >= maxMembers && n > 0 {
			return n
		}
		end = max(end, b.placedFunctions[r].hi())
	}
	return len(list) // they share addresses, from first to last
}

// cluster returns how many of the placed functions, from the first on, share addresses with each
// other, directly or not.
func (b *bundler) cluster(list []int) int {
	end := b.placedFunctions[list[0]].hi()
	for n := 1; n < len(list); n++ {
		p := &b.placedFunctions[list[n]]
		if p.lo() >= end {
			return n
		}
		end = max(end, p.hi())
	}
	return len(list)
}

// addSingle adds the object of a function that stays alone: the one that it has without bundles, if
// no stack goes through it. All addresses of the function share that.
func (b *bundler) addSingle(d *model.Dump, number int) {
	placed, p := &b.placedFunctions[number], b.plan
	at := b.objectOf[placed.function()]
	if b.rec.CopiesStacks() || at >= 0 && p.Objects[at].Bundle != nil {
		b.addObject(d, []int{number})
		return
	}
	if at < 0 {
		at = int32(len(p.Objects))
		p.Objects, b.pieces = append(p.Objects, model.Object{Function: &b.in.List[placed.function()]}), append(b.pieces, nil)
		b.objectOf[placed.function()] = at
	}
	placed.object, placed.piece = at, int32(len(b.pieces[at]))
	b.pieces[at] = append(b.pieces[at], piece{number, placed.lo(), placed.hi(), true})
}

// addObject adds the object for placed functions, in the order of their addresses. It adds several objects if the bytes of some are unknown: no reader may take missing
// bytes for instructions.
func (b *bundler) addObject(d *model.Dump, members []int) {
	for len(members) > 0 {
		noCode := b.placedFunctions[members[0]].noCode
		n := slices.IndexFunc(members, func(r int) bool { return b.placedFunctions[r].noCode != noCode })
		if n < 0 {
			n = len(members)
		}
		b.addOne(d, members[:n], noCode)
		members = members[n:]
	}
}

// addOne adds one object, from the first placed function to the last, without those that are dropped. If
// the bytes of some functions are known and those of others are not, noCode selects: of the others it has
// the unwind tables.
func (b *bundler) addOne(d *model.Dump, members []int, noCode bool) {
	p := b.plan
	first, last := &b.placedFunctions[members[0]], &b.placedFunctions[members[len(members)-1]]
	o := model.Object{
		Function: &model.Function{Dump: d, PID: b.in.List[first.function()].PID},
		Bundle:   &model.Bundle{Members: make([]model.Member, 0, len(members)), Region: jitobj.Region{NoCode: noCode}},
	}
	room := uint64(0)
	number := int32(len(p.Objects))
	if !slices.ContainsFunc(members, func(r int) bool { return b.placedFunctions[r].noCode == noCode && !b.placedFunctions[r].dropped }) {
		number = -1
	}
	for _, r := range members {
		m := &b.placedFunctions[r]
		f := &b.in.List[m.function()]
		room += gaps.TableRoom(m.hi()-m.lo(), uint64(f.Sent))
		own := m.noCode == noCode
		if own {
			m.object = number
		}
		if m.dropped {
			continue
		}
		again := b.objectOf[m.function()] >= 0
		if own {
			b.objectOf[m.function()] = number
		}
		if o.Bundle.Region.High = m.hi(); len(o.Bundle.Members) == 0 {
			o.Bundle.Region.Low = m.lo()
		}
		if f.Dump != d && !slices.Contains(o.Bundle.Others, f.Dump) {
			o.Bundle.Others = append(o.Bundle.Others, f.Dump)
		}
		o.Bundle.Members = append(o.Bundle.Members, model.Member{Dump: f.Dump, Function: int32(f.Number), Addr: m.lo(), Again: again, Frames: !own})
	}
	if b.rec.CopiesStacks() {
		at := &model.Placement{CodeAt: o.Bundle.Region.Base(), TablesAt: b.gaps.Take(d, last.hi(), room, 0), Room: room}
		if at.TablesAt != 0 && at.TablesAt+room-at.CodeAt > gaps.Reach {
			at.TablesAt = 0
		}
		if at.TablesAt == 0 {
			at.TablesAt, at.Room = b.behind(d, last.hi()), blankRoom
		}
		o.Bundle.Placement = at
	}
	if number < 0 { // what is reserved stays so: others have the same places as with it
		return
	}
	p.Objects, b.pieces = append(p.Objects, o), append(b.pieces, b.piecesOf(members))
}

// piecesOf divides the functions of an object among pieces. Gaps that something refers to are in no
// piece. A function that something refers to before it is loaded is a late piece.
func (b *bundler) piecesOf(members []int) (pieces []piece) {
	apart := true
	for _, r := range members {
		m := &b.placedFunctions[r]
		if m.dropped { // nothing shows zeros as its code
			apart = apart || m.has(gapAfter) || !b.whole
			continue
		}
		late := m.has(early) || b.blind
		if apart || late {
			pieces = append(pieces, piece{first: r, lo: m.lo(), late: late})
		}
		m.piece = int32(len(pieces) - 1)
		pieces[m.piece].hi = m.hi()
		apart = late || m.has(gapAfter)
	}
	return pieces
}

// reachOf sets the address at which a bundle begins.
func reachOf(o *model.Object, low uint64) {
	o.Bundle.Region.Low = low
	o.Bundle.Placement.CodeAt = o.Bundle.Region.Base()
}
