package attribution_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/attribution"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A listedDump is a dump of process 100 with nothing but events.
type listedDump struct {
	source.Dump
	events []jitcode.Event
}

func (d *listedDump) Scanned() *source.Listing { return &source.Listing{Events: d.events, Cut: -1} }
func (d *listedDump) PID() uint32              { return 100 }

// survey reads a recording that was made by hand.
func survey(t *testing.T, r *testrec.Recording) *recording.Recording {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	r.Write(t, path)
	in, err := recording.Open(&config.Options{Input: path})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rec, err := recording.Survey(context.Background(), in, false)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// of returns the attribution of events in a recording.
func of(rec *recording.Recording, events []jitcode.Event) *attribution.Attribution {
	d := &model.Dump{PID: 100, Source: &listedDump{events: events}, Markers: rec.Markers, Clock: func(time uint64) uint64 { return time }}
	return attribution.New(rec, d, attribution.NewSharing(recording.NewSharedMemory(recording.NewFileHistories(rec)), nil))
}

// sharedWith returns the processes that have an event's code, with the times from which.
func sharedWith(a *attribution.Attribution, e *jitcode.Event) (all []string) {
	a.Share(e, func(pid, tid uint32, time uint64) { all = append(all, fmt.Sprintf("%d/%d@%d", pid, tid, time)) })
	slices.Sort(all)
	return all
}

// Each rule once: who has the code that process 101, a worker of 100, made at 3000.
func TestShare_Rules(t *testing.T) {
	const addr, start, length, inode = 0x10040, 0x10000, 0x4000, 9
	for _, c := range []struct {
		name string
		more func(r *testrec.Recording)
		want []string
	}{
		{"the server and its other workers", func(r *testrec.Recording) { r.Fork(102, 100, 2000) }, []string{"100/100@3000", "101/1101@3000", "102/102@3000"}},
		{"a worker that is forked later inherits it", func(r *testrec.Recording) { r.Fork(102, 100, 4000) }, []string{"100/100@3000", "101/1101@3000"}},
		{"a worker that has ended", func(r *testrec.Recording) { r.Fork(102, 100, 2000); r.Exit(102, 102, 2500) }, []string{"100/100@3000", "101/1101@3000"}},
		{"a worker that runs another program", func(r *testrec.Recording) { r.Fork(102, 100, 2000); r.Comm(102, 2500, "other", true) }, []string{"100/100@3000", "101/1101@3000"}},
		{"another file came over it", func(r *testrec.Recording) {
			r.Fork(102, 100, 2000)
			r.FileMmap2(102, 2500, start, length, 0, "/usr/lib/x.so", 5)
		}, []string{"100/100@3000", "101/1101@3000"}},
		{"a worker of the worker", func(r *testrec.Recording) { r.Fork(103, 101, 2000) }, []string{"100/100@3000", "101/1101@3000", "103/103@3000"}},
		{"an unrelated process maps it", func(r *testrec.Recording) { r.SharedMmap2(200, 2500, start, length, 0, inode) }, []string{"100/100@3000", "101/1101@3000", "200/200@3000"}},
		{"it maps it later", func(r *testrec.Recording) { r.SharedMmap2(200, 5000, start, length, 0, inode) }, []string{"100/100@3000", "101/1101@3000", "200/200@5001"}},
		{"it maps another part", func(r *testrec.Recording) {
			r.SharedMmap2(200, 2500, start+length, length, length, inode)
		}, []string{"100/100@3000", "101/1101@3000"}},
		{"it maps it elsewhere", func(r *testrec.Recording) { r.SharedMmap2(200, 2500, start, length, 0x1000, inode) }, []string{"100/100@3000", "101/1101@3000"}},
		{"it maps something else there", func(r *testrec.Recording) { r.SharedMmap2(200, 2500, start, length, 0, inode+1) }, []string{"100/100@3000", "101/1101@3000"}},
		{"it has a private copy", func(r *testrec.Recording) {
			r.FileMmap2(200, 2500, start, length, 0, "/dev/zero (deleted)", inode)
		}, []string{"100/100@3000", "101/1101@3000"}},
		{"the worker has memory of its own there", func(r *testrec.Recording) {
			r.Fork(102, 100, 2000)
			r.Mmap2(101, 2500, start, length, 0, "//anon")
		}, []string{"101/1101@3000"}},
	} {
		r := testrec.NewRecording()
		r.Comm(100, 900, "server", true)
		r.Marker(100, 1000, "/tmp/jit-100.dump")
		r.SharedMmap2(100, 1100, start, length, 0, inode)
		r.Fork(101, 100, 1900)
		c.more(r)
		r.Sample(100, 6000, addr)
		events := []jitcode.Event{{Kind: jitcode.Load, Time: 3000, PID: 101, TID: 1101, Addr: addr, Size: 64}}
		if got := sharedWith(of(survey(t, r), events), &events[0]); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// In any history of forks, execs, ends and mappings, a process has exactly the functions of the memory
// that it shares at the time, counting those that perf lets it inherit.
func TestShare_LikeSimulation(t *testing.T) {
	const addr, start, length = 0x10040, 0x10000, 0x4000
	given := 0
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		r := testrec.NewRecording()
		r.Comm(100, 5, "server", true)
		r.Marker(100, 6, "/tmp/jit-100.dump")
		type change struct {
			time        uint64
			what        string
			pid, parent uint32
			inode       int
		}
		var changes []change
		var events []jitcode.Event
		alive := []uint32{100, 101} // 101 comes from elsewhere
		r.SharedMmap2(100, 20, start, length, 0, 1)
		changes = append(changes, change{20, "map", 100, 0, 1}, change{30, "load", 100, 0, 0})
		events = append(events, jitcode.Event{Kind: jitcode.Load, Time: 30, PID: 100, TID: 100, Addr: addr, Size: 64})
		r.Comm(101, 5, "other", true)
		now := map[uint32]int{100: 1}
		for step := range 40 {
			time, at := uint64(100*(step+1)), rnd.IntN(len(alive))
			pid := alive[at]
			switch rnd.IntN(8) {
			case 0, 1: // map
				inode := 1 + rnd.IntN(3)
				now[pid] = inode
				r.SharedMmap2(pid, time, start, length, 0, uint64(inode))
				changes = append(changes, change{time, "map", pid, 0, inode})
			case 2, 3: // fork
				child := uint32(102 + step)
				alive = append(alive, child)
				now[child] = now[pid]
				r.Fork(child, pid, time)
				changes = append(changes, change{time, "fork", child, pid, 0})
			case 4:
				if rnd.IntN(2) == 0 && pid != 100 && len(alive) > 2 {
					alive = slices.Delete(alive, at, at+1)
					r.Exit(pid, pid, time)
					changes = append(changes, change{time, "exit", pid, 0, 0})
				}
			default: // load
				if now[pid] > 0 {
					changes = append(changes, change{time, "load", pid, 0, len(events)})
					events = append(events, jitcode.Event{Kind: jitcode.Load, Function: int32(len(events)), Time: time, PID: pid, TID: pid, Addr: addr, Size: 64})
				}
			}
		}
		r.Sample(100, 9000, addr)
		a := of(survey(t, r), events)
		type gift struct {
			pid      uint32
			function int
		}
		gifts := make(map[uint64][]gift)
		owned := make([]bool, len(events))
		for i := range events {
			a.Share(&events[i], func(pid, _ uint32, time uint64) {
				owned[i] = true
				gifts[time] = append(gifts[time], gift{pid, i})
				given++
			})
		}
		// Replay: the latest function in each process is the latest of its memory.
		file, latest, shown := make(map[uint32]int), make(map[int]int), make(map[uint32]int)
		for i := range 100 * 42 {
			time := uint64(i)
			for _, c := range changes {
				if c.time != time {
					continue
				}
				switch c.what {
				case "map":
					if file[c.pid] != c.inode {
						file[c.pid], shown[c.pid] = c.inode, -1
					}
				case "fork":
					file[c.pid], shown[c.pid] = file[c.parent], shown[c.parent]
				case "exit":
					delete(file, c.pid)
				case "load":
					if owned[c.inode] {
						latest[file[c.pid]] = c.inode + 1
					}
				}
			}
			for _, g := range gifts[time] {
				if file[g.pid] == 0 {
					t.Fatalf("seed %d: at %d, function %d is given to process %d, which has no shared memory", seed, time, g.function, g.pid)
				}
				shown[g.pid] = g.function
			}
			if time%100 != 1 { // a function comes right after the mapping
				continue
			}
			for pid, inode := range file {
				if inode > 0 && latest[inode] > 0 && shown[pid] != latest[inode]-1 {
					t.Fatalf("seed %d: at %d, process %d has function %d of memory %d; want %d", seed, time, pid, shown[pid], inode, latest[inode]-1)
				}
			}
		}
	}
	if given < 2000 {
		t.Errorf("only %d functions were given to processes: the histories show too little", given)
	}
}
