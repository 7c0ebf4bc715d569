package record

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A family is a shell that starts processes when it is told to, and prints their numbers.
type family struct {
	t    *testing.T
	root int
	do   func(line string) int // runs a line of shell, which prints a number
}

func newFamily(t *testing.T) *family {
	t.Helper()
	cmd := exec.Command(testrec.Tool(t, "sh"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, out := testrec.Start(t, cmd)
	lines := bufio.NewReader(out)
	f := &family{t: t, root: cmd.Process.Pid}
	t.Cleanup(func() { syscall.Kill(-f.root, syscall.SIGKILL) })
	f.do = func(line string) int {
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		answer, err := lines.ReadString('\n')
		n, cerr := strconv.Atoi(strings.TrimSpace(answer))
		if err != nil || cerr != nil {
			t.Fatalf("%s: got %q, %v; want a number", line, answer, err)
		}
		return n
	}
	return f
}

// want wants the tree to have just some processes.
func (f *family) want(tr *tree, want ...int) {
	f.t.Helper()
	got := tr.refresh()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		f.t.Errorf("got descendants %d; want %d", got, want)
	}
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d has not ended", pid)
		}
	}
}

// Processes stay descendants when their parent ends, and the kernel gives them another one.
func TestTree_ParentsThatEnd(t *testing.T) {
	f := newFamily(t)
	tr := newTree(f.root)
	f.want(tr)
	// A shell with a child; both wait.
	child := f.do(`sh -c 'sleep 1000 & echo $!; wait' &`)
	middle := parentOf(child)
	f.want(tr, middle, child)
	f.do("kill -KILL " + strconv.Itoa(middle) + "; wait " + strconv.Itoa(middle) + "; echo 1")
	gone(t, middle)
	if parentOf(child) == middle || parentOf(child) == f.root {
		t.Fatalf("the child's parent is %d; want another one", parentOf(child))
	}
	f.want(tr, child)
	if late := newTree(f.root); slices.Contains(late.refresh(), child) {
		t.Error("a tree that has not seen the parent has the child: the test shows nothing")
	}
	second := f.do("sleep 1000 & echo $!")
	f.want(tr, child, second)
	syscall.Kill(child, syscall.SIGKILL)
	syscall.Kill(second, syscall.SIGKILL)
	f.do("wait; echo 1")
	gone(t, second)
	gone(t, child)
	if left := slices.DeleteFunc(tr.refresh(), func(pid int) bool { return !IsRunning(pid) }); len(left) > 0 {
		t.Errorf("got %d after all have ended; want none", left)
	}
}

// Several generations that appear between two looks, of which a child may have the smaller number.
func TestTree_GenerationsAtOnce(t *testing.T) {
	f := newFamily(t)
	tr := newTree(f.root)
	f.want(tr)
	last := f.do(`sh -c "sh -c 'sleep 1000 & echo \$!; wait' & wait" &`)
	var want []int
	for pid := last; pid != f.root; pid = parentOf(pid) {
		if pid == 0 {
			t.Fatal("the process is no descendant of the shell")
		}
		want = append(want, pid)
	}
	if len(want) < 3 {
		t.Fatalf("got %d generations; want 3", len(want))
	}
	f.want(tr, want...)
}

// Others are no descendants: the parent of the root, its other children.
func TestTree_Others(t *testing.T) {
	f, other := newFamily(t), newFamily(t)
	tr := newTree(f.root)
	got := tr.refresh()
	for _, pid := range []int{os.Getpid(), os.Getppid(), other.root, f.root, 1} {
		if slices.Contains(got, pid) {
			t.Errorf("got %d; want only descendants of %d", got, f.root)
		}
	}
}

// A name with spaces and parentheses, as anybody can give a program.
func TestStatOf_OddNames(t *testing.T) {
	for _, name := range []string{"a b", ") R 1 1", "(", "x) Z 7 7 7 (y"} {
		program := filepath.Join(t.TempDir(), name)
		b, err := os.ReadFile(testrec.Tool(t, "sleep"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, program, string(b))
		cmd := exec.Command(program, "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		if got := parentOf(pid); got != os.Getpid() {
			t.Errorf("%q: got parent %d; want %d", name, got, os.Getpid())
		}
		if got := groupOf(pid); got != pid {
			t.Errorf("%q: got group %d; want %d", name, got, pid)
		}
		if !IsRunning(pid) {
			t.Errorf("%q: got that it does not run", name)
		}
		cmd.Process.Kill()
		for end := time.Now().Add(30 * time.Second); IsRunning(pid) && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		if IsRunning(pid) {
			t.Errorf("%q: got that a zombie runs", name)
		}
		cmd.Wait()
		if IsRunning(pid) || parentOf(pid) != 0 || groupOf(pid) != 0 {
			t.Errorf("%q: got that it is there after its end", name)
		}
	}
}
