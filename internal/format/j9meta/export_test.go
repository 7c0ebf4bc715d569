package j9meta

// The encoder imports this package, so tests within it get its functions from those
// outside, before they run.
var (
	encode      func(*Body) ([]byte, error)
	lay         func(*Body)
	description func(*Description) []byte
)

// SetEncoder sets the functions that tests within the package encode with.
func SetEncoder(e func(*Body) ([]byte, error), l func(*Body), d func(*Description) []byte) {
	encode, lay, description = e, l, d
}

// soundSites reports whether each inlined site is in the method itself or in an earlier site.
func soundSites(b *Body) bool {
	for i, s := range b.Sites {
		if s.Info.CallerIndex < -1 || s.Info.CallerIndex >= i {
			return false
		}
	}
	return true
}

// RangeAt returns the range that offset is in.
func (b *Body) RangeAt(offset uint32) (Range, bool) {
	for _, r := range b.Ranges() {
		if offset >= r.Start && offset < r.End {
			return r, true
		}
	}
	return Range{}, false
}
