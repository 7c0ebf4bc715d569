package hostile

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// What the machine does not give: room, permission, descriptors.

// mount mounts something in the stage, for as long as the test runs.
func (s *stage) mount(source, name, kind string, flags uintptr, data string) {
	s.t.Helper()
	if err := syscall.Mount(source, s.path(name), kind, flags, data); err != nil {
		testrec.Skip(s.t, "nothing can be mounted here: %v", err)
	}
	s.t.Cleanup(func() { syscall.Unmount(s.path(name), syscall.MNT_DETACH) })
}

// small mounts a disk of the given size.
func (s *stage) small(name, size string) {
	s.t.Helper()
	s.must(os.Mkdir(s.path(name), 0o755))
	s.mount("none", name, "tmpfs", 0, "size="+size)
}

// No room for the output: the one of before stays, and there are no objects that
// nothing refers to.
func TestLimits_DiskFullForOutput(t *testing.T) {
	s := newStage(t, 200)
	s.small("disk", "12k")
	s.put("disk/out.data", precious)
	before := s.list()
	s.run("-i", "perf.data", "-o", "disk/out.data").wants(notWritten, "disk/out.data", "no space left on device", "-o")
	s.untouched(before)
	s.run("-i", "perf.data", "-o", "disk/out.data", "--objects", "disk").wants(notWritten, "no space left on device")
	s.untouched(before)
}

// No room for some of the objects: the others are used, and one sentence counts those
// that are missing. With room, the next run makes them.
func TestLimits_DiskFullForObjects(t *testing.T) {
	for _, args := range [][]string{{}, {"--bundle"}} {
		s := newStage(t, 1200)
		s.small("disk", "64k")
		s.put("disk/jitted-4711-900.so", precious)
		s.inject(append(args, "--objects", "disk")...).wants(incomplete, ": no space left on device; make room, or name another directory with --objects")
		if n := len(s.objectNames("out.data")); n == 0 || n > 100 {
			t.Errorf("%d objects are mapped", n)
		}
		s.shows("out.data", 0)
		if s.read("disk/jitted-4711-900.so") != precious {
			t.Error("there was no room for a file, and the old one is gone")
		}
		if entries, err := os.ReadDir(s.path("disk")); err != nil || strings.Contains(fmt.Sprint(entries), ".partial") {
			t.Errorf("there are %v, %v", entries, err)
		}
		s.must(syscall.Mount("none", s.path("disk"), "tmpfs", syscall.MS_REMOUNT, "size=16m"))
		s.inject(append(args, "--objects", "disk")...).wants(allInjected)
		s.shows("out.data", 1200)
	}
}

func TestLimits_DevFull(t *testing.T) {
	s := newStage(t, 3)
	before := s.list()
	s.run("-i", "perf.data", "-o", "/dev/full").wants(notWritten, "/dev/full", "no space left on device")
	s.untouched(before)
	s.runVia([]string{"sh", "-c", `exec "$@" >/dev/full`, "sh"}, "-i", "perf.data", "-o", "-").wants(notWritten, "no space left on device")
	s.untouched(before)

	// The summary has nowhere to go, but the result is there.
	s.runVia([]string{"sh", "-c", `exec "$@" >/dev/full`, "sh"}, "-i", "perf.data", "-o", "out.data", "--summary", "json").wants(incomplete, "the summary could not be written")
	s.shows("out.data", 3)
	s.runVia([]string{"sh", "-c", `exec "$@" 2>/dev/full`, "sh"}, "-i", "perf.data", "-o", "out.data").wants(allInjected)
	s.shows("out.data", 3)
}

// A limit of the size of files is an error of writing, and no signal that ends us.
func TestLimits_FileSize(t *testing.T) {
	s := newStage(t, 200)
	s.put("out.data", precious)
	before := s.list()
	limited := []string{"sh", "-c", `ulimit -f 8 && exec "$@"`, "sh"} // 4 KiB or 8
	s.runVia(limited, "-i", "perf.data", "-o", "out.data").wants(notWritten, "out.data", "file too large")
	s.untouched(before)
}

// A folder that may only be read, also by root.
func TestLimits_ReadOnlyFolder(t *testing.T) {
	s := newStage(t, 3)
	s.must(os.Mkdir(s.path("ro"), 0o755))
	inside := &stage{t, s.path("ro")}
	inside.functions(3)
	inside.put("out.data", precious)
	s.mount(s.path("ro"), "ro", "", syscall.MS_BIND, "")
	s.must(syscall.Mount("none", s.path("ro"), "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
	before := s.list()
	s.run("-i", "perf.data", "-o", "ro/out.data").wants(notWritten, "ro/out.data", "read-only file system", "-o")
	s.run("-i", "perf.data", "-o", "out.data", "--objects", "ro").wants(notWritten, "ro", "read-only file system", "--objects")
	s.run("-i", "perf.data", "-o", "out.data", "--sources", "ro/sources").wants(notWritten, "ro/sources", "read-only file system", "--sources")
	s.untouched(before)
	s.run("-i", "ro/perf.data", "-o", "out.data").wants(incomplete, "ro", "read-only file system", "left out", "--objects")
	s.shows("out.data", 0)
	s.must(os.Remove(s.path("out.data")))
	s.untouched(before)
	s.run("-i", "ro/perf.data", "-o", "out.data", "--objects", "objects").wants(allInjected)
	s.shows("out.data", 3)
	s.run("-i", "out.data", "-o", "again.data").wants(allInjected, "it is the result of an earlier run")
}

// A folder of somebody else.
func TestLimits_FolderOfOther(t *testing.T) {
	root(t)
	s := newStage(t, 3)
	s.must(os.Mkdir(s.path("mine"), 0o777))
	s.chown(nobody, "mine", "perf.data")
	s.must(os.Chmod(s.path("mine"), 0o700))
	before := s.list()
	s.as(nobody, "-i", "perf.data", "-o", "out.data").wants(notWritten, "out.data", "permission denied", "-o")
	s.as(nobody, "-i", "perf.data", "-o", "mine/out.data").wants(incomplete, "permission denied", "left out", "--objects")
	s.shows("mine/out.data", 0)
	s.must(os.Remove(s.path("mine/out.data")))
	s.untouched(before)
	s.as(nobody, "-i", "perf.data", "-o", "mine/out.data", "--objects", "mine").wants(allInjected)
	s.shows("mine/out.data", 3)
	if s.as(nobody, "clean", "perf.data").code != allInjected {
		t.Error("there is nothing to clean, and that is an error")
	}
}

// With so few descriptors that something cannot be opened: whatever it is, there is a
// sentence, or the whole result.
func TestLimits_FewDescriptors(t *testing.T) {
	s := newStage(t, 200)
	failed, worked := 0, 0
	for n := 4; n < 32; n++ {
		s.put("out.data", precious)
		before := s.list()
		limited := []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, n), "sh"}
		r := s.runVia(limited, "-i", "perf.data", "-o", "out.data", "--objects", "objects")
		switch {
		case r.code == allInjected:
			worked++
			s.shows("out.data", 200)
		case r.code == incomplete:
			r.wants(incomplete, "too many open files", "objects could not be made", "ulimit -n")
			s.shows("out.data", 0)
		default:
			failed++
			r.wants(notWritten, "too many open files", "ulimit -n")
			s.untouched(before)
		}
		for name := range s.list() {
			if partial.MatchString(name) {
				t.Errorf("with %d descriptors, %s is left", n, name)
			}
		}
		s.must(os.RemoveAll(s.path("objects")))
		os.Remove(s.path("out.data.old"))
	}
	if failed == 0 || worked == 0 {
		t.Errorf("%d runs failed and %d worked: the limits are not well chosen", failed, worked)
	}
}

// The soft limit of CPU time. At the hard limit, the kernel kills.
func TestLimits_CPUTime(t *testing.T) {
	prlimit := testrec.Tool(t, "prlimit")
	for n := uint32(100000); ; n *= 2 { // until a run takes more than a second
		s := newStage(t, 3)
		r := testrec.NewRecording()
		r.Comm(pid, 900, "prog", true)
		r.Marker(pid, 1000, s.path(dumpName))
		for i := range n {
			r.Fork(10000+i, pid, 2000+uint64(i))
		}
		r.Write(t, s.path("perf.data"))
		before := s.list()
		result := s.runVia([]string{prlimit, "--cpu=1:60"}, "-q", "-i", "perf.data", "-o", "out.data", "--objects", "objects", "--no-sync")
		if n < 2000000 && (result.code == allInjected || strings.Contains(result.stderr, "the result is complete")) {
			continue // the limit came too late
		}
		result.wants(notWritten, "the limit of CPU time is reached; raise it (ulimit -t)\n", "interrupted; nothing was written")
		s.untouched(before)
		break
	}
}
