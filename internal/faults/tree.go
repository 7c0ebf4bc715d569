package faults

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Tree is what is in a directory: for each name, relative to it, what has that name.
type Tree map[string]string

// TreeOf returns the files of a directory, with their types, permissions and contents.
func TreeOf(dir string) (Tree, error) {
	t := make(Tree)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch info.Mode().Type() {
		case 0:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %d bytes, %x", len(content), sha256.Sum256(content))
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what += " " + target
		}
		t[name] = what
		return nil
	})
	return t, err
}

// Diff says what differs between t and a later state, by name.
func (t Tree) Diff(later Tree) (lines []string) {
	for name, what := range t {
		switch now, there := later[name]; {
		case !there:
			lines = append(lines, name+": is gone")
		case now != what:
			lines = append(lines, fmt.Sprintf("%s: was %s, is %s", name, what, now))
		}
	}
	for name, what := range later {
		if _, there := t[name]; !there {
			lines = append(lines, fmt.Sprintf("%s: is new, %s", name, what))
		}
	}
	slices.Sort(lines)
	return lines
}
