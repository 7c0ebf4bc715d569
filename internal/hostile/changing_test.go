package hostile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Files that change under our feet. Whatever a run says in the end is true: an error
// and the output of before, or a result whose objects are all there and right.

// changes are what may happen to a file.
var changes = map[string]func(s *stage, name string, rnd *rand.Rand){
	"is cut": func(s *stage, name string, rnd *rand.Rand) {
		if st, err := os.Stat(s.path(name)); err == nil {
			os.Truncate(s.path(name), rnd.Int64N(st.Size()))
		}
	},
	"is emptied": func(s *stage, name string, rnd *rand.Rand) { os.Truncate(s.path(name), 0) },
	"is removed": func(s *stage, name string, rnd *rand.Rand) { os.Remove(s.path(name)) },
	"is replaced": func(s *stage, name string, rnd *rand.Rand) {
		os.WriteFile(s.path("new"), []byte(precious), 0o644)
		os.Rename(s.path("new"), s.path(name))
	},
	"is overwritten": func(s *stage, name string, rnd *rand.Rand) {
		if f, err := os.OpenFile(s.path(name), os.O_WRONLY, 0); err == nil {
			noise := make([]byte, 4096)
			for i := range noise {
				noise[i] = byte(rnd.Uint32())
			}
			if st, err := f.Stat(); err == nil {
				f.WriteAt(noise, rnd.Int64N(max(st.Size()-4096, 1)))
			}
			f.Close()
		}
	},
	"grows": func(s *stage, name string, rnd *rand.Rand) {
		if f, err := os.OpenFile(s.path(name), os.O_WRONLY|os.O_APPEND, 0); err == nil {
			for range 100 {
				f.Write(make([]byte, 4096))
			}
			f.Close()
		}
	},
	"becomes a link": func(s *stage, name string, rnd *rand.Rand) {
		os.Remove(s.path(name))
		os.Symlink(s.path("victim"), s.path(name))
	},
}

func TestFiles_ChangeDuringRun(t *testing.T) {
	const functions = 300
	good := newStage(t, functions)
	start := time.Now()
	good.inject("--objects", "objects").wants(allInjected)
	takes := time.Since(start)
	for _, name := range []string{dumpName, "perf.data", "objects/jitted-4711-200.so"} {
		for what, change := range changes {
			t.Run(strings.TrimSuffix(name, ".so")+" "+what, func(t *testing.T) {
				t.Parallel()
				rnd := rand.New(rand.NewPCG(uint64(len(name)), uint64(len(what))))
				for i := range testrec.Rounds(4, 2) {
					s := newStage(t, functions)
					s.victim()
					s.put("out.data", precious)
					if strings.HasPrefix(name, "objects") {
						s.run("-i", "perf.data", "-o", "first.data", "--objects", "objects").wants(allInjected)
					}
					args := []string{"--objects", "objects"}
					if i%2 == 1 {
						args = append(args, "--bundle")
					}
					done := make(chan bool)
					time.AfterFunc(time.Duration(rnd.Int64N(int64(takes))), func() {
						change(s, name, rnd)
						close(done)
					})
					r := s.inject(args...)
					<-done
					s.spared()
					if r.code != notWritten {
						if s.read("out.data.old") != precious {
							t.Error("the output of before is gone")
						}
						s.unlessOurs(name, r, functions)
						continue
					}
					if s.read("out.data") != precious {
						t.Error("there is an error, and the output of before is gone")
					}
					if !strings.Contains(r.stderr, "perf.data") && !strings.Contains(r.stderr, "dump") {
						t.Errorf("it only says %q", r.stderr)
					}
				}
			})
		}
	}
}

// unlessOurs checks a result, unless it is an object of it that was changed, perhaps
// when the run was over.
func (s *stage) unlessOurs(name string, r *result, functions int) {
	s.t.Helper()
	if strings.HasPrefix(name, "objects") {
		return
	}
	if r.code != allInjected {
		functions = 0
	}
	s.present("out.data", functions)
}

// present wants the objects of a result to be there; some may be of functions that are
// not those of the dump any more.
func (s *stage) present(output string, functions int) {
	s.t.Helper()
	names := s.objectNames(output)
	for _, name := range names {
		if st, err := os.Lstat(name); err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
			s.t.Errorf("%s: got %v, %v; want no error, Mode().IsRegular(), Size() other than 0", name, st, err)
		}
	}
	if functions > 0 && len(names) == 0 {
		s.t.Error("all is injected, and no object is mapped")
	}
}

// An object that was changed while or after it was made is made again by the next run.
func TestFiles_ObjectChangedLater(t *testing.T) {
	s := newStage(t, 1100)
	s.inject().wants(allInjected)
	rnd := rand.New(rand.NewPCG(5, 6))
	for what, change := range changes {
		s.victim()
		name := fmt.Sprintf("jitted-%d-%d.so", pid, rnd.IntN(1100))
		change(s, name, rnd)
		if r := s.inject(); r.code != allInjected {
			t.Errorf("an object %s: %s", what, r.stderr)
		}
		s.spared()
		s.shows("out.data", 1100)
	}
}
