package engine_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Dumps that change while they are read: the producer still writes, or someone
// cleans up. Whatever is said in the end is true: either an error, or an output
// whose objects are all there, and whole.
func TestDump_ChangesWhileRead(t *testing.T) {
	var loads []timed
	for i := range uint64(150) {
		loads = append(loads, load(2000+i, 100, i, 0x10000+2048*i, fmt.Sprintf("function%d", i), code(2048, byte(i))))
	}
	whole := dumpBytes(t, x86(100), loads...)
	other := dumpBytes(t, x86(100), load(2000, 100, 1, 0x10000, "stranger", code(4096, 1)), load(2001, 100, 2, 0x20000, "alien", code(64, 9)))
	truncate := func(path string, size int64) { _ = os.Truncate(path, size) }
	append_ := func(path string, b []byte) {
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644); err == nil {
			f.Write(b)
			f.Close()
		}
	}
	replace := func(path string, b []byte) {
		if os.WriteFile(path+".new", b, 0o644) == nil {
			os.Rename(path+".new", path)
		}
	}
	for name, change := range map[string]func(path string, rnd *rand.Rand){
		"grows": func(path string, rnd *rand.Rand) {
			if st, err := os.Stat(path); err != nil || st.Size() >= int64(len(whole)) {
				replace(path, whole[:40+rnd.IntN(100)])
			} else {
				append_(path, whole[st.Size():min(int(st.Size())+1+rnd.IntN(20000), len(whole))])
			}
		},
		"shrinks": func(path string, rnd *rand.Rand) {
			if st, err := os.Stat(path); err != nil || st.Size() < 1000 {
				replace(path, whole)
			} else {
				truncate(path, st.Size()-rnd.Int64N(st.Size()))
			}
		},
		"vanishes": func(path string, rnd *rand.Rand) {
			if os.Remove(path) != nil {
				replace(path, whole)
			}
		},
		"is replaced": func(path string, rnd *rand.Rand) {
			replace(path, [][]byte{whole, other, whole[:len(whole)/2], []byte("garbage")}[rnd.IntN(4)])
		},
		"is overwritten": func(path string, rnd *rand.Rand) {
			if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644); err == nil {
				b := [][]byte{whole, other}[rnd.IntN(2)]
				at := rnd.IntN(len(b))
				f.WriteAt(b[at:], int64(at))
				f.Close()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.mark(100, 1000, "jit-100.dump")
			for i := range uint64(100) {
				w.Sample(100, 2000+i, 0x10000+2048*i)
			}
			w.Write(t, w.opts.Input)
			path := w.path("jit-100.dump")
			put(t, path, whole)
			w.opts.Objects = w.path("objects")
			w.opts.Jobs = 2

			stop := make(chan bool)
			var changing sync.WaitGroup
			changing.Add(1)
			go func() {
				defer changing.Done()
				for rnd := rand.New(rand.NewPCG(7, 8)); ; {
					select {
					case <-stop:
						return
					case <-time.After(time.Duration(rnd.IntN(4000)) * time.Microsecond):
						change(path, rnd)
					}
				}
			}()
			worked, failed := 0, 0
			for end := time.Now().Add(time.Duration(testrec.Rounds(800, 200)) * time.Millisecond); time.Now().Before(end) || worked+failed < 5; {
				os.Remove(w.opts.Output)
				sum, err := engine.Run(t.Context(), w.opts)
				if err != nil {
					failed++
					if !strings.Contains(err.Error(), "jit-100.dump") {
						t.Errorf("the error does not name the dump: %v", err)
					}
					if _, err := os.Stat(w.opts.Output); err == nil {
						t.Error("there is an error and an output")
					}
					continue
				}
				worked++
				for _, p := range sum.Problems {
					if !strings.Contains(p.String(), "jit-100.dump") {
						t.Errorf("the problem does not name the dump: %v", p)
					}
				}
				checkReferences(t, w)
			}
			close(stop)
			changing.Wait()
			t.Logf("%d runs worked, %d failed", worked, failed)
			if worked > 0 {
				put(t, path, whole)
				if _, err := engine.Run(t.Context(), w.opts); err != nil {
					t.Error(err)
				}
				testrec.Run(t, w.dir, testrec.Tool(t, "perf"), "script", "-F", "ip,sym", "-i", w.opts.Output)
			}
		})
	}
}

// checkReferences wants every object that an output names to be there, with the
// build id that the output gives and code that fills the mapping.
func checkReferences(t *testing.T, w *world) {
	t.Helper()
	eachRecord(t, w.opts.Output, func(ls *perfdata.Layouts, rec perfdata.Record) {
		if rec.Type != perfdata.RecordMmap2 {
			return
		}
		m, err := ls.Mmap(rec)
		if err != nil || !strings.HasPrefix(filepath.Base(string(m.Filename)), "jitted-") {
			return
		}
		f, err := elf.Open(string(m.Filename))
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		text, note := f.Section(".text"), f.Section(".note.gnu.build-id")
		if text == nil || note == nil {
			t.Errorf("%s: sections are missing", m.Filename)
			return
		}
		if id, err := note.Data(); err != nil || !bytes.HasSuffix(id, m.BuildID) {
			t.Errorf("%s: the build id is % x, in the output % x", m.Filename, id, m.BuildID)
		}
		if m.Len < text.Size {
			t.Errorf("%s: a mapping of %d bytes for %d bytes of code", m.Filename, m.Len, text.Size)
		}
	})
}
