package jitelf

// Code returns the bytes of a function that the object has, which alias the image, or nil. They are as
// the compiler wrote them: relocations were applied in the memory of the process, or also here.
func (o *Object) Code(i int) []byte {
	f := &o.functions[i]
	s := &o.sections[f.section]
	content, err := o.stored(s)
	if err != nil || uint64(len(content)) != s.size {
		return nil
	}
	return content[f.Addr-s.addr:][:f.Size]
}
