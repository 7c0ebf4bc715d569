// Package objstore keeps objects in directories. It writes each file completely or not at all, and
// keeps files that are right. It undoes the files of a failed run ([Store]), and removes the
// objects of a result ([Clean]).
//
// Several runs may write to one directory at once. The rules in sharing.go ensure that no run
// removes files that another run needs.
package objstore
