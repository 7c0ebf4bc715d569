package dumptail

import (
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

// At its exit stop, a process has its memory and its descriptors, even after SIGKILL.
func TestAppend_ExitStop(t *testing.T) {
	runtime.LockOSThread() // all calls of ptrace come from one thread
	defer runtime.UnlockOSThread()
	program := compile(t, gcc)
	for _, signal := range []unix.Signal{unix.SIGKILL, unix.SIGTERM, unix.SIGINT} {
		w := startWriter(t, program, "stdio")
		w.do("w100")
		pid := int(w.pid())
		if err := ptrace(unix.PTRACE_SEIZE, pid, unix.PTRACE_O_TRACEEXIT); err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
		stopped := false
		for {
			var status unix.WaitStatus
			if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
				t.Fatal(err)
			}
			if !status.Stopped() {
				if status.Signal() != signal {
					t.Errorf("got status %#x; want that of %v", status, signal)
				}
				break
			}
			deliver := uintptr(status.StopSignal())
			if status.TrapCause() == unix.PTRACE_EVENT_EXIT {
				stopped, deliver = true, 0
				d := w.dump()
				before := len(w.read())
				if n, err := d.Append(); n == 0 || err != nil || len(w.read()) != before+n {
					t.Errorf("got %d bytes, %v after %v, %d after %d; want some", n, err, signal, len(w.read()), before)
				}
			}
			if err := ptrace(unix.PTRACE_CONT, pid, deliver); err != nil {
				t.Fatal(err)
			}
		}
		if n, whole := loads(t, w.read()); !stopped || n != 100 || !whole {
			t.Errorf("got %d functions after %v, whole: %v, stopped: %v; want 100", n, signal, whole, stopped)
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
	if err != nil || copied.Missing != ErrNoBuffer || copied.Tail != 0 || copied.Disk != int64(len(want)) {
		t.Errorf("got %+v, %v; want %d bytes, and %v", copied, err, len(want), ErrNoBuffer)
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
