// Package testrec is for tests only. It unpacks the recordings of testdata, and puts them where real
// tools find them. It turns them into recordings of the other byte order, builds small ones by hand,
// and runs real tools. It imports nothing of ours, so that what it makes and reads is a second opinion
// about the formats.
package testrec
