package hostile

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
)

// What is no regular file, in the place of one.

// kinds make something at a path.
var kinds = map[string]func(s *stage, name string) error{
	"directory": func(s *stage, name string) error { return os.Mkdir(s.path(name), 0o755) },
	"fifo":      func(s *stage, name string) error { return syscall.Mkfifo(s.path(name), 0o644) },
	"socket": func(s *stage, name string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.path(name)})
		if err == nil {
			l.SetUnlinkOnClose(false)
			err = l.Close()
		}
		return err
	},
	"zero":     func(s *stage, name string) error { return device(s, name, 1, 5) },
	"terminal": func(s *stage, name string) error { return device(s, name, 5, 0) },
	"link":     func(s *stage, name string) error { return os.Symlink("/dev/zero", s.path(name)) },
	"loop":     func(s *stage, name string) error { return os.Symlink(name, s.path(name)) },
	"proc":     func(s *stage, name string) error { return os.Symlink("/proc/self/mem", s.path(name)) },
}

// device makes a character device, which takes root.
func device(s *stage, name string, major, minor int) error {
	if os.Geteuid() != 0 {
		return syscall.Mkfifo(s.path(name), 0o644)
	}
	return syscall.Mknod(s.path(name), syscall.S_IFCHR|0o644, major<<8|minor)
}

// become puts something else into the place of a file.
func (s *stage) become(kind, name string) {
	s.t.Helper()
	s.must(os.RemoveAll(s.path(name)))
	s.must(kinds[kind](s, name))
}

func TestKinds_Dump(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := newStage(t, 3)
			s.become(kind, dumpName)
			before := s.list()
			s.inject().wants(notWritten, dumpName, "cannot use its dump", "no output was written")
			s.untouched(before)
			s.inject("--dump", fmt.Sprintf("%d=%s", pid, dumpName)).wants(notWritten, dumpName)
			s.untouched(before)
		})
	}
}

func TestKinds_Recording(t *testing.T) {
	for kind := range kinds {
		if kind == "fifo" { // is a recording that comes by, for which one waits
			continue
		}
		t.Run(kind, func(t *testing.T) {
			s := newStage(t, 3)
			s.become(kind, "perf.data")
			before := s.list()
			s.inject().wants(notWritten, "perf.data")
			s.run("clean", "perf.data").wants(notWritten, "perf.data")
			s.untouched(before)
		})
	}
}

// Objects are replaced; only a directory stays, and is told of.
func TestKinds_Objects(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := newStage(t, 3)
			object := fmt.Sprintf("jitted-%d-1.so", pid)
			s.become(kind, object)
			if kind != "directory" {
				s.inject().wants(allInjected, "1 object was replaced, as the contents differed")
				s.shows("out.data", 3)
				s.become(kind, object)
				s.run("clean", "out.data").wants(incomplete, object, "left alone")
				return
			}
			s.put(object+"/precious", precious)
			s.inject().wants(incomplete, "1 objects could not be made: jitted-4711-1.so: ", "directory")
			if n := s.shows("out.data", 1); n != 2 || s.read(object+"/precious") != precious {
				t.Errorf("%d objects are mapped", n)
			}
			s.run("clean", "out.data").wants(allInjected)
			s.read(object + "/precious")
		})
	}
}

// Directories for objects and sources.
func TestKinds_Directories(t *testing.T) {
	for kind := range kinds {
		if kind == "directory" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			s := newStage(t, 3)
			s.become(kind, "dir")
			before := s.list()
			s.inject("--objects", "dir").wants(notWritten, "dir", "cannot write objects there", "--objects")
			s.inject("--sources", "dir").wants(notWritten, "dir", "cannot write source files there", "--sources")
			s.inject("--dump-dir", "dir").wants(notWritten, "dir", map[bool]string{true: "too many levels of symbolic links", false: "there is no such directory"}[kind == "loop"])
			s.inject("--objects", "dir/below").wants(notWritten, "dir", "--objects")
			s.untouched(before)
		})
	}
}

// Outputs: a link is replaced, a device is written to as it is.
func TestKinds_Output(t *testing.T) {
	for kind, word := range map[string]string{"directory": "is a directory", "socket": "is a socket", "loop": "too many levels of symbolic links"} {
		s := newStage(t, 3)
		s.become(kind, "out.data")
		before := s.list()
		s.inject().wants(notWritten, "out.data", word, "-o")
		s.untouched(before)
	}
	s := newStage(t, 3)
	s.inject().wants(allInjected)
	was := s.read("out.data")
	s.become("directory", "out.data.old")
	s.put("out.data.old/precious", precious)
	before := s.list()
	s.inject().wants(notWritten, "out.data.old", "is a directory", "-o")
	s.untouched(before)
	for _, kind := range []string{"fifo", "socket", "link"} { // in the place of what is given up anyway
		s.become(kind, "out.data.old")
		s.inject().wants(allInjected)
		if s.read("out.data.old") != was {
			t.Errorf("%s: what was there is not kept", kind)
		}
	}
}

// perf's configuration is a file of at most 1 MB.
func TestKinds_Configuration(t *testing.T) {
	for kind := range kinds {
		if kind == "terminal" || kind == "fifo" { // they are empty
			continue
		}
		t.Run(kind, func(t *testing.T) {
			s := newStage(t, 3)
			s.become(kind, "perfconfig")
			s.runVia([]string{"env", "-u", "PERF_BUILDID_DIR", "PERF_CONFIG=" + s.path("perfconfig")}, "-i", "perf.data", "-o", "out.data", "--buildid-cache").wants(notWritten, "perfconfig")
		})
	}
}
