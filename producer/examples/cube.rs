// The same compiler in Rust, which calls the header's functions. jitdump.o is the header's
// implementation:
//
//	cc -x c -D_GNU_SOURCE -DJITDUMP_IMPLEMENTATION -O2 -c -o jitdump.o ../jitdump.h
//	rustc -O -C link-arg=jitdump.o cube.rs
//	perf record -k mono -g ./cube && jitinject && perf report -i perf.jit.data
use std::ffi::CStr;
use std::os::raw::{c_char, c_int, c_long, c_void};
use std::ptr::{copy_nonoverlapping, null, null_mut};
use std::time::{Duration, Instant};

#[repr(C)]
struct Options {
    directory: *const c_char,
    machine: u32,
    flags: u32,
    buffer: usize,
    report: Option<extern "C" fn(*mut c_void, *const c_char)>,
    context: *mut c_void,
}

#[repr(C)]
struct Code {
    name: *const c_char,
    address: *const c_void,
    bytes: *const c_void,
    size: usize,
    debug: *mut c_void,
    unwind: *const c_void,
    extra_id: u32,
    extra: *const c_void,
    extra_size: usize,
}

extern "C" {
    fn jitdump_open(options: *const Options) -> c_int;
    fn jitdump_close();
    fn jitdump_debug_new() -> *mut c_void;
    fn jitdump_debug_free(d: *mut c_void);
    fn jitdump_debug_file(d: *mut c_void, name: *const c_char) -> u32;
    fn jitdump_debug_function(d: *mut c_void, name: *const c_char, file: u32, line: u32, column: u32, flags: u32) -> u32;
    fn jitdump_debug_line(d: *mut c_void, offset: u32, file: u32, line: u32, column: u32);
    fn jitdump_debug_push(d: *mut c_void, offset: u32, function: u32, line: u32, column: u32, site: u64);
    fn jitdump_debug_pop(d: *mut c_void, offset: u32);
    fn jitdump_code_load(code: *const Code) -> u64;
    fn mmap(addr: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, off: c_long) -> *mut c_void;
    fn mprotect(addr: *mut c_void, len: usize, prot: c_int) -> c_int;
}

const NO_COLUMN: u32 = u32::MAX;
const USER: u32 = 1;

extern "C" fn report(_: *mut c_void, message: *const c_char) {
    eprintln!("cube: {}", unsafe { CStr::from_ptr(message) }.to_string_lossy());
}

fn text(with_nul: &'static [u8]) -> *const c_char {
    with_nul.as_ptr() as *const c_char
}

fn main() {
    unsafe {
        jitdump_open(&Options { directory: null(), machine: 0, flags: 0, buffer: 0, report: Some(report), context: null_mut() });
        let d = jitdump_debug_new();
        let file = jitdump_debug_file(d, text(b"cube.toy\0"));
        jitdump_debug_function(d, text(b"sum\0"), file, 3, NO_COLUMN, USER);
        let cube = jitdump_debug_function(d, text(b"cube\0"), file, 1, NO_COLUMN, USER);

        // push rbp; mov rbp, rsp; xor eax, eax; mov rdx, rdi; imul rdx, rdi; imul rdx, rdi; add rax, rdx; dec rdi; jnz; pop rbp; ret
        let code = b"\x55\x48\x89\xe5\x31\xc0\x48\x89\xfa\x48\x0f\xaf\xd7\x48\x0f\xaf\xd7\x48\x01\xd0\x48\xff\xcf\x75\xed\x5d\xc3";
        jitdump_debug_line(d, 0, file, 4, NO_COLUMN);
        jitdump_debug_push(d, 6, cube, 5, NO_COLUMN, 1);
        jitdump_debug_line(d, 6, file, 1, NO_COLUMN);
        jitdump_debug_pop(d, 17);
        jitdump_debug_line(d, 17, file, 5, NO_COLUMN);
        jitdump_debug_line(d, 25, file, 6, NO_COLUMN);

        let memory = mmap(null_mut(), 4096, 1 | 2, 2 | 0x20, -1, 0); // read and write, private and anonymous
        copy_nonoverlapping(code.as_ptr(), memory as *mut u8, code.len());
        mprotect(memory, 4096, 1 | 4);
        jitdump_code_load(&Code {
            name: text(b"sum\0"),
            address: memory,
            bytes: null(),
            size: code.len(),
            debug: d,
            unwind: null(),
            extra_id: 0,
            extra: null(),
            extra_size: 0,
        });
        jitdump_debug_free(d);

        let sum: extern "C" fn(i64) -> i64 = std::mem::transmute(memory);
        let (start, mut result) = (Instant::now(), 0i64);
        while start.elapsed() < Duration::from_secs(2) {
            result = result.wrapping_add(sum(1000000));
        }
        println!("{result}");
        jitdump_close();
    }
}
