package engine_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// What perf script shows of inlined functions.

// An entry of a call chain is an address and a symbol on one line, and a place on
// the next; "(inlined)" stands behind one of them.
var chainEntry = regexp.MustCompile(`^\s+([0-9a-f]+) (.*?)( \(inlined\))?$`)

// perfFrame is an entry of a call chain as perf shows it.
type perfFrame struct {
	ip      uint64
	frame   testrec.Frame
	inlined bool
}

// perfChains runs perf script and returns the call chain of every sample.
func perfChains(t *testing.T, dir, perf, file string, args ...string) (chains [][]perfFrame) {
	t.Helper()
	args = append([]string{"script", "--full-source-path", "-F", "ip,sym,srcline", "-i", file}, args...)
	sample := true // the next entry is the first one of a sample
	for line := range strings.Lines(testrec.Run(t, dir, perf, args...)) {
		line = strings.TrimRight(line, "\n ")
		m := chainEntry.FindStringSubmatch(line)
		switch {
		case line == "":
			sample = true
		case m != nil && strings.HasPrefix(line, "\t"):
			if sample {
				chains, sample = append(chains, nil), false
			}
			ip, err := strconv.ParseUint(m[1], 16, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			last := &chains[len(chains)-1]
			*last = append(*last, perfFrame{ip: ip, frame: testrec.Frame{Function: m[2]}, inlined: m[3] != ""})
		case strings.HasPrefix(line, "  ") && !sample:
			chain := chains[len(chains)-1]
			place, found := strings.CutSuffix(strings.TrimSpace(line), " (inlined)")
			e := &chain[len(chain)-1]
			e.inlined = e.inlined || found
			i := strings.LastIndexByte(place, ':')
			n, err := strconv.ParseUint(place[i+1:], 10, 32)
			if i < 0 || err != nil {
				break // the kernel has none
			}
			e.frame.File, e.frame.Line = place[:i], uint32(n)
		default:
			t.Fatalf("perf script prints %q", line)
		}
	}
	return chains
}

// An inlineCode knows what every address in jitted code comes from.
type inlineCode interface {
	// stack returns the functions at an address of a function as perf prints it, nil
	// if it is no jitted one.
	stack(function string, ip uint64) []testrec.Frame
	// jitted says whether a function comes from jitted code.
	jitted(function string) bool
}

// toyCode is that of the toy JIT.
type toyCode struct {
	truth map[string][]testrec.ToyInsn
	loads []jitdump.Load
	spots map[string][]spot // where they are in objects
}

func (c *toyCode) jitted(function string) bool { return c.truth[function] != nil }

// stack knows addresses in memory or, perf 6.1, in the object.
func (c *toyCode) stack(function string, ip uint64) []testrec.Frame {
	for _, l := range c.loads {
		if string(l.Name) != function {
			continue
		}
		offset := ip - l.CodeAddr
		for _, s := range c.spots[function] {
			if offset >= l.CodeSize && s.size == l.CodeSize {
				offset = ip - s.addr
			}
		}
		for _, insn := range c.truth[function] {
			if uint64(insn.Offset) <= offset && offset < uint64(insn.Offset+insn.Length) {
				return insn.Stack
			}
		}
	}
	return nil
}

// begins says whether entries show a stack, with all functions or only the
// outermost one, which has then the place of the innermost one.
func begins(chain []perfFrame, stack []testrec.Frame, inlines bool) bool {
	if !inlines {
		outer := stack[len(stack)-1]
		stack = []testrec.Frame{{Function: outer.Function, File: stack[0].File, Line: stack[0].Line}}
	}
	if len(chain) < len(stack) {
		return false
	}
	for i, f := range stack {
		f.Column = 0
		// perf takes a function of the outermost one's name for that.
		inlined := i < len(stack)-1 && f.Function != stack[len(stack)-1].Function
		if !samePlace(chain[i].frame, f) || chain[i].inlined != inlined {
			return false
		}
	}
	return true
}

// checkPerfInlines holds the call chains of a recording, as perf resolves them with
// inlined functions, against the truth about the addresses that they are made of.
// Where perf shows none at all, places are compared. It returns how many are shown.
func checkPerfInlines(t *testing.T, dir, perf, file string, code *toyCode) (shown int) {
	t.Helper()
	return checkPerfCode(t, dir, perf, file, code)
}

// checkPerfCode is checkPerfInlines with any truth.
func checkPerfCode(t *testing.T, dir, perf, file string, code inlineCode) (shown int) {
	t.Helper()
	raw, resolved := perfChains(t, dir, perf, file, "--no-inline"), perfChains(t, dir, perf, file, "--inline")
	for _, chain := range resolved {
		for _, e := range chain {
			if e.inlined && code.jitted(e.frame.Function) {
				shown++
			}
		}
	}
	checked, bad := 0, 0
	for i := range min(len(raw), len(resolved)) {
		rest := resolved[i]
		for j, e := range raw[i] {
			stack := code.stack(e.frame.Function, e.ip)
			if stack == nil { // no jitted code
				for n := 0; len(rest) > 0 && rest[0].ip == e.ip && (n == 0 || rest[0].frame.Function != e.frame.Function); n++ {
					rest = rest[1:]
				}
				continue
			}
			ok := begins(rest, stack, shown > 0)
			// A caller's address is where it goes on, behind the call that it is in.
			if before := code.stack(e.frame.Function, e.ip-1); !ok && j > 0 && before != nil {
				stack = before
				ok = begins(rest, stack, shown > 0)
			}
			if checked++; !ok {
				if bad++; bad <= 5 {
					t.Errorf("sample %d, %#x in %s is\n%v, want\n%v", i, e.ip, e.frame.Function, rest[:min(len(rest), len(stack)+1)], stack)
				}
				break
			}
			if shown > 0 {
				rest = rest[len(stack):]
			} else {
				rest = rest[1:]
			}
		}
	}
	if len(raw) != len(resolved) || checked < 10 || bad > 0 {
		t.Errorf("%d samples, %d with inlined functions; of %d jitted functions in them, %d are wrong", len(raw), len(resolved), checked, bad)
	}
	return shown
}
