// Package display has the functions that show files of the formats in package formats.
package display
