package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
)

// A Place has the paths of what one recording leaves.
type Place struct {
	Recording string // perf's; perf makes an older one .old
	Result    string
	Files     string // directory of dumps, logs and objects
}

// PlaceOf returns the paths that belong to a result: perf.data and perf.jit.files to perf.jit.data,
// app.data and app.jit.files to app.jit.data, app.perf.data and app.files to app.data.
func PlaceOf(result string) Place {
	dir, name := filepath.Split(result)
	stem := strings.TrimSuffix(name, ".data")
	recording := stem + ".perf.data"
	if short, ok := strings.CutSuffix(stem, ".jit"); ok && short != "" {
		recording = short + ".data"
	}
	return Place{Recording: dir + recording, Result: result, Files: dir + stem + ".files"}
}

// scaffold is the directory in Place.Files that says who made it. It has the files that the
// command's environment names.
const scaffold = ".jitinject"

// listFile is in the scaffold: the identities of the recording and of the result, as JSON.
const listFile = scaffold + "/made.json"

// oldFiles ends the name of earlier files, until the new recording is complete, and as with perf that of
// earlier recordings and results.
const oldFiles = ".old"

// FilesOf returns the directory of files that record made with a recording, or "".
func FilesOf(recording string) string {
	stem := strings.TrimSuffix(recording, ".data")
	for _, result := range []string{stem + ".jit.data", strings.TrimSuffix(stem, ".perf") + ".data"} {
		if p := PlaceOf(result); p.Recording == recording && isOurs(p.Files) {
			return p.Files
		}
	}
	return ""
}

// ErrNotOurs says that something else has the name of the directory for files.
var ErrNotOurs = errors.New("exists, and jitinject record did not make it")

// isOurs reports whether record made a directory, for the user or for root.
func isOurs(dir string) bool {
	for _, path := range []string{dir, filepath.Join(dir, scaffold)} {
		if st, err := os.Lstat(path); err != nil || !st.IsDir() || !safefile.OwnedByUserOrRoot(st) {
			return false
		}
	}
	return true
}

// makeFiles makes the directory for files. An earlier one gets another name until commit or abandon.
func (p *Place) makeFiles() error {
	switch _, err := os.Lstat(p.Files); {
	case err == nil && !isOurs(p.Files):
		return fmt.Errorf("%s %w", quote.Printable(p.Files), ErrNotOurs)
	case err == nil:
		if err := p.removeOld(); err != nil {
			return err
		}
		if err := os.Rename(p.Files, p.Files+oldFiles); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.Mkdir(p.Files, 0o755); err != nil {
		return err
	}
	for name, text := range scaffoldFiles {
		path := filepath.Join(p.Files, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (p *Place) removeOld() error {
	if old := p.Files + oldFiles; isOurs(old) {
		return os.RemoveAll(old)
	}
	return nil
}

// abandon removes what a recording that perf did not make has left: the directory, and the empty file of
// perf. The earlier directory and recording get their names back. before is the identity of the latter.
func (p *Place) abandon(before identity) error {
	if st, err := os.Lstat(p.Recording); err == nil && st.Mode().IsRegular() && st.Size() == 0 {
		if now, err := identify(p.Recording); err == nil && now != before {
			os.Remove(p.Recording)
		}
	}
	if old, err := identify(p.Recording + oldFiles); err == nil && old == before {
		if _, err := os.Lstat(p.Recording); errors.Is(err, fs.ErrNotExist) {
			os.Rename(p.Recording+oldFiles, p.Recording)
		}
	}
	if err := os.RemoveAll(p.Files); err != nil {
		return err
	}
	if old := p.Files + oldFiles; isOurs(old) {
		return os.Rename(old, p.Files)
	}
	return nil
}

// An identity says which file a path led to. A file that gets another name keeps it.
type identity struct {
	Inode      uint64
	Size, Time int64 // bytes; nanoseconds of the last change
}

func identify(path string) (identity, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return identity{}, err
	}
	return identity{st.Ino, st.Size, st.Mtim.Nano()}, nil
}

// noteRecording notes the recording for Clean. The result of an earlier one is put among the earlier files, which
// have its objects: as NAME.old it would replace another's, whose objects stay.
func (p *Place) noteRecording() error {
	for _, path := range p.listed(p.Files + oldFiles) {
		if path == p.Result || path == p.Result+oldFiles {
			if err := os.Rename(path, filepath.Join(p.Files+oldFiles, filepath.Base(path))); err != nil {
				return err
			}
		}
	}
	return p.note(p.Recording)
}

// Finish notes the result for Clean, if there is one, and then removes the files of an earlier recording.
// Without a result, these stay, with the earlier result.
func (p *Place) Finish(hasResult bool) error {
	paths := []string{p.Recording}
	if hasResult {
		paths = append(paths, p.Result)
	}
	if err := p.note(paths...); err != nil {
		return err
	}
	if !hasResult {
		return nil
	}
	return p.removeOld()
}

// note notes which recordings and which result belong to the files.
func (p *Place) note(paths ...string) error {
	var made []identity
	for _, path := range append(paths, p.listed(p.Files+oldFiles)...) {
		if id, err := identify(path); err == nil && !slices.Contains(made, id) {
			made = append(made, id)
		}
	}
	text, err := json.Marshal(made)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.Files, listFile), text, 0o644)
}

// listed returns the recordings and results that a directory's list names, by the names that they have
// now. It is empty if record did not make the directory.
func (p *Place) listed(dir string) (paths []string) {
	if !isOurs(dir) {
		return nil
	}
	made := madeIn(dir)
	for _, path := range []string{p.Recording, p.Result, p.Recording + oldFiles, p.Result + oldFiles} {
		if id, err := identify(path); err == nil && slices.Contains(made, id) {
			paths = append(paths, path)
		}
	}
	return paths
}

func madeIn(dir string) (made []identity) {
	f, err := safefile.Open(filepath.Join(dir, listFile)) // another user may have put a FIFO there
	if err != nil {
		return nil
	}
	defer f.Close()
	if text, err := io.ReadAll(io.LimitReader(f, 1<<20)); err != nil || json.Unmarshal(text, &made) != nil {
		return nil
	}
	return made
}

// Made returns all that jitinject record made with a result: the recordings and the result, unless other
// files have their names by now, and the directory of files. A recording that was killed leaves two
// directories. ok is false if record did not make any.
func Made(result string) (paths []string, ok bool) {
	p := PlaceOf(result)
	var dirs []string
	for _, dir := range []string{p.Files, p.Files + oldFiles} {
		if isOurs(dir) {
			paths, dirs = append(paths, p.listed(dir)...), append(dirs, dir)
		}
	}
	slices.Sort(paths)
	return append(slices.Compact(paths), dirs...), len(dirs) > 0
}

// Remove removes a path that Made returned.
func Remove(path string) error { return os.RemoveAll(path) }
