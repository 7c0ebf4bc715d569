// Package sourcemap reads source maps: JSON files that say from which places of original files the
// places of a generated file are. The source of the rules is ECMA-426.
//
//	version         3
//	sources         URLs of the original files; null for unknown ones
//	sourceRoot      put before the sources
//	sourcesContent  their texts, or null
//	names           of functions and variables
//	mappings        places, see below
//	sections        instead of the others: maps of parts of the generated file, each with the line
//	                and column where its part begins
//
// In mappings, ";" ends a line of the generated file and "," a segment. A segment is 1, 4 or 5
// numbers in Base64 VLQ: generated column, source, original line, original column, name. All count
// from 0, and are differences to the last segment that had the number; the generated column is one
// to the last segment of its line. A segment is valid up to the next one of its line. A segment of
// one number has no original place. Columns count UTF-16 code units.
//
// # Memory
//
// A [Map] keeps mappings in their encoded form, with the state of the decoder at every 64th segment.
// Texts of sources stay in the file. So a map needs less memory than its file.
package sourcemap
