package record

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A tree has the living descendants of a process. It looks at each new process once, so a
// descendant counts even if its parent has ended since.
type tree struct {
	root int
	in   map[int]bool // living processes: whether they descend from root
}

func newTree(root int) *tree { return &tree{root: root, in: make(map[int]bool)} }

// refresh looks for new processes. It returns the descendants, without root, in no order.
func (t *tree) refresh() (pids []int) {
	entries, err := sys.ReadDir("/proc")
	if err != nil {
		return nil
	}
	living := make(map[int]bool, len(entries))
	var unseen []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		in, seen := t.in[pid]
		if !seen {
			unseen = append(unseen, pid)
		}
		living[pid] = in
	}
	parents := make(map[int]int, len(unseen))
	for _, pid := range unseen {
		parents[pid] = parentOf(pid)
	}
	for changed := true; changed; { // a parent may have the greater pid
		changed = false
		for _, pid := range unseen {
			if parent := parents[pid]; !living[pid] && (parent == t.root || t.in[parent] || living[parent]) {
				living[pid], changed = true, true
			}
		}
	}
	t.in = living
	for pid, in := range living {
		if in && pid != t.root {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf returns the parent of a process, or 0.
func parentOf(pid int) int { return numberOf(pid, 4) }

// groupOf returns the process group of a process, or 0.
func groupOf(pid int) int { return numberOf(pid, 5) }

// numberOf returns a number of a process by its field in proc_pid_stat(5), or 0.
func numberOf(pid, field int) int {
	fields, _ := procmem.Stat(uint32(pid)) // from field 3 on
	if len(fields) <= field-3 {
		return 0
	}
	n, _ := strconv.Atoi(string(fields[field-3]))
	return n
}

// IsRunning reports whether a process exists and is no zombie.
func IsRunning(pid int) bool {
	fields, _ := procmem.Stat(uint32(pid))
	return len(fields) > 0 && fields[0][0] != 'Z' && fields[0][0] != 'X'
}

// programOf returns the name of the program that a process runs. It is "?" if that is unknown.
func programOf(pid int) string {
	path, err := sys.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return "?"
	}
	return filepath.Base(path)
}

func ownGroup() int { return groupOf(os.Getpid()) }
