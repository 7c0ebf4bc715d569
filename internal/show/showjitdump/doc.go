// Package showjitdump shows jitdumps: their records and, with -d, the code of functions. Lines, inlined
// calls and texts of code are those of internal/runtime/jitdump, which repairs what producers get wrong.
//
// With a filter, records that describe a function are held until the function is loaded: only its load
// says whether they are wanted. The package imports showj9, since a record of a jitdump may hold
// metadata of OpenJ9. It knows no other format.
package showjitdump
