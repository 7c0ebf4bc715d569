// The offsets in layout.go, as glibc's header has them.
#include <stddef.h>
#include <stdio.h>

#define AT(field, offset) _Static_assert(offsetof(struct _IO_FILE, field) == offset, #field)
AT(_flags, 0x00);
AT(_IO_write_base, 0x20);
AT(_IO_write_ptr, 0x28);
AT(_IO_write_end, 0x30);
AT(_IO_buf_base, 0x38);
AT(_IO_buf_end, 0x40);
AT(_fileno, 0x70);
AT(_offset, 0x90);
