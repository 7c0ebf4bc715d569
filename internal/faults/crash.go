package faults

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// The model of a disk. Until it is synced,
//
//   - of the writes to a file, none, all or some have reached the disk. The file may have its size
//     without its data, which is zero then;
//   - of the changes of names in a directory, the first ones have, in their order, as journals and
//     copy-on-write trees of file systems keep it;
//   - files and directories are independent of each other, so that data may be missing in a file
//     with a new name, and the file of a name may be there before that of an older change in
//     another directory.
//
// fsync of a file makes its data durable, fsync of a directory its names, and syncfs everything.

// A Disk is what is on the disk before a run, and what the run did to it.
type Disk struct {
	root  string
	names map[uint64]map[string]entry // by directory
	files map[uint64][]byte           // by inode
	ops   []op
}

// An entry is what has a name: a file, a directory or a symbolic link.
type entry struct {
	ino    uint64
	isDir  bool
	target string // of a symbolic link
}

// NewDisk returns the disk with the files below a directory. They are durable.
func NewDisk(root string) (*Disk, error) {
	d := &Disk{root: root, names: make(map[uint64]map[string]entry), files: make(map[uint64][]byte)}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		node := entry{ino: info.Sys().(*syscall.Stat_t).Ino, isDir: e.IsDir()}
		if e.IsDir() {
			d.names[node.ino] = make(map[string]entry)
		}
		if path == root {
			return nil
		}
		if info.Mode().IsRegular() {
			if d.files[node.ino], err = os.ReadFile(path); err != nil {
				return err
			}
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if node.target, err = os.Readlink(path); err != nil {
				return err
			}
		}
		d.names[inodeOf(filepath.Dir(path))][filepath.Base(path)] = node
		return nil
	})
	return d, err
}

// Take takes what a run did. It fails if the Record is incomplete.
func (d *Disk) Take(r *Record) error {
	for _, o := range r.ops {
		outside := o.dir != "" && o.dir != d.root && !strings.HasPrefix(o.dir, d.root+"/")
		if !outside {
			d.ops = append(d.ops, o)
		}
	}
	if len(d.ops) == 0 {
		return errors.New("the run changed no file")
	}
	return r.err
}

// Moments returns how many moments there are for a power cut: before the first change, and after
// each.
func (d *Disk) Moments() int { return len(d.ops) + 1 }

// At says what the run had done last at a moment.
func (d *Disk) At(moment int) string {
	if moment == 0 {
		return "nothing"
	}
	return d.ops[moment-1].before
}

// A State is what a power cut leaves: the contents of files by path, relative to the directory.
// Names of directories end with a slash.
type State map[string]string

// A choice is which changes have reached the disk.
type choice struct {
	names map[uint64]int // by directory: how many of its changes
	data  map[uint64]int // by file: one of the constants below
}

// What reached the disk of the data that was not synced.
const (
	allData = iota
	noData
	noDataButSize
	everySecondWrite
	dataKinds
)

// States returns the states that a power cut may leave at a moment.
func (d *Disk) States(moment int) (states []State) {
	changes := make(map[uint64][]op) // of names, by directory
	synced := make(map[uint64]int)   // of them, how many are durable
	writes := make(map[uint64][]op)
	durable := make(map[uint64]int)
	for _, o := range d.ops[:moment] {
		switch o.kind {
		case opWrite:
			writes[o.ino] = append(writes[o.ino], o)
		case opSync:
			durable[o.ino] = len(writes[o.ino])
		case opSyncDir:
			synced[o.in] = len(changes[o.in])
		case opSyncAll:
			for dir, c := range changes {
				synced[dir] = len(c)
			}
			for ino, w := range writes {
				durable[ino] = len(w)
			}
		default:
			changes[o.in] = append(changes[o.in], o)
		}
	}
	for _, names := range nameChoices(changes, synced) {
		for _, data := range dataChoices(writes, durable) {
			states = append(states, d.state(choice{names, data}, changes, writes, durable))
		}
	}
	return states
}

// nameChoices returns how many changes of each directory may be on the disk. These are all, or
// only the durable ones. Or one directory has each number, and the others have all or only the
// durable ones.
func nameChoices(changes map[uint64][]op, synced map[uint64]int) (choices []map[uint64]int) {
	with := func(all bool, special uint64, n int) map[uint64]int {
		c := make(map[uint64]int)
		for dir, list := range changes {
			if c[dir] = synced[dir]; all {
				c[dir] = len(list)
			}
		}
		if special != 0 {
			c[special] = n
		}
		return c
	}
	for _, all := range []bool{true, false} {
		choices = append(choices, with(all, 0, 0))
		for dir, list := range changes {
			for n := synced[dir]; n <= len(list); n++ {
				choices = append(choices, with(all, dir, n))
			}
		}
	}
	return choices
}

// dataChoices returns what may be on the disk of the data: the same for all files, or something else
// for one of them.
func dataChoices(writes map[uint64][]op, durable map[uint64]int) (choices []map[uint64]int) {
	var pending []uint64
	for ino, w := range writes {
		if durable[ino] < len(w) {
			pending = append(pending, ino)
		}
	}
	slices.Sort(pending)
	choices = append(choices, map[uint64]int{})
	for kind := noData; kind < dataKinds; kind++ {
		every := make(map[uint64]int)
		for _, ino := range pending {
			every[ino] = kind
			if len(pending) > 1 {
				choices = append(choices, map[uint64]int{ino: kind})
			}
		}
		if len(pending) > 0 {
			choices = append(choices, every)
		}
	}
	return choices
}

// state returns the files after a choice.
func (d *Disk) state(c choice, changes map[uint64][]op, writes map[uint64][]op, durable map[uint64]int) State {
	s := make(State)
	var walk func(dir uint64, rel string)
	walk = func(dir uint64, rel string) {
		for name, e := range namesAfter(d.names[dir], changes[dir][:c.names[dir]]) {
			path := filepath.Join(rel, name)
			switch {
			case e.isDir:
				s[path+"/"] = ""
				walk(e.ino, path)
			case e.target != "":
				s[path] = "-> " + e.target
			default:
				s[path] = string(dataAfter(d.files[e.ino], writes[e.ino], durable[e.ino], c.data[e.ino]))
			}
		}
	}
	walk(inodeOf(d.root), "")
	return s
}

// namesAfter applies changes to the names of a directory.
func namesAfter(before map[string]entry, changes []op) map[string]entry {
	after := make(map[string]entry, len(before))
	for name, e := range before {
		after[name] = e
	}
	for _, o := range changes {
		switch o.kind {
		case opLink:
			after[o.name] = entry{ino: o.ino}
		case opMkdir:
			after[o.name] = entry{ino: o.ino, isDir: true}
		case opSymlink:
			after[o.name] = entry{target: o.to}
		case opUnlink:
			delete(after, o.name)
		case opRename:
			after[o.to] = after[o.name]
			delete(after, o.name)
		}
	}
	return after
}

// dataAfter applies writes to the contents of a file, of which the first ones are durable.
func dataAfter(before []byte, writes []op, durable, kind int) []byte {
	content := slices.Clone(before)
	for i, o := range writes {
		data := o.data
		switch {
		case i < durable || kind == allData:
		case kind == noData, kind == everySecondWrite && (i-durable)%2 == 0:
			continue
		case kind == noDataButSize:
			data = make([]byte, len(o.data))
		}
		if end := int(o.off) + len(data); end > len(content) {
			content = append(content, make([]byte, end-len(content))...)
		}
		copy(content[o.off:], data)
	}
	return content
}

// Key returns a text that is the same for equal states.
func (s State) Key() string {
	var names []string
	for name, content := range s {
		names = append(names, fmt.Sprintf("%s=%q", name, content))
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// Write makes the files of the state in a directory.
func (s State) Write(dir string) error {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names) // directories before what is in them
	for _, name := range names {
		path := filepath.Join(dir, name)
		var err error
		target, isLink := strings.CutPrefix(s[name], "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case isLink:
			err = os.Symlink(target, path)
		default:
			mode := os.FileMode(0o644)
			if strings.HasPrefix(filepath.Base(name), ".") { // a partial file, or a lock
				mode = 0o600
			}
			err = os.WriteFile(path, []byte(s[name]), mode)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
