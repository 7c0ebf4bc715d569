// Package objstore keeps objects in directories: it puts files there whole or not at all,
// leaves those that are right, takes back what a failed run has made ([Store]), and removes
// what a result refers to ([Clean]).
//
// Several runs may write to one directory at once. sharing.go has the rules by which none
// takes away what another counts on.
package objstore
