package main

import "strings"

// named returns a function that inserts a version into names of packages.
func named(patterns ...string) func(string) []string {
	return func(version string) (names []string) {
		for _, p := range patterns {
			names = append(names, strings.Replace(p, "%s", version, 1))
		}
		return names
	}
}

// first returns a function that always returns one name.
func first(pattern string) func(string) string {
	return func(version string) string { return named(pattern)(version)[0] }
}

// matches reports whether an installed version is one asked for: 10.0 matches 10.0.13 and
// not 10.1.
func matches(installed, asked string) bool {
	return asked == "" || installed == asked || strings.HasPrefix(installed, asked+".")
}
