// Package testrec is for tests only: it unpacks the recordings of testdata, puts
// them where real tools find them, turns them into those of machines of the other
// byte order, builds small ones by hand, and runs real tools. It imports nothing of ours, so that what it makes and reads is a second
// opinion about the formats.
package testrec
