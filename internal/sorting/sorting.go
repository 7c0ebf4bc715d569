package sorting

import (
	"iter"
	"slices"
	"sort"
)

// By sorts s; compare is that of [slices.SortFunc].
func By[T any](s []T, compare func(a, b T) int) {
	if len(s) > 1 {
		sort.Slice(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
	}
}

// Stable sorts s and keeps the order of equal elements. A sorted slice costs comparisons only.
func Stable[T any](s []T, compare func(a, b T) int) {
	less := func(i, j int) bool { return compare(s[i], s[j]) < 0 }
	if !sort.SliceIsSorted(s, less) {
		sort.SliceStable(s, less)
	}
}

// Sorted returns the elements of a sequence as a sorted slice.
func Sorted[T any](seq iter.Seq[T], compare func(a, b T) int) []T {
	s := slices.Collect(seq)
	By(s, compare)
	return s
}
