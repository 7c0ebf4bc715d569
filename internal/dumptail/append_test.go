package dumptail

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// ptrace makes a call of ptrace(2).
func ptrace(request, pid int, data uintptr) error {
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(pid), 0, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// endWith sends a signal to a process, and calls stopped when it is at its exit stop. It returns when the
// process has ended, which must be by that signal.
func endWith(t *testing.T, pid int, signal unix.Signal, stopped func()) {
	t.Helper()
	runtime.LockOSThread() // all calls of ptrace come from one thread
	defer runtime.UnlockOSThread()
	if err := ptrace(unix.PTRACE_SEIZE, pid, unix.PTRACE_O_TRACEEXIT); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
	stops := 0
	for {
		var status unix.WaitStatus
		if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
			t.Fatal(err)
		}
		if !status.Stopped() {
			if status.Signal() != signal || stops != 1 {
				t.Errorf("got status %#x after %d exit stops; want that of %v after one", status, stops, signal)
			}
			return
		}
		deliver := uintptr(status.StopSignal())
		if status.TrapCause() == unix.PTRACE_EVENT_EXIT {
			deliver = 0
			stops++
			stopped()
		}
		if err := ptrace(unix.PTRACE_CONT, pid, deliver); err != nil {
			t.Fatal(err)
		}
	}
}

var endings = []unix.Signal{unix.SIGKILL, unix.SIGTERM, unix.SIGINT}

// At its exit stop, a process has its memory and its descriptors, even after SIGKILL.
func TestAppend_ExitStop(t *testing.T) {
	program := compile(t, gcc)
	for _, signal := range endings {
		w := startWriter(t, program, "stdio")
		w.do("w100")
		endWith(t, int(w.pid()), signal, func() {
			before := len(w.read())
			if n, err := w.dump().Append(); n == 0 || err != nil || len(w.read()) != before+n {
				t.Errorf("got %d bytes, %v after %v, %d after %d; want some", n, err, signal, len(w.read()), before)
			}
		})
		if n, whole := loads(t, w.read()); n != 100 || !whole {
			t.Errorf("got %d functions after %v, whole: %v; want 100", n, signal, whole)
		}
	}
}

// Node has threads, and they compile while the signal comes.
func TestAppend_NodeAtExitStop(t *testing.T) {
	for _, signal := range endings {
		pid, dir := startNode(t, "for (let i = 0;; i++) { const f = make(i); for (let k = 0; k < 30; k++) sum += f(500); }")
		path := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", pid))
		endWith(t, pid, signal, func() {
			dumps, err := Dumps(uint32(pid))
			if err != nil || len(dumps) != 1 || dumps[0].Path != path {
				t.Fatalf("got dumps %+v, %v; want %s", dumps, err, path)
			}
			if _, err := dumps[0].Append(); err != nil {
				t.Errorf("got error %v after %v; want none", err, signal)
			}
		})
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// The signal may come in the middle of a record. Its beginning is then the end of the dump.
		if end := endingOf(bytes.NewReader(b), int64(len(b))); end == endsUnknown || !fits(nil, b) {
			t.Errorf("got %d bytes with ending %d after %v; want whole records", len(b), end, signal)
		}
	}
}

// A copy replaces a file, and without a tail it says why.
func TestCopy_WithoutTail(t *testing.T) {
	w := startWriter(t, compile(t, gcc), "write")
	w.do("w10")
	w.do("p8")
	dir := t.TempDir()
	path := filepath.Join(dir, "copy.dump")
	if err := os.WriteFile(path, []byte("an earlier one"), 0o600); err != nil {
		t.Fatal(err)
	}
	copied, err := w.dump().Copy(path)
	want := w.read()
	if err != nil || copied.Missing != errNoBuffer || copied.Tail != 0 || copied.Disk != int64(len(want)) {
		t.Errorf("got %+v, %v; want %d bytes, and %v", copied, err, len(want), errNoBuffer)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("got %d bytes, %v; want the %d of the dump", len(got), err, len(want))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v; want only the copy", entries, err)
	}
	if _, err := w.dump().Copy(filepath.Join(dir, "none", "copy.dump")); err == nil {
		t.Error("got no error for a directory that does not exist; want one")
	}
}
