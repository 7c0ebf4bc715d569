// Package terminal has the properties of terminals that texts depend on: width, colours, and whether
// the program may draw there.
package terminal
