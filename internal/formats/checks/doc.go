// Package checks has the checks of files of the formats in package formats, and of recordings and
// objects.
package checks
