package nearest

import "strings"

// Word returns the one word that is most like the typed one, or nothing. A third of
// the typed letters, and at most three, may be wrong, missing, too many, or exchanged
// with a neighbour. Or the typed word is the beginning of it.
func Word(typed string, words []string) string {
	best, at := "", max(1, min(3, (len(typed)+2)/3))+1
	for _, w := range words {
		if d := distance(typed, w); d < at {
			best, at = w, d
		} else if d == at {
			best = "" // who knows which
		}
	}
	if best == "" && len(typed) > 1 {
		best = only(typed, words)
	}
	return best
}

// only returns the one word that begins so, or nothing.
func only(begin string, words []string) (found string) {
	for _, w := range words {
		switch {
		case !strings.HasPrefix(w, begin):
		case found != "":
			return ""
		default:
			found = w
		}
	}
	return found
}

// distance counts the changes between two words: a letter put in, taken out, or
// replaced, or two neighbours that change places (the "optimal string alignment" of
// Damerau and Levenshtein). Words from the command line are short; what is not gets
// a distance that is too large for anything.
func distance(a, b string) int {
	const long = 64
	if len(a) > long || len(b) > long {
		return long
	}
	var before, last, now [long + 1]int
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last = last, now
	}
	return last[len(b)]
}
