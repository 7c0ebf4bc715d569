package jitelf

import "debug/elf"

// Code returns the bytes of a function that the object has, which alias the image, or nil. They are as
// the compiler wrote them: relocations were applied in the memory of the process, or also here.
func (o *Object) Code(i int) []byte {
	f := &o.functions[i]
	for k := range o.sections {
		s := &o.sections[k]
		if s.flags&elf.SHF_EXECINSTR == 0 || s.kind == elf.SHT_NOBITS || f.Addr < s.addr || f.Addr-s.addr >= s.size || f.Size > s.size-(f.Addr-s.addr) {
			continue
		}
		content, err := o.stored(s)
		if err != nil || uint64(len(content)) != s.size {
			return nil
		}
		return content[f.Addr-s.addr:][:f.Size]
	}
	return nil
}
