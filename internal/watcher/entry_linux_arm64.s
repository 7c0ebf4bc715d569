#include "go_asm.h"
#include "textflag.h"

#define SYS_dup3 24
#define SYS_fcntl 25
#define SYS_close 57
#define SYS_write 64
#define SYS_pread64 67
#define SYS_exit_group 94
#define SYS_kill 129
#define SYS_rt_sigaction 134
#define SYS_rt_sigprocmask 135
#define SYS_rt_sigtimedwait 137
#define SYS_prctl 167
#define SYS_getpid 172
#define SYS_getppid 173
#define SYS_clone 220
#define SYS_mmap 222
#define SYS_wait4 260
#define SYS_memfd_create 279

#define EINTR 4
#define EINVAL 22
#define SIGKILL 9
#define SIGCHLD 17
#define SIGCONT 18
#define SIG_BLOCK 0
#define SIG_SETMASK 2
#define F_DUPFD_CLOEXEC 1030
#define MFD_CLOEXEC 1
#define MFD_CLOEXEC_NOEXEC_SEAL 9
#define PROT_READ_WRITE 3
#define MAP_SHARED_ANONYMOUS_NORESERVE 0x4021
#define PR_SET_PDEATHSIG 1
#define WNOHANG 1

#define CALL_KERNEL(number) MOVD $number, R8; SVC

// entry is where the kernel starts the program. The stack has the arguments. System calls
// change R0. R20 is the address of state. See entry_linux_amd64.s: this is the same.
TEXT ·entry(SB),NOSPLIT|NOFRAME|TOPFRAME,$0-0
	// Commands that start other programs run alone, and so does the filter addr2line, which perf starts
	// hundreds of times. argc is at 0(RSP), argv[1] at 16(RSP). The bytes before argv[1] are the end of
	// argv[0].
	MOVD 0(RSP), R0
	CMP  $2, R0
	BLT  watched
	MOVD 16(RSP), R1
	MOVD -9(R1), R0
	MOVD $0x656e696c32726464, R2 // "ddr2line"
	CMP  R2, R0
	BEQ  runtime
	MOVD (R1), R0 // environment and the program's name follow the arguments
	MOVD $0x657461746f6e6e61, R2 // "annotate"
	CMP  R2, R0
	BEQ  runtime
	AND  $0x00ffffffffffffff, R0, R0
	MOVD $0x0064726f636572, R2 // "record"
	CMP  R2, R0
	BEQ  runtime
	MOVD $0x0074726f706572, R2 // "report"
	CMP  R2, R0
	BEQ  runtime
	MOVD $0x00747069726373, R2 // "script"
	CMP  R2, R0
	BEQ  runtime
	AND  $0x000000ffffffffff, R0, R0
	MOVD $0x0066666964, R2 // "diff"
	CMP  R2, R0
	BEQ  runtime
watched:
	MOVD $·state(SB), R20

	// A copy of standard error, and a file for what the runtime writes to descriptor 2.
	MOVD $2, R0
	MOVD $F_DUPFD_CLOEXEC, R1
	MOVD $3, R2
	CALL_KERNEL(SYS_fcntl)
	CMP  $0, R0
	BLT  withoutFile
	MOVW R0, shared_stderr(R20)
	ADD  $shared_name, R20, R0
	MOVD $MFD_CLOEXEC_NOEXEC_SEAL, R1
	CALL_KERNEL(SYS_memfd_create)
	CMN  $EINVAL, R0 // before Linux 6.3
	BNE  haveFile
	ADD  $shared_name, R20, R0
	MOVD $MFD_CLOEXEC, R1
	CALL_KERNEL(SYS_memfd_create)
haveFile:
	MOVW R0, shared_file(R20)
	CMP  $3, R0
	BGE  withoutFile
	MOVW ZR, shared_file(R20)
	CALL_KERNEL(SYS_close) // an error, or the place of standard input or output, which is closed
withoutFile:

	MOVD ZR, R0
	MOVD $const_memorySize, R1
	MOVD $PROT_READ_WRITE, R2
	MOVD $MAP_SHARED_ANONYMOUS_NORESERVE, R3
	MOVD $-1, R4
	MOVD ZR, R5
	CALL_KERNEL(SYS_mmap)
	CMN  $4095, R0
	BCS  withoutMemory // an error, as an unsigned number
	MOVD R0, shared_memory(R20)
withoutMemory:

	// If the caller ignores SIGCHLD, there is no status.
	MOVD $SIGCHLD, R0
	ADD  $shared_zero, R20, R1
	MOVD ZR, R2
	MOVD $8, R3
	CALL_KERNEL(SYS_rt_sigaction)
	MOVD $SIG_BLOCK, R0
	ADD  $shared_signals, R20, R1
	ADD  $shared_mask, R20, R2
	MOVD $8, R3
	CALL_KERNEL(SYS_rt_sigprocmask)
	CALL_KERNEL(SYS_getpid)
	MOVW R0, shared_self(R20)
	MOVD $const_Watched, R0
	MOVW R0, shared_mode(R20)

start:
	MOVD $SIGCHLD, R0
	MOVD ZR, R1
	MOVD ZR, R2
	MOVD ZR, R3
	MOVD ZR, R4
	CALL_KERNEL(SYS_clone)
	CBZ  R0, child
	CMP  $0, R0
	BLT  noThreads
	MOVW R0, shared_child(R20)

wait:
	ADD  $shared_signals, R20, R0
	ADD  $shared_info, R20, R1
	MOVD ZR, R2
	MOVD $8, R3
	CALL_KERNEL(SYS_rt_sigtimedwait)
	MOVD $WNOHANG, R2
	CMP  $SIGCHLD, R0
	BEQ  reap
	CMN  $EINTR, R0
	BEQ  reap
	CMP  $0, R0
	BGT  forward
	MOVD ZR, R2 // it cannot wait for signals, only for the child
reap:
	MOVW shared_child(R20), R0
	ADD  $shared_status, R20, R1
	ADD  $shared_usage, R20, R3
	CALL_KERNEL(SYS_wait4)
	CBZ  R0, wait
	CMN  $EINTR, R0
	BEQ  wait
	CMP  $0, R0
	BGT  ended
	MOVD $const_exitFailed, R0 // there is no such child
	B    exit

forward:
	// The kernel sends the signals of a terminal to the child, too. They have a positive
	// si_code.
	CMP  $1, R0 // SIGHUP: a session's leader alone gets it when the terminal goes away
	BEQ  pass
	CMP  $SIGCONT, R0 // after a stop of the group, a user may continue the watcher alone
	BEQ  pass
	MOVW (shared_info+8)(R20), R1
	CMP  $0, R1
	BGT  wait
pass:
	MOVD R0, R1
	MOVW shared_child(R20), R0
	CALL_KERNEL(SYS_kill)
	B    wait

ended:
	MOVW shared_status(R20), R0
	AND  $0x7f, R0, R21
	CBNZ R21, signaled
	LSR  $8, R0
	AND  $0xff, R0
	CMP  $const_exitCrash, R0
	BEQ  crashed
	CMP  $const_ExitAbandoned, R0
	BEQ  crashed
exit:
	CALL_KERNEL(SYS_exit_group)

signaled:
	// A signal of forwarded ends the watcher, too. Others are crashes.
	MOVD $const_forwarded, R1
	SUB  $1, R21, R2
	LSR  R2, R1
	TBZ  $0, R1, crashed
	MOVD R21, R0
	ADD  $shared_zero, R20, R1
	MOVD ZR, R2
	MOVD $8, R3
	CALL_KERNEL(SYS_rt_sigaction)
	MOVD $SIG_SETMASK, R0
	ADD  $shared_zero, R20, R1
	MOVD ZR, R2
	MOVD $8, R3
	CALL_KERNEL(SYS_rt_sigprocmask)
	MOVW shared_self(R20), R0
	MOVD R21, R1
	CALL_KERNEL(SYS_kill)
	ADD  $128, R21, R0
	B    exit

crashed:
	MOVW shared_mode(R20), R0
	CMP  $const_After, R0
	BEQ  crashedTwice
	MOVD $const_After, R0
	MOVW R0, shared_mode(R20)
	B    start

crashedTwice:
	// Look for "OS threa", and for " memory" but not after "invalid", in the output of the runtime.
	MOVW shared_file(R20), R0
	CBZ  R0, unknown
	ADD  $shared_text, R20, R1
	MOVD $(shared_noThreads-shared_text), R2
	MOVD ZR, R3
	CALL_KERNEL(SYS_pread64)
	SUBS $8, R0
	BLT  unknown
	ADD  $shared_text, R20, R1
	MOVD $0x616572687420534f, R2 // "OS threa"
	MOVD $0x79726f6d656d20, R4   // " memory"
search:
	MOVD (R1), R3
	CMP  R2, R3
	BEQ  noThreads
	LSR  $8, R3, R5
	CMP  R4, R5
	BNE  next
	AND  $0xff, R3
	CMP  $0x64, R3 // 'd'
	BNE  noMemory
next:
	ADD  $1, R1
	SUBS $1, R0
	BGE  search
unknown:
	MOVD shared_unknown(R20), R1
	MOVD (shared_unknown+8)(R20), R2
	B    say
noMemory:
	MOVD shared_noMemory(R20), R1
	MOVD (shared_noMemory+8)(R20), R2
	B    say
noThreads:
	MOVD shared_noThreads(R20), R1
	MOVD (shared_noThreads+8)(R20), R2
say:
	MOVD $2, R0
	CALL_KERNEL(SYS_write)
	MOVD $const_exitFailed, R0
	B    exit

child:
	MOVD $SIG_SETMASK, R0
	ADD  $shared_mask, R20, R1
	MOVD ZR, R2
	MOVD $8, R3
	CALL_KERNEL(SYS_rt_sigprocmask)
	MOVD $PR_SET_PDEATHSIG, R0
	MOVD $SIGKILL, R1
	CALL_KERNEL(SYS_prctl)
	CALL_KERNEL(SYS_getppid)
	MOVW shared_self(R20), R1
	CMP  R0, R1
	MOVD $const_exitFailed, R0
	BNE  exit // killed before it had a child
	MOVW shared_file(R20), R0
	CBZ  R0, runtime
	MOVD $2, R1
	MOVD ZR, R2
	CALL_KERNEL(SYS_dup3)
	MOVW shared_file(R20), R0
	CALL_KERNEL(SYS_close)
runtime:
	B    _rt0_arm64_linux(SB)

// func memory() []byte
TEXT ·memory(SB),NOSPLIT,$0-24
	MOVD $·state(SB), R0
	MOVD shared_memory(R0), R1
	MOVD R1, ret_base+0(FP)
	MOVD $const_memorySize, R1
	MOVD R1, ret_len+8(FP)
	MOVD R1, ret_cap+16(FP)
	RET
