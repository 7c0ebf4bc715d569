package jvmti_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

type postedFrame struct{ method, bci int }

type postedPlace struct {
	end    int
	frames []postedFrame // innermost first
}

// A posted is a compiled method that was posted to the agent.
type posted struct {
	addr, size uint64
	outer      int
	places     []postedPlace // their ends lie in the code and are sorted
	facts      facts
}

// facts are what a VM says of methods.
type facts interface {
	name(m int) string
	file(m int) string
	line(m, bci int) uint32
}

// fakeFacts are fakevm's.
type fakeFacts struct{}

func (fakeFacts) name(m int) string      { return fakeName(m) }
func (fakeFacts) file(m int) string      { return fakeFile(m) }
func (fakeFacts) line(m, bci int) uint32 { return fakeLine(m, bci) }

func fakeName(m int) string {
	if m >= 55 {
		return "[unloaded]"
	}
	return fmt.Sprintf("p%d.C%d.m%d()V", m%7, m, m)
}

func fakeFile(m int) string {
	switch {
	case m >= 55:
		return "[unloaded]"
	case m%13 == 0:
		return fmt.Sprintf("p%d/C%d.class", m%7, m)
	}
	return fmt.Sprintf("p%d/C%d.java", m%7, m)
}

func fakeLine(m, bci int) uint32 {
	if m >= 55 || m%11 == 0 {
		return 0
	}
	return uint32(10*m + min(max(bci, 0), 39)/4 + 1)
}

// A stretch is code with one stack.
type stretch struct {
	start, end int
	stack      []frame
}

// stretches is what the dump must say of the code: a place's frames from the end
// of the place before to its own, and behind the last, its outermost frame.
func (p *posted) stretches() []stretch {
	var all []stretch
	end, behind := 0, []frame{p.frame(postedFrame{p.outer, 0}, 0)}
	for _, place := range p.places {
		if place.end <= end {
			continue // describes no code
		}
		all = append(all, stretch{end, place.end, p.at(place)})
		end, behind = place.end, all[len(all)-1].stack[:1]
	}
	if end < int(p.size) {
		all = append(all, stretch{end, int(p.size), behind})
	}
	return all
}

// at returns the frames of a place.
func (p *posted) at(place postedPlace) []frame {
	if len(place.frames) == 0 {
		return []frame{p.frame(postedFrame{p.outer, 0}, 0)}
	}
	frames := slices.Clone(place.frames)
	slices.Reverse(frames)
	if frames[0].method != p.outer {
		frames = append([]postedFrame{{p.outer, -1}}, frames...)
	}
	var stack []frame
	for _, f := range frames[:min(len(frames), 257)] {
		stack = append(stack, p.frame(f, p.facts.line(f.method, f.bci)))
	}
	return stack
}

func (p *posted) frame(f postedFrame, line uint32) frame {
	return frame{p.facts.name(f.method), p.facts.file(f.method), line}
}

func readPosted(t *testing.T, out []byte) map[uint64]*posted {
	t.Helper()
	all := make(map[uint64]*posted)
	var p *posted
	s := bufio.NewScanner(bytes.NewReader(out))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		fields := strings.Fields(s.Text())
		if fields[0] == "F" {
			p = &posted{facts: fakeFacts{}}
			if _, err := fmt.Sscanf(s.Text(), "F %x %d %d", &p.addr, &p.size, &p.outer); err != nil {
				t.Fatal(err)
			}
			all[p.addr] = p
			continue
		}
		var place postedPlace
		if _, err := fmt.Sscan(fields[1], &place.end); err != nil {
			t.Fatal(err)
		}
		for _, text := range fields[2:] {
			var f postedFrame
			if _, err := fmt.Sscanf(text, "%d:%d", &f.method, &f.bci); err != nil {
				t.Fatal(err)
			}
			place.frames = append(place.frames, f)
		}
		p.places = append(p.places, place)
	}
	for _, p := range all {
		p.sort()
	}
	return all
}

// check compares the stacks of what the dump has with those of what was posted.
func (p *posted) check(d *dumped) error {
	for _, want := range p.stretches() {
		for _, offset := range []int{want.start, want.end - 1} {
			if got := d.stack(uint32(offset)); !slices.Equal(got, want.stack) {
				return fmt.Errorf("%s +%#x:\ngot  %v\nwant %v", d.Name, offset, got, want.stack)
			}
		}
	}
	return nil
}

// sort puts the places in order.
func (p *posted) sort() {
	for i := range p.places { // of code, nothing is outside
		p.places[i].end = min(max(p.places[i].end, 0), int(p.size))
	}
	sort.SliceStable(p.places, func(i, j int) bool { return p.places[i].end < p.places[j].end })
}

// buildFakeVM compiles the agent's sources and our VM into one program.
func buildFakeVM(t *testing.T, dir, sanitizer string) string {
	t.Helper()
	exe := filepath.Join(dir, "fakevm")
	compileWithAgent(t, exe, []string{"-fsanitize=" + sanitizer, "-fno-sanitize-recover=all"}, "testdata/fakevm.c")
	return exe
}

// runFakeVM returns what was posted, by address, and what the dump has.
func runFakeVM(t *testing.T, exe, dir string, seed int, env ...string) (map[uint64]*posted, []*dumped) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(exe, fmt.Sprint(seed), "20", "4", dir)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() != 0 {
		t.Fatalf("seed %d: %v\n%s", seed, err, stderr.Bytes())
	}
	return readPosted(t, out), readDump(t, fmt.Sprintf("%s/jit-%d.dump", dir, cmd.Process.Pid))
}

// TestAgent_RandomInlineTrees posts random inline trees from a VM of our own, under the
// compiler's sanitizers, and looks at both ends of every place.
func TestAgent_RandomInlineTrees(t *testing.T) {
	for _, sanitizer := range []string{"address,undefined", "thread"} {
		t.Run(strings.ReplaceAll(sanitizer, ",", "-"), func(t *testing.T) {
			dir := t.TempDir()
			exe := buildFakeVM(t, dir, sanitizer)
			for seed := range 3 {
				all, functions := runFakeVM(t, exe, dir, seed)
				found := 0
				for _, d := range functions {
					if string(d.Name) == "stub" {
						continue
					}
					p := all[d.CodeAddr]
					if p == nil || d.CodeSize != p.size || string(d.Name) != fakeName(p.outer) || !d.debug {
						t.Fatalf("seed %d: %s %#x: posted %+v", seed, d.Name, d.CodeAddr, p)
					}
					found++
					if err := p.check(d); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
				if found != len(all) {
					t.Errorf("seed %d: %d of %d functions", seed, found, len(all))
				}
			}
		})
	}
}

// TestAgent_NeitherHotSpotNorOpenJ9 has a VM that is neither HotSpot nor OpenJ9: what compile_info points to must not
// be read, and there are lines of the compiled method only.
func TestAgent_NeitherHotSpotNorOpenJ9(t *testing.T) {
	dir := t.TempDir()
	exe := buildFakeVM(t, dir, "address,undefined")
	all, functions := runFakeVM(t, exe, dir, 1, "FAKEVM=Some Other VM")
	lines := 0
	for _, d := range functions {
		if string(d.Name) == "stub" {
			continue
		}
		if p := all[d.CodeAddr]; p == nil || string(d.Name) != fakeName(p.outer) || len(d.calls) != 0 {
			t.Errorf("%s: %d inline calls, posted %+v", d.Name, len(d.calls), p)
		}
		lines += len(d.lines)
	}
	if lines < 100 {
		t.Errorf("%d lines", lines)
	}
}
