package checkv8

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/jitdump"
)

// A code is machine code of a function in the log.
type code struct {
	place
	at        int64 // of its line
	time      int64 // nanoseconds since the isolate's log began
	optimized bool
	isolate   int32
}

// A place identifies code and its load.
type place struct{ addr, size, name uint64 }

// A load is machine code of a function in the dump.
type load struct {
	place
	at        int64 // of its record
	time      int64 // nanoseconds
	tid       uint32
	optimized bool
}

// maxName bounds the bytes of a name that are compared: dumps cut long names, V8 11 after 512 bytes.
const maxName = 256

var seed = maphash.MakeSeed()

// nameOf returns the hash of a name as the dump has it: tag, colon, tier and the name. Both files
// have the same ASCII characters. Dumps cut names at a NUL.
func nameOf(parts ...[]byte) uint64 {
	var b [maxName]byte
	n := 0
	for _, part := range parts {
		for _, c := range part {
			if c == 0 || n == len(b) {
				return maphash.Bytes(seed, b[:n])
			}
			if c < 0x80 {
				b[n] = c
				n++
			}
		}
	}
	return maphash.Bytes(seed, b[:n])
}

// code returns the part of machine code that is kept for the dumps.
func (s *sourceInfo) code(isolate int) code {
	name, rest := s.name, []byte(nil)
	if s.script != nil && s.isNamed() && s.line > 0 {
		at := bytes.LastIndexByte(name[:bytes.LastIndexByte(name, ':')], ':')
		url := s.script.url
		if url == unknownURL {
			url = ""
		}
		text, _ := decoded([]byte(url))
		name, rest = name[:at-len(url)], append([]byte(text), name[at:]...)
	}
	return code{
		place: place{s.addr, s.size, nameOf([]byte(s.tag), []byte{':'}, []byte(s.tier), name, rest)},
		at:    s.at, time: int64(s.time) * 1000, optimized: s.isOptimized(), isolate: int32(isolate),
	}
}

// A dump is the machine code of functions in a dump.
type dump struct {
	path  string
	loads []load
}

// readDump reads the loads of a dump. It returns nil if V8 did not write it.
func readDump(ctx context.Context, path string) (*dump, error) {
	f, err := verify.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the dump %s: %w", path, err)
	}
	defer f.Close()
	r, err := jitdump.NewReader(f)
	if err != nil {
		return nil, nil // the check of the dump reports it
	}
	d := &dump{path: path}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		raw, err := r.Next()
		if err != nil {
			if _, more := r.Resync(); more {
				continue
			}
			return d, nil
		}
		if raw.ID != jitdump.IDLoad {
			continue
		}
		l, err := raw.Load()
		if err != nil {
			continue
		}
		if tier, ok := tierOf(l.Name); ok {
			d.loads = append(d.loads, load{place{l.CodeAddr, l.CodeSize, nameOf(l.Name)}, raw.Offset, int64(raw.Timestamp), l.TID, bytes.ContainsAny(tier, "+*")})
		}
	}
}

// tierOf returns the tier in the name of machine code of a function in a dump.
func tierOf(name []byte) (tier []byte, ok bool) {
	tag, rest, _ := bytes.Cut(name, []byte{':'})
	if !ofFunctions[string(tag)] {
		return nil, false
	}
	n := len(rest) - len(bytes.TrimLeft(rest, "^+*o'"))
	tier = rest[:min(n, len("o+'"))]
	return tier, bytes.ContainsAny(tier, "^+*")
}

// besideDumps pairs the log's machine code with the loads of the dumps.
func (c *checker) besideDumps(ctx context.Context, paths []string) error {
	c.codes = slices.DeleteFunc(c.codes, func(o code) bool { return int(o.isolate) != c.isolates })
	if len(c.codes) == 0 || c.isolates > 1 {
		return nil // said already: v8log/no-sources, v8log/isolates
	}
	var best *dump
	var pairs []pair
	for _, path := range paths {
		d, err := readDump(ctx, path)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		for _, loads := range d.threads() {
			if found := pairsOf(c.codes, loads); len(found) > len(pairs) {
				best, pairs = &dump{path, loads}, found
			}
		}
	}
	if best == nil || 2*len(pairs) < min(len(c.codes), len(best.loads)) {
		if len(paths) > 0 {
			c.Reporter.Violation("v8log/other-process", -1, "none of %s has most of its %s", verify.Counted(len(paths), "dump"), verify.Counted(len(c.codes), "code object"))
		}
		return nil
	}
	c.checkPairs(best, pairs)
	return nil
}

// threads returns the loads of each thread. The code of an isolate is of one thread.
func (d *dump) threads() map[uint32][]load {
	threads := make(map[uint32][]load)
	for _, l := range d.loads {
		threads[l.tid] = append(threads[l.tid], l)
	}
	return threads
}

// A pair are indexes of code in the log and in the dump.
type pair struct{ code, load int }

// pairsOf pairs code with the next load of equal address, size and name.
func pairsOf(codes []code, loads []load) (pairs []pair) {
	at := make(map[place][]int)
	for i := range loads {
		at[loads[i].place] = append(at[loads[i].place], i)
	}
	for i := range codes {
		if list := at[codes[i].place]; len(list) > 0 {
			pairs = append(pairs, pair{i, list[0]})
			at[codes[i].place] = list[1:]
		}
	}
	return pairs
}

// maxDelay is how long a thread may be stopped between both lines about code, in nanoseconds. V8
// writes them within 30 µs.
const maxDelay = 200e6

// checkPairs checks what pairs, and what does not.
func (c *checker) checkPairs(d *dump, pairs []pair) {
	offsets := make([]int64, len(pairs))
	inLog, inDump := make([]bool, len(c.codes)), make([]bool, len(d.loads))
	lastCode, lastLoad := 0, 0
	for i, p := range pairs {
		lastCode, lastLoad = max(lastCode, p.code), max(lastLoad, p.load)
		offsets[i] = d.loads[p.load].time - c.codes[p.code].time
		inLog[p.code], inDump[p.load] = true, true
	}
	slices.Sort(offsets)
	offset := offsets[len(offsets)/2]
	for _, p := range pairs {
		o, l := &c.codes[p.code], &d.loads[p.load]
		if delay := l.time - o.time - offset; max(delay, -delay) > maxDelay {
			c.Reporter.Violation("v8log/pair-time", o.at, "code at %#x is %s apart from its load at offset %#x of the dump, more than others are", o.addr, verify.Span(uint64(max(delay, -delay))), l.at)
		}
	}
	optimized, paired := 0, 0
	for i := range c.codes {
		o := &c.codes[i]
		if o.optimized {
			optimized++
			if inLog[i] {
				paired++
			}
		}
		if !inLog[i] && i < lastCode { // a killed process has not written the end of its files
			c.Reporter.Violation("v8log/unpaired", o.at, "%d bytes of code at %#x are not in %s%s", o.size, o.addr, verify.Quoted(filepath.Base(d.path)), d.instead(o, offset))
		}
	}
	for i := range d.loads[:lastLoad] {
		if l := &d.loads[i]; !inDump[i] && l.optimized {
			c.Reporter.Violation("v8log/load-unpaired", -1, "%d bytes of code at %#x, offset %#x of %s, are not in the log", l.size, l.addr, l.at, verify.Quoted(filepath.Base(d.path)))
		}
	}
	c.Result.Holds += fmt.Sprintf("; %d of %d optimized are in %s", paired, optimized, filepath.Base(d.path))
}

// instead describes the code in the dump at the address of missing code, about the same time.
func (d *dump) instead(o *code, offset int64) string {
	var near []load
	for _, l := range d.loads {
		if l.addr == o.addr {
			near = append(near, l)
		}
	}
	if len(near) == 0 {
		return ""
	}
	distance := func(l load) int64 { return max(l.time-o.time-offset, o.time+offset-l.time) }
	l := slices.MinFunc(near, func(a, b load) int { return cmp.Compare(distance(a), distance(b)) })
	if l.size != o.size {
		return fmt.Sprintf(", which has %d bytes there", l.size)
	}
	return ", which has another function there"
}
