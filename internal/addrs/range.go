package addrs

type Range struct{ Lo, Hi uint64 }
