package inject

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// What the kernel says of files, to know them again.

// A stamp is what changes when somebody changes a file, or puts another in its place.
// The zero stamp is that of a file which others may change.
type stamp struct {
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64
}

// stampOf returns the stamp of a file in the store.
func (s *store) stampOf(st *unix.Stat_t) stamp {
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o022 != 0 || st.Uid != s.uid {
		return stamp{}
	}
	return stamp{uint64(st.Dev), st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
}

// look returns the stamp of a file, the zero stamp if there is none.
func (s *store) look(name string) stamp {
	var st unix.Stat_t
	if err := unix.Fstatat(s.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return stamp{}
	}
	return s.stampOf(&st)
}

// lookAll fills in the stamps of the files that are there. It reports whether all are.
func (x *index) lookAll(ctx context.Context, jobs int) bool {
	x.stamps = make([]stamp, len(x.objects))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range jobs {
		group.Go(func() error {
			var name []byte
			for ctx.Err() == nil {
				end := int(next.Add(batch))
				if end-batch >= len(x.objects) {
					return nil
				}
				for i := end - batch; i < min(end, len(x.objects)); i++ {
					name = x.objects[i].appendName(name[:0])
					if x.stamps[i] = x.store.look(string(name)); x.stamps[i] == (stamp{}) {
						return errNoIndex
					}
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait() == nil
}

// stampsSum hashes the stamps of all objects. It reports false if one of them is of a
// file that others may change.
func (x *index) stampsSum() (sum [sha256.Size]byte, ok bool) {
	h := sha256.New()
	b := make([]byte, 0, 64)
	for i := range x.stamps {
		if x.stamps[i] == (stamp{}) {
			return sum, false
		}
		b, _ = binary.Append(b[:0], binary.LittleEndian, &x.stamps[i])
		h.Write(b)
	}
	h.Sum(sum[:0])
	return sum, len(x.stamps) == len(x.objects)
}
