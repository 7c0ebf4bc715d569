// Package elfcore reads ELF core dumps, as the kernel, gcore and systemd-coredump
// write them. They have the memory of a process, its mapped files, and its
// threads.
//
// Sources: the ELF gABI (program headers, notes, extended numbering), core(5), and the
// kernel's layouts of elf_prstatus, elf_prpsinfo and NT_FILE, which differ between 32
// and 64 bit and, as for the registers, between machines.
//
// Nothing in a core dump is believed: counts are checked against what is there before
// anything is allocated, and memory is read where it lies.
package elfcore
