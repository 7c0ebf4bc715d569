package testrec

import "testing"

// Rounds returns the number of rounds of a test: all, or short with -short.
func Rounds(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

// Few returns the cases of a test: all, or with -short each step-th, from the first.
func Few[T any](all []T, step int) (few []T) {
	if !testing.Short() {
		return all
	}
	for i := 0; i < len(all); i += step {
		few = append(few, all[i])
	}
	return few
}
