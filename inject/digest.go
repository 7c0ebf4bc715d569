package inject

import (
	"crypto/sha256"
	"debug/elf"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// A digest is the hash of a dump's contents, made beside other work. It holds as long
// as nobody writes to the file.
type digest struct {
	sum  [sha256.Size]byte
	file *os.File
	st   unix.Stat_t // before it was read
	err  error
	done chan struct{}
}

// startDigest starts to hash a dump whose objects may be worth an index.
func (d *dump) startDigest(opts *Options) {
	if few := opts.Bundle || opts.Sampled; !few && d.bringsCode() && d.source.NumFunctions() >= minIndexed {
		d.digest = newDigest(d.file)
	}
}

// newDigest starts to read a file, which must stay open until wait has returned or
// nobody will ask.
func newDigest(file *os.File) *digest {
	g := &digest{file: file, done: make(chan struct{})}
	if g.err = unix.Fstat(int(file.Fd()), &g.st); g.err != nil {
		close(g.done)
		return g
	}
	go func() {
		defer close(g.done)
		h := sha256.New()
		_, g.err = io.CopyBuffer(h, onlyReader{io.NewSectionReader(file, 0, g.st.Size)}, make([]byte, 256<<10))
		h.Sum(g.sum[:0])
	}()
	return g
}

// An onlyReader is read through the buffer that it is given.
type onlyReader struct{ io.Reader }

// wait waits until the digest is there, and reports whether it is.
func (g *digest) wait() bool {
	<-g.done
	return g.err == nil
}

// holds reports whether the file is still the one that was read.
func (g *digest) holds() bool {
	var now unix.Stat_t
	return unix.Fstat(int(g.file.Fd()), &now) == nil &&
		now.Size == g.st.Size && now.Mtim == g.st.Mtim && now.Ctim == g.st.Ctim
}

// programID tells this program from every other version of it, released or not: what
// objects look like is decided here.
var programID = sync.OnceValues(func() ([]byte, error) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// The linker's own hash of everything in the program.
	if e, err := elf.NewFile(f); err == nil {
		if s := e.Section(".note.go.buildid"); s != nil && s.Size > 16 {
			if id, err := s.Data(); err == nil {
				return id, nil
			}
		}
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
})
