package main

import "strings"

// named returns a function that puts a version into names of packages.
func named(patterns ...string) func(string) []string {
	return func(version string) (names []string) {
		for _, p := range patterns {
			names = append(names, strings.Replace(p, "%s", version, 1))
		}
		return names
	}
}

// first returns the function of one name.
func first(pattern string) func(string) string {
	return func(version string) string { return named(pattern)(version)[0] }
}

// matches reports whether an installed version is one of those asked for: 10.0 asks for
// 10.0.13 and not for 10.1.
func matches(installed, asked string) bool {
	return asked == "" || installed == asked || strings.HasPrefix(installed, asked+".")
}
