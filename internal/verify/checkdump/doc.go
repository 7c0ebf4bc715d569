// Package checkdump checks jitdumps, alone and beside recordings. A dump is walked record by record,
// after a first pass over the line tables of all functions, which shows quirks of its producer.
// A record may hold metadata of OpenJ9, so checkj9 checks that.
package checkdump
