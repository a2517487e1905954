/* Which kernel an entry is, so that its parameter, whose size a launch does not tell, can be
 * copied.  It is known by its name, from this program's own symbol table. */
#include "internal.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../kernels/digest.h"
#include "../../kernels/launch.h"
#include "../../kernels/verify.h"

SIMT_DEFINE_CALL(tsw_tiles)
SIMT_DEFINE_CALL(tsw_chunks)
SIMT_DEFINE_CALL(tsw_digest_task)
SIMT_DEFINE_CALL(tsw_verify_fill)
SIMT_DEFINE_CALL(tsw_verify_task)

/* In tests/simt/verify.c; src/verify asks for them by these functions. */
extern const struct tsw_kernel simt_kernel_fill, simt_kernel_check_elements, simt_kernel_check_gaps;

const struct tsw_kernel *tsw_kernel_fill(void)
{
	return &simt_kernel_fill;
}

const struct tsw_kernel *tsw_kernel_check_elements(void)
{
	return &simt_kernel_check_elements;
}

const struct tsw_kernel *tsw_kernel_check_gaps(void)
{
	return &simt_kernel_check_gaps;
}

/* ---- names -------------------------------------------------------------------------------------
 */

static const char *image; /* of the program's file; stays mapped */

static void map_program(void)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat info;
	void *map;

	if (file < 0 || fstat(file, &info) != 0)
		abort();
	map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (map == MAP_FAILED)
		abort();
	image = map;
	close(file);
}

/* The symbol table, its end, and the names. */
static const Elf64_Sym *symbols(const Elf64_Sym **end, const char **names)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + head->e_shoff);

	for (unsigned i = 0; i < head->e_shnum; i++) {
		const Elf64_Shdr *s = &sections[i];

		if (s->sh_type != SHT_SYMTAB)
			continue;
		*end = (const Elf64_Sym *)(image + s->sh_offset + s->sh_size);
		*names = image + sections[s->sh_link].sh_offset;
		return (const Elf64_Sym *)(image + s->sh_offset);
	}
	abort();
}

/* What addresses in the file lack to those in memory. */
static uintptr_t slide(void)
{
	const char *names;
	const Elf64_Sym *end, *s = symbols(&end, &names);

	while (s < end && strcmp(names + s->st_name, "fake_family"))
		s++;
	if (s == end)
		abort();
	return (uintptr_t)fake_family - s->st_value;
}

static const char *name_of(const void *entry)
{
	const char *names;
	const Elf64_Sym *end, *s;
	uintptr_t value;

	if (!image)
		map_program();
	value = (uintptr_t)entry - slide();
	for (s = symbols(&end, &names); s < end; s++)
		if (s->st_value == value && ELF64_ST_TYPE(s->st_info) == STT_FUNC)
			return names + s->st_name;
	abort();
}

/* ---- by name -----------------------------------------------------------------------------------
 */

#define KERNEL(prefix, family, parameter)                                                          \
	{                                                                                          \
		prefix,                                                                            \
		{                                                                                  \
			family, simt_call_##parameter, sizeof(struct parameter)                    \
		}                                                                                  \
	}

/* The first that fits. */
static const struct {
	const char *prefix;
	struct fake_kernel kernel;
} prefixes[] = {
	KERNEL("tsw_direct_", "direct", tsw_tiles),
	KERNEL("tsw_stream_", "stream", tsw_chunks),
	KERNEL("tsw_vector_", "vector", tsw_tiles),
	KERNEL("tsw_shifted_", "shifted", tsw_tiles),
	KERNEL("tsw_realigned_", "realigned", tsw_tiles),
	KERNEL("tsw_tile33_", "tile33", tsw_tiles),
	KERNEL("tsw_imatcopy_stream_", "imatcopy stream", tsw_chunks),
	KERNEL("tsw_imatcopy_vector_", "imatcopy vector", tsw_tiles),
	KERNEL("tsw_imatcopy_shifted_", "imatcopy shifted", tsw_tiles),
	KERNEL("tsw_imatcopy_rows_", "rows", tsw_tiles),
	KERNEL("tsw_digest_", "digest", tsw_digest_task),
	KERNEL("tsw_verify_fill_", "verify", tsw_verify_fill),
	KERNEL("tsw_verify_", "verify", tsw_verify_task),
};

struct fake_kernel fake_kernel_of(const void *entry)
{
	static const void *last; /* asked for again and again */
	static struct fake_kernel kernel;
	const char *name;

	if (entry == last)
		return kernel;
	name = name_of(entry);
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i].prefix, strlen(prefixes[i].prefix))) {
			last = entry;
			return kernel = prefixes[i].kernel;
		}
	abort(); /* a kernel of a new kind: the table above wants a line */
}

const char *fake_family(const void *entry)
{
	return fake_kernel_of(entry).family;
}
