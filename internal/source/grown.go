package source

// Grown returns a list with space for more elements. It estimates their total from the number up
// to offset at of a file of size bytes, to avoid repeated copying and spare space. The estimate is bounded until there are
// some: the first records may be shorter than the others.
func Grown[T any](list []T, more int, at, size int64) []T {
	const smallest = 32 // below the size of each record of a function, in bytes
	n := len(list) + more
	if n <= cap(list) {
		return list
	}
	most := 4*float64(n) + 256
	if n > 1024 {
		most = 256 * float64(n)
	}
	guess := 1.0625 * float64(n) * float64(size) / float64(max(at, 1))
	least := min(256, float64(size/smallest+1))
	return append(make([]T, 0, int(min(max(guess, 1.25*float64(n), least), most))), list...) // slices.Grow clears it
}
