#include "dtype.h"

#define NAME(name, bytes) #name,
#define BYTES(name, bytes) bytes,

const char *const dtype_names[] = {DTYPES(NAME) NULL};

size_t dtype_bytes(int index)
{
	static const unsigned char bytes[] = {DTYPES(BYTES)};

	return bytes[index];
}
