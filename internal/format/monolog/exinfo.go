package monolog

// exinfo, by type.
const (
	exAlloc          = 0
	exAllocBacktrace = 1

	exGCEvent           = 1
	exGCResize          = 2
	exGCMove            = 3
	exHandleCreated     = 4
	exHandleDestroyed   = 5
	exHandleCreatedBT   = 6 // 11 on
	exHandleDestroyedBT = 7 // 11 on
	exFinalizeStart     = 8 // 13 on
	exFinalizeObjectEnd = 11

	exLeave    = 1
	exEnter    = 2
	exExcLeave = 3
	exJIT      = 4

	exThrow  = 0
	exClause = 1

	exHeapStart      = 0
	exHeapEnd        = 1
	exHeapObject     = 2
	exHeapRoots      = 3 // 3 on
	exRootRegister   = 4 // 15 on
	exRootUnregister = 5 // 15 on

	exSampleHit    = 0
	exSymbol       = 1
	exBinary       = 2 // to 15
	exCounterDescs = 3 // 5 on
	exCounters     = 4 // 5 on

	exJITHelper = 1

	exSyncPoint = 0
	exAOTID     = 1 // 16 on
)

// mtypes of metadata.
const (
	mClass = 1 + iota
	mImage
	mAssembly
	mDomain
	mThread
	mContext // 11 on
	mVTable  // 15 on
)
