package testrec

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

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

// Chosen returns the cases of a test that has too many, in their order: few of them, the same ones each time;
// more with JITINJECT_ALL=1 (make interop), by chance (Seed); all with JITINJECT_ALL=every, which takes hours.
func Chosen[T any](t testing.TB, all []T, few, more int) (chosen []T) {
	t.Helper()
	n := few
	switch os.Getenv("JITINJECT_ALL") {
	case "":
	case "every":
		n = len(all)
	default:
		n = more
	}
	if n >= len(all) {
		return all
	}
	name := fnv.New64()
	io.WriteString(name, t.Name())
	at := rand.New(rand.NewPCG(Seed(t), name.Sum64())).Perm(len(all))[:n]
	slices.Sort(at)
	for _, i := range at {
		chosen = append(chosen, all[i])
	}
	return chosen
}
