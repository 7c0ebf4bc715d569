// Package verifytest has what the tests of the checks share: files that break one rule, and the
// recordings, objects and metadata that such files are made from.
package verifytest
