// Package showtest is for tests of package show and those below it: it shows files of all formats,
// makes small ones, and compares what is shown with what is in testdata.
package showtest
