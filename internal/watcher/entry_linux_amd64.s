#include "go_asm.h"
#include "textflag.h"

#define SYS_write 1
#define SYS_close 3
#define SYS_mmap 9
#define SYS_rt_sigaction 13
#define SYS_rt_sigprocmask 14
#define SYS_pread64 17
#define SYS_getpid 39
#define SYS_clone 56
#define SYS_wait4 61
#define SYS_kill 62
#define SYS_fcntl 72
#define SYS_getppid 110
#define SYS_rt_sigtimedwait 128
#define SYS_prctl 157
#define SYS_exit_group 231
#define SYS_dup3 292
#define SYS_memfd_create 319

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

#define CALL_KERNEL(number) MOVL $number, AX; SYSCALL

// entry is where the kernel starts the program. The stack has the arguments. System calls
// change AX, CX and R11. BX is the address of state.
TEXT ·entry(SB),NOSPLIT|NOFRAME|TOPFRAME,$0-0
	// Commands that start other programs run alone, and so does the filter addr2line, which perf starts
	// hundreds of times. argc is at 0(SP), argv[1] at 16(SP). The bytes before argv[1] are the end of
	// argv[0].
	CMPQ 0(SP), $2
	JLT  watched
	MOVQ 16(SP), AX
	MOVQ $0x656e696c32726464, CX // "ddr2line"
	CMPQ -9(AX), CX
	JEQ  runtime
	MOVQ (AX), AX // environment and the program's name follow the arguments
	MOVQ $0x657461746f6e6e61, CX // "annotate"
	CMPQ AX, CX
	JEQ  runtime
	MOVQ $0x00ffffffffffffff, CX
	ANDQ CX, AX
	MOVQ $0x0064726f636572, CX // "record"
	CMPQ AX, CX
	JEQ  runtime
	MOVQ $0x0074726f706572, CX // "report"
	CMPQ AX, CX
	JEQ  runtime
	MOVQ $0x00747069726373, CX // "script"
	CMPQ AX, CX
	JEQ  runtime
	MOVQ $0x000000ffffffffff, CX
	ANDQ CX, AX
	MOVQ $0x0066666964, CX // "diff"
	CMPQ AX, CX
	JEQ  runtime
watched:
	LEAQ ·state(SB), BX

	// A copy of standard error, and a file for what the runtime writes to descriptor 2.
	MOVL $2, DI
	MOVL $F_DUPFD_CLOEXEC, SI
	MOVL $3, DX
	CALL_KERNEL(SYS_fcntl)
	TESTQ AX, AX
	JLT  withoutFile
	MOVL AX, shared_stderr(BX)
	LEAQ shared_name(BX), DI
	MOVL $MFD_CLOEXEC_NOEXEC_SEAL, SI
	CALL_KERNEL(SYS_memfd_create)
	CMPQ AX, $-EINVAL // before Linux 6.3
	JNE  haveFile
	LEAQ shared_name(BX), DI
	MOVL $MFD_CLOEXEC, SI
	CALL_KERNEL(SYS_memfd_create)
haveFile:
	MOVL AX, shared_file(BX)
	CMPQ AX, $3
	JGE  withoutFile
	MOVL $0, shared_file(BX)
	MOVL AX, DI // an error, or the place of standard input or output, which is closed
	CALL_KERNEL(SYS_close)
withoutFile:

	XORL DI, DI
	MOVL $const_memorySize, SI
	MOVL $PROT_READ_WRITE, DX
	MOVL $MAP_SHARED_ANONYMOUS_NORESERVE, R10
	MOVQ $-1, R8
	XORL R9, R9
	CALL_KERNEL(SYS_mmap)
	CMPQ AX, $-4095
	JCC  withoutMemory // an error, as an unsigned number
	MOVQ AX, shared_memory(BX)
withoutMemory:

	// If the caller ignores SIGCHLD, there is no status.
	MOVL $SIGCHLD, DI
	LEAQ shared_zero(BX), SI
	XORL DX, DX
	MOVL $8, R10
	CALL_KERNEL(SYS_rt_sigaction)
	MOVL $SIG_BLOCK, DI
	LEAQ shared_signals(BX), SI
	LEAQ shared_mask(BX), DX
	MOVL $8, R10
	CALL_KERNEL(SYS_rt_sigprocmask)
	CALL_KERNEL(SYS_getpid)
	MOVL AX, shared_self(BX)
	MOVL $const_Watched, shared_mode(BX)

start:
	MOVL $SIGCHLD, DI
	XORL SI, SI
	XORL DX, DX
	XORL R10, R10
	XORL R8, R8
	CALL_KERNEL(SYS_clone)
	TESTQ AX, AX
	JEQ  child
	JLT  noThreads
	MOVL AX, shared_child(BX)

wait:
	LEAQ shared_signals(BX), DI
	LEAQ shared_info(BX), SI
	XORL DX, DX
	MOVL $8, R10
	CALL_KERNEL(SYS_rt_sigtimedwait)
	MOVL $WNOHANG, DX
	CMPQ AX, $SIGCHLD
	JEQ  reap
	CMPQ AX, $-EINTR
	JEQ  reap
	TESTQ AX, AX
	JGT  forward
	XORL DX, DX // it cannot wait for signals, only for the child
reap:
	MOVL shared_child(BX), DI
	LEAQ shared_status(BX), SI
	LEAQ shared_usage(BX), R10
	CALL_KERNEL(SYS_wait4)
	TESTQ AX, AX
	JEQ  wait
	CMPQ AX, $-EINTR
	JEQ  wait
	TESTQ AX, AX
	JGT  ended
	MOVL $const_exitFailed, DI // there is no such child
	JMP  exit

forward:
	// The kernel sends the signals of a terminal to the child, too. They have a positive
	// si_code.
	CMPQ AX, $1 // SIGHUP: a session's leader alone gets it when the terminal goes away
	JEQ  pass
	CMPQ AX, $SIGCONT // after a stop of the group, a user may continue the watcher alone
	JEQ  pass
	CMPL (shared_info+8)(BX), $0
	JGT  wait
pass:
	MOVL shared_child(BX), DI
	MOVL AX, SI
	CALL_KERNEL(SYS_kill)
	JMP  wait

ended:
	MOVL shared_status(BX), DI
	MOVL DI, R12
	ANDL $0x7f, R12
	JNE  signaled
	SHRL $8, DI
	ANDL $0xff, DI
	CMPL DI, $const_exitCrash
	JEQ  crashed
	CMPL DI, $const_ExitAbandoned
	JEQ  crashed
exit:
	CALL_KERNEL(SYS_exit_group)

signaled:
	// A signal of forwarded ends the watcher, too. Others are crashes.
	MOVL $const_forwarded, AX
	LEAL -1(R12), CX
	BTL  CX, AX
	JCC  crashed
	MOVL R12, DI
	LEAQ shared_zero(BX), SI
	XORL DX, DX
	MOVL $8, R10
	CALL_KERNEL(SYS_rt_sigaction)
	MOVL $SIG_SETMASK, DI
	LEAQ shared_zero(BX), SI
	XORL DX, DX
	MOVL $8, R10
	CALL_KERNEL(SYS_rt_sigprocmask)
	MOVL shared_self(BX), DI
	MOVL R12, SI
	CALL_KERNEL(SYS_kill)
	LEAL 128(R12), DI
	JMP  exit

crashed:
	CMPL shared_mode(BX), $const_After
	JEQ  crashedTwice
	MOVL $const_After, shared_mode(BX)
	JMP  start

crashedTwice:
	// Look for "OS threa", and for " memory" but not after "invalid", in the output of the runtime.
	MOVL shared_file(BX), DI
	TESTL DI, DI
	JEQ  unknown
	LEAQ shared_text(BX), SI
	MOVL $(shared_noThreads-shared_text), DX
	XORL R10, R10
	CALL_KERNEL(SYS_pread64)
	SUBQ $8, AX
	JLT  unknown
	LEAQ shared_text(BX), SI
	MOVQ $0x616572687420534f, DX // "OS threa"
	MOVQ $0x79726f6d656d20, R8   // " memory"
search:
	MOVQ (SI), DI
	CMPQ DI, DX
	JEQ  noThreads
	MOVQ DI, R9
	SHRQ $8, R9
	CMPQ R9, R8
	JNE  next
	CMPB DI, $0x64 // 'd'
	JNE  noMemory
next:
	INCQ SI
	DECQ AX
	JGE  search
unknown:
	MOVQ shared_unknown(BX), SI
	MOVQ (shared_unknown+8)(BX), DX
	JMP  say
noMemory:
	MOVQ shared_noMemory(BX), SI
	MOVQ (shared_noMemory+8)(BX), DX
	JMP  say
noThreads:
	MOVQ shared_noThreads(BX), SI
	MOVQ (shared_noThreads+8)(BX), DX
say:
	MOVL $2, DI
	CALL_KERNEL(SYS_write)
	MOVL $const_exitFailed, DI
	JMP  exit

child:
	MOVL $SIG_SETMASK, DI
	LEAQ shared_mask(BX), SI
	XORL DX, DX
	MOVL $8, R10
	CALL_KERNEL(SYS_rt_sigprocmask)
	MOVL $PR_SET_PDEATHSIG, DI
	MOVL $SIGKILL, SI
	CALL_KERNEL(SYS_prctl)
	CALL_KERNEL(SYS_getppid)
	MOVL $const_exitFailed, DI
	CMPL AX, shared_self(BX) // killed before it had a child
	JNE  exit
	MOVL shared_file(BX), DI
	TESTL DI, DI
	JEQ  runtime
	MOVL $2, SI
	XORL DX, DX
	CALL_KERNEL(SYS_dup3)
	MOVL shared_file(BX), DI
	CALL_KERNEL(SYS_close)
runtime:
	JMP  _rt0_amd64_linux(SB)

// func memory() []byte
TEXT ·memory(SB),NOSPLIT,$0-24
	MOVQ ·state+shared_memory(SB), AX
	MOVQ AX, ret_base+0(FP)
	MOVQ $const_memorySize, ret_len+8(FP)
	MOVQ $const_memorySize, ret_cap+16(FP)
	RET
