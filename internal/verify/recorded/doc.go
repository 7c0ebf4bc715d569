// Package recorded reads recordings of perf for the checks of files that belong to them: which
// processes and memory a recording has, which samples hit code before it was loaded, and where
// objects of jitted functions are mapped. It complains about nothing and knows no format of side
// files: they give it functions.
package recorded
